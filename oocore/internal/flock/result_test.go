//go:build unix

package flock

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// An error of flock is never taken for a lock.
func TestErrorsOfFlock(t *testing.T) {
	for _, err := range []error{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL} {
		if got := lockResult(err); !errors.Is(got, errors.ErrUnsupported) || !errors.Is(got, err) {
			t.Errorf("%v becomes %v, want errors.ErrUnsupported", err, got)
		}
	}
	for _, err := range []error{unix.EIO, unix.EBADF} {
		if got := lockResult(err); got == nil || errors.Is(got, errors.ErrUnsupported) || errors.Is(got, ErrLocked) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := Exclusive(f); err == nil {
		t.Error("a closed file was locked")
	}
}
