package dl

import (
	"os"
	"runtime"
)

// Load opens the first library of these names, by operating systems, that has all functions, each of which is stored where it belongs. It is
// false where there is none, or GONBEXT_CODEC=go leaves libraries in C alone.
func Load(names map[string][]string, functions map[string]*uintptr) bool {
	if os.Getenv("GONBEXT_CODEC") == "go" {
		return false
	}
	for _, name := range names[runtime.GOOS] {
		lib, err := Open(name)
		if err != nil {
			continue
		}
		found := true
		for symbol, at := range functions {
			if *at, err = Symbol(lib, symbol); err != nil {
				found = false
			}
		}
		if found {
			return true
		}
	}
	return false
}
