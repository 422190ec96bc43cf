package disktest

import (
	"os"
	"testing"
)

// Dir is a folder for one test, in memory where the machine has one there: what
// counts is which operations fail and what is synced, not how long that takes.
func Dir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "gonbext-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
