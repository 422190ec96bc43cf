package storetest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/machine"
)

// NoLeaks fails the test when it ends with more open descriptors or mapped
// files than it began with. Where the system does not list them it checks
// nothing.
func NoLeaks(t *testing.T) {
	t.Helper()
	before, mappedBefore := OpenFiles()
	t.Cleanup(func() {
		after, mappedAfter := OpenFiles()
		for wait := time.Millisecond; (after > before || mappedAfter > mappedBefore) && wait < 10*time.Second; wait *= 2 {
			time.Sleep(wait) // what a goroutine is about to close
			after, mappedAfter = OpenFiles()
		}
		if after > before {
			t.Errorf("%d descriptors are open, there were %d before the test", after, before)
		}
		if mappedAfter > mappedBefore {
			t.Errorf("%d files are mapped, there were %d before the test", mappedAfter, mappedBefore)
		}
	})
}

// OpenFiles returns the numbers of descriptors and of mapped files that the process has; 0
// where the system does not list them. Files of the kernel that package machine keeps open are
// opened by it.
func OpenFiles() (descriptors, mapped int) {
	machine.Read()
	_, _ = machine.Process()
	return openDescriptors(), mappings()
}

func openDescriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// mappings counts the shared, read-only mappings, which are those of stores.
func mappings() int {
	list, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, " r--s ") {
			n++
		}
	}
	return n
}
