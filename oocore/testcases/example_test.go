package testcases_test

import (
	"fmt"
	"os"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// A test that needs more than Go is left out of plain runs.
func ExampleFull() {
	defer os.Setenv("GONBEXT_TEST", os.Getenv("GONBEXT_TEST"))
	for _, asked := range []string{"", "full", "all"} {
		os.Setenv("GONBEXT_TEST", asked)
		fmt.Printf("%q: %v\n", asked, testcases.Full())
	}
	// Output:
	// "": false
	// "full": true
	// "all": true
}
