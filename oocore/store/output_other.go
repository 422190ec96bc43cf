//go:build !linux

package store

import (
	"errors"
	"os"
)

// output is the file that an array is written to.
type output struct{ file *os.File }

// newOutput makes the file, at its full size.
func newOutput(name string, size int64) (*output, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		f.Close()
		os.Remove(name)
		return nil, err
	}
	return &output{f}, nil
}

// write stores a run. It may run at once with others that do not overlap. It
// returns how many bytes went into the page cache.
func (o *output) write(src []byte, at int64) (cached int, err error) {
	return o.file.WriteAt(src, at)
}

// settle leaves the page cache to the system.
func (o *output) settle(from, to int64, n int) error { return nil }

// finish makes everything durable and closes the file.
func (o *output) finish() error { return errors.Join(o.file.Sync(), o.file.Close()) }

// close gives up what was written.
func (o *output) close() error { return o.file.Close() }
