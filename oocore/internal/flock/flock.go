// Package flock locks open files. A lock ends with the last descriptor of its
// file, however the process ends.
package flock

import "errors"

// ErrLocked is returned where another open file holds the lock.
var ErrLocked = errors.New("the file is locked")

// unsupported is returned where the file system has no locks. It is an
// errors.ErrUnsupported.
type unsupported struct{ err error }

func (e unsupported) Error() string        { return "this file system has no locks: " + e.err.Error() }
func (e unsupported) Is(target error) bool { return target == errors.ErrUnsupported }
func (e unsupported) Unwrap() error        { return e.err }
