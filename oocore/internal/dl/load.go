package dl

import (
	"os"
	"runtime"
	"sync"
)

// Load returns what opens a library by its name and version when it is first called, and stores where its functions are. That returns nil
// where there is no library that has all, or GONBEXT_CODEC=go leaves libraries in C alone.
func Load[T any](name, version string, functions func(l *T) map[string]*uintptr) func() *T {
	return sync.OnceValue(func() *T {
		if os.Getenv("GONBEXT_CODEC") == "go" {
			return nil
		}
		mac := name + "." + version + ".dylib"
		for _, file := range map[string][]string{
			"linux":  {name + ".so." + version},
			"darwin": {mac, "/usr/lib/" + mac, "/opt/homebrew/lib/" + mac, "/usr/local/lib/" + mac},
		}[runtime.GOOS] {
			lib, err := Open(file)
			if err != nil {
				continue
			}
			l, found := new(T), true
			for symbol, at := range functions(l) {
				if *at, err = Symbol(lib, symbol); err != nil {
					found = false
				}
			}
			if found {
				return l
			}
		}
		return nil
	})
}
