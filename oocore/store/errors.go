package store

import (
	"errors"
	"fmt"
	"os"
)

// Errors of reading, under an fs.PathError that names the file. Every use of what was closed, committed or aborted is fs.ErrClosed.
var (
	// ErrCutShort is returned where a file has lost bytes since it was opened.
	ErrCutShort = errors.New("the file was cut short while it was read")
	// ErrChanged is returned where a file was written to since it was opened.
	ErrChanged = errors.New("the file was changed while it was read")
)

// LockedError is returned where another process writes the same output.
type LockedError struct {
	Path string
	PID  int // 0 where it could not be read
	// Host and File are set where the file system has no locks: the process may have
	// ended, and only its user can know.
	Host, File string
}

// Error says who writes the array, and what to do.
func (e *LockedError) Error() string {
	switch {
	case e.File != "":
		return fmt.Sprintf("%s is being written by process %d of %s: wait for it, or, where it has ended, remove %s", e.Path, e.PID, e.Host, e.File)
	case e.PID == 0:
		return e.Path + " is being written by another process: wait for it, or end it"
	case e.PID == os.Getpid():
		return e.Path + " is being written by this process already: wait for it"
	}
	return fmt.Sprintf("%s is being written by process %d: wait for it, or end it", e.Path, e.PID)
}
