package storage_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser runs f as someone whom permissions stop: as nobody where the tests run
// as root. Linux keeps the user of file operations by thread; this one ends with
// its goroutine.
func asUser(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Getuid() == 0 {
			runtime.LockOSThread()
			const nobody = 65534
			if err := unix.Setfsuid(nobody); err != nil {
				t.Error(err)
				return
			}
		}
		f()
	}()
	<-done
}
