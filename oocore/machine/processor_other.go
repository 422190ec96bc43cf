//go:build !linux && !darwin

package machine

import "os"

func readProcessor() string { return os.Getenv("PROCESSOR_IDENTIFIER") } // Windows sets it
