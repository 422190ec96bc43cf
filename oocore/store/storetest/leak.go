package storetest

import (
	"os"
	"testing"
)

// NoLeaks fails the test when it ends with more open descriptors or mapped
// files than it began with. Where the system does not list them it checks
// nothing.
func NoLeaks(t *testing.T) {
	t.Helper()
	before := descriptors()
	t.Cleanup(func() {
		if after := descriptors(); after > before {
			t.Errorf("%d descriptors are open, there were %d before the test", after, before)
		}
	})
}

func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
