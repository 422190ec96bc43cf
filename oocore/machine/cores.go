package machine

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// raised is GOMAXPROCS as the runs of the process that are active at present have it.
var raised struct {
	sync.Mutex
	runs   int
	before int // without them
	now    int
}

// Cores is how many cores the process may use: GOMAXPROCS, without what runs have raised it by.
func Cores() int {
	raised.Lock()
	defer raised.Unlock()
	return cores()
}

func cores() int {
	if raised.runs > 0 && runtime.GOMAXPROCS(0) == raised.now {
		return raised.before
	}
	return runtime.GOMAXPROCS(0)
}

// RaiseProcessors makes GOMAXPROCS n at least until done is called. Unless one of its processors is idle, Go's
// scheduler takes that of a goroutine which has been in a C library for 20 µs, and wakes a thread for it, which takes
// the core: with 2 cores, blocks of 32 KiB were compressed in 3.9 s instead of 3.1. A GOMAXPROCS below the number of
// cores stays: the process is not to use the others.
func RaiseProcessors(n int) (done func()) {
	raised.Lock()
	defer raised.Unlock()
	if left.Load() || n <= cores() || cores() < runtime.NumCPU() {
		return func() {}
	}
	if raised.runs++; raised.runs == 1 {
		raised.before = runtime.GOMAXPROCS(0)
	}
	if n > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(n)
		raised.now = n
	}
	return sync.OnceFunc(lowerProcessors)
}

// lowerProcessors ends what a run has raised. What the program itself has set meanwhile stays.
func lowerProcessors() {
	raised.Lock()
	defer raised.Unlock()
	if raised.runs--; raised.runs > 0 || runtime.GOMAXPROCS(0) != raised.now {
		return
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.SetDefaultGOMAXPROCS() // which follows the quota of a container
	}
	if runtime.GOMAXPROCS(0) != raised.before {
		runtime.GOMAXPROCS(raised.before)
	}
}

// Processor names the processor and the cores that Go uses of it, as in
// "AMD EPYC 7B13, 2 cores": rates that were measured on one machine hold for those of the
// same name.
func Processor() string {
	return fmt.Sprintf("%s, %d cores", processorName(), Cores())
}

var processorName = sync.OnceValue(func() string {
	if name := readProcessor(); name != "" {
		return name
	}
	return runtime.GOARCH
})
