package drivertest

import (
	"os"
)

// OnMachine reports that GONBEXT_TEST_DRIVER is "machine": tests that can run on a card
// take the driver that this machine has, and not its double.
func OnMachine() bool { return os.Getenv("GONBEXT_TEST_DRIVER") == "machine" }
