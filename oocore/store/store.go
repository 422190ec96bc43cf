// Package store reads and writes arrays in files.
//
// A path's form names its format. Arrays that are read are never trusted:
// lengths are checked against headers before any element is touched, and a file
// cut short under a mapping is an error and not a crash. Arrays that are
// written appear under their name only when they are whole.
package store

import (
	"context"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
)

// Info describes a stored array.
type Info struct {
	Path   string // as it was given to Open
	Format string // npy, raw
	Shape  []int  // as stored, in C order: for a Fortran file the reverse of the array's
	DType  dtype.Type
	// Chunks are the store's own, nil where any region is as good as another.
	Chunks []int
	// Fortran says that the array is the transpose of what is stored.
	Fortran bool
	Bytes   int64 // on disk
	Codec   string
	ID      Identity
}

// Identity tells one version of a file from another.
type Identity struct {
	Size    int64
	ModTime time.Time
	Device  uint64
	Inode   uint64
}

// Equal reports the same version of the same file.
func (i Identity) Equal(j Identity) bool {
	return i.Size == j.Size && i.ModTime.Equal(j.ModTime) && i.Device == j.Device && i.Inode == j.Inode
}

// Array is an open stored array. It is safe for concurrent use.
type Array interface {
	Info() Info
	// Read fills dst with the region's elements: dense, in C order, in this
	// machine's byte order, whatever they are in the file. len(dst) is the
	// region's size in bytes.
	Read(ctx context.Context, dst []byte, r grid.Region) error
	Close() error
}

// Reshaper is an Array whose elements lie in C order in one run, so that it can
// be read in any other shape of the same size.
type Reshaper interface {
	Array
	Reshape(shape []int) (Array, error)
}

// Writer fills a new array. Writes of boxes that do not overlap may run at
// once.
type Writer interface {
	// Write stores a box's elements: dense, in C order.
	Write(ctx context.Context, src []byte, b grid.Box) error
	// Commit makes the array durable and puts it under its name, replacing what
	// was there. It is called once, after the last Write.
	Commit(ctx context.Context) error
	// Abort leaves what was under the name as it was, and nothing beside it. It
	// does nothing after Commit.
	Abort() error
}

// Meta is what a new array is to be.
type Meta struct {
	Shape  []int
	DType  dtype.Type
	Chunks []int // the chunks that will be written whole
}
