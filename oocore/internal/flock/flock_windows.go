package flock

import (
	"os"

	"golang.org/x/sys/windows"
)

// Exclusive locks a file that is open for writing, for this open file alone. It
// does not wait. Where the file system has no locks the error is an
// errors.ErrUnsupported.
func Exclusive(f *os.File) error {
	return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// Wait is as Exclusive, and waits for its turn.
func Wait(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// Shared is as Exclusive, and lets others have shared locks.
func Shared(f *os.File) error { return lock(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// Locks of Windows keep others from reading the bytes that they cover: they lie
// behind all that a file can have.
const at, length = 0x7fffffff, 1

func lock(f *os.File, how uint32) error {
	o := windows.Overlapped{OffsetHigh: at}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, length, 0, &o)
	switch err {
	case nil:
		return nil
	case windows.ERROR_LOCK_VIOLATION, windows.ERROR_IO_PENDING:
		return ErrLocked
	case windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_CALL_NOT_IMPLEMENTED:
		return unsupported{err}
	}
	return os.NewSyscallError("LockFileEx", err)
}

// Unlock gives the lock up.
func Unlock(f *os.File) error {
	o := windows.Overlapped{OffsetHigh: at}
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, length, 0, &o))
}
