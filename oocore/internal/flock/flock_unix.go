//go:build unix

package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exclusive locks a file that is open for writing, for this open file alone. It
// does not wait. Where the file system has no locks the error is an
// errors.ErrUnsupported.
func Exclusive(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

// Wait is as Exclusive, and waits for its turn.
func Wait(f *os.File) error { return flock(f, unix.LOCK_EX) }

// Shared is as Exclusive, and lets others have shared locks.
func Shared(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

// Unlock gives the lock up.
func Unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := lockResult(unix.Flock(int(f.Fd()), how))
		if err != unix.EINTR {
			return err
		}
	}
}

// lockResult sorts the errors of flock. ENOLCK comes from NFS without its lock
// service, ENOSYS from file systems in user space.
func lockResult(err error) error {
	switch {
	case err == nil, err == unix.EINTR:
		return err
	case err == unix.EWOULDBLOCK:
		return ErrLocked
	case err == unix.ENOLCK, err == unix.EINVAL, errors.Is(err, errors.ErrUnsupported):
		return unsupported{err}
	}
	return os.NewSyscallError("flock", err)
}
