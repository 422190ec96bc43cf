package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/internal/storage/door"
)

// Format is a kind of stored arrays, known by the form of its paths. It may have two methods more:
//
//	Keeps(d Details) error                                      an error that names the details which cannot be stored; without it none can
//	Members(ctx context.Context, path string) ([]Member, error) the arrays of a file or folder that can hold several, in the order in which they are
//	                                                            stored; path names no array
type Format interface {
	// Owns reports whether a path has the format's form. It may look at the file or folder.
	Owns(path string) bool
	// Open opens an array and reads no more than its header. The end of ctx ends waiting
	// for a server.
	Open(ctx context.Context, path string) (Array, error)
	// Layout returns how Create(path, m) would lay an array out. It writes nothing.
	Layout(path string, m Meta) (Layout, error)
	// Create begins a new array, or the writing of a region.
	Create(path string, m Meta) (Writer, error)
	// Place returns the file or folder, of this machine or an object store, that holds the
	// array: the path without what selects or describes it. For an array that lies in none the
	// Version of its Info().ID tells whether it has changed; without that it counts as changed.
	Place(path string) string
}

// Member is an array of a file or folder that has several.
type Member struct {
	Name string // in the collection
	Path string // for Open
}

// Register makes a format known, before any array is opened: packages call it as
// they are loaded. Nil is none.
func Register(f Format) {
	if f != nil {
		door.Formats = append(door.Formats, f)
	}
}

// ReadOnly is embedded by a Format whose arrays cannot be written. Its text says why.
type ReadOnly string

// Error returns the text.
func (r ReadOnly) Error() string { return cmp.Or(string(r), "the format is not written") }

// Layout returns the reason.
func (r ReadOnly) Layout(string, Meta) (Layout, error) { return Layout{}, r }

// Create returns the reason.
func (r ReadOnly) Create(string, Meta) (Writer, error) { return nil, r }

// engine is package internal/storage, which imports this one for its types.
type engine interface {
	Open(ctx context.Context, path string) (Array, error)
	Create(path string, m Meta) (Writer, error)
	OpenExtent(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (Extent, error)) (Array, error)
}

// linked returns the engine. The error is of a program that has none.
func linked(op, path string) (engine, error) {
	e, ok := door.Storage.(engine)
	if !ok {
		return nil, &fs.PathError{Op: op, Path: path, Err: errors.New("the program has no formats: import github.com/gonbext/gonbext/oocore, which registers them")}
	}
	return e, nil
}

// Open opens a stored array and reads its header only. The path's form names
// the format:
//
//	x.npy                              NumPy's, versions 1 to 3; datetime64 and timedelta64 of
//	                                   a plain unit are int64, with their units in the attributes
//	x.bin?shape=10,20&dtype=float32    elements and nothing else; offset=N skips
//	                                   N bytes, and more may follow; stride=N is the
//	                                   distance of the first axis's indices; order=F is Fortran's order, and
//	                                   dtype=>f4 is big-endian
//	frames/*.npy?axis=0                files of one shape and dtype, stacked along a
//	                                   new axis in the order of their names;
//	                                   axis=time is a first axis of that name;
//	                                   oocore.Open joins months/*.nc?concat=time#tas
//	                                   along an axis that they have
//
// An array is rejected while the writing of a region of it, by whatever process and
// under whatever name, has not ended with a Commit: until that region is written
// again.
//
// Errors are *fs.PathError, and one line each.
func Open(path string) (Array, error) { return OpenContext(context.Background(), path) }

// OpenContext returns Open, which ends with ctx where it waits for a server.
func OpenContext(ctx context.Context, path string) (Array, error) {
	e, err := linked("open", path)
	if err != nil {
		return nil, err
	}
	return e.Open(ctx, path)
}

// Create begins a new array, in the formats that Open knows; the shape and
// dtype of a raw file's path may be left out, else they must agree with m.
// x.npy?order=F&dtype=>f4 is written in Fortran's order and big-endian, and
// x.bin likewise.
//
// Nothing is seen under the name until Commit. Rejected before any byte is
// written: a folder that is missing or not writable, a name that is a
// directory, a shape or dtype that the format cannot hold, an array larger than
// the disk's free space, an output that another process writes. Errors are
// *fs.PathError or *LockedError, and one line each.
func Create(path string, m Meta) (Writer, error) {
	e, err := linked("create", path)
	if err != nil {
		return nil, err
	}
	return e.Create(path, m)
}

// OpenExtent opens an array that is a part of a file, as Open does for a whole
// one: regions are read in place, and a file that is cut short or changed is an
// error. find reads where the array lies from the file's header, which may claim any
// shape and offset; path is the array's name for people.
func OpenExtent(ctx context.Context, path, file, format string, find func(r io.ReaderAt, size int64) (Extent, error)) (Array, error) {
	e, err := linked("open", path)
	if err != nil {
		return nil, err
	}
	return e.OpenExtent(ctx, path, file, format, find)
}
