package store

import "fmt"

// Workspace is a hidden folder beside an output, where a run keeps what is
// unfinished. It is held by a lock, which goes with the process however that ends.
type Workspace struct {
	Path string // of the folder
}

// LockedError is returned where another process writes the same output.
type LockedError struct {
	Path string
	PID  int
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is being written by process %d: wait for it, or end it", e.Path, e.PID)
}
