package host

import (
	"context"
	"errors"
	"io"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/format/stack"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Members lists the arrays at a path: of a file or a group that holds several, of the files of
// a folder, or the array itself, by the file's name.
func Members(ctx context.Context, path string) ([]store.Member, error) {
	return storage.Members(ctx, path)
}

// Groups returns the attributes of the groups of the collection at a path, by their paths in it: ""
// is the collection itself. Where the format has no groups there are none.
func Groups(ctx context.Context, path string) (map[string]store.Details, error) {
	return storage.Groups(ctx, path)
}

// Listed is an array whose chunks are stored by themselves.
type Listed = storage.Listed

// Holds reports whether a file is one that an array, or one of a collection, is or would be stored
// in, or lies in its folder. Links are followed, also of what is not there yet.
func Holds(array, file string) bool { return storage.Holds(array, file) }

// InProcess reports whether a path has a meaning in this process only.
func InProcess(path string) bool { return storage.InProcess(path) }

// StackPath returns the path of the stack of the files that a pattern matches.
func StackPath(pattern string, axis int) string { return stack.Path(pattern, axis) }

// Leftover is a staging folder that a run has left.
type Leftover = storage.Leftover

// Leftovers returns the staging folder of an output, and those below path where that is a
// folder. It follows no links, and passes over what it may not read.
func Leftovers(path string) ([]Leftover, error) { return storage.Leftovers(path) }

// Stream is an array whose bytes come through a pipe.
type Stream = npy.Stream

// NewStream returns the array that comes from a reader: an npy file, or, with a query as Open has
// it for raw files ("shape=4,5&dtype=float32"), bare elements. It reads the header. name is for
// people.
func NewStream(name string, from io.Reader, query string) (*Stream, error) {
	return npy.NewStream(name, from, query)
}

// CheckPiped returns an error where bare elements that a query describes as something else, or in another order,
// are to go through a pipe.
func CheckPiped(query string, shape []int, t dtype.Type) error {
	l, err := storage.LayoutOf("x.bin?"+query, store.Meta{Shape: shape, DType: t})
	if err == nil && l.Work.Heap > 0 {
		return errors.New("elements go through a pipe in C order and little-endian")
	}
	return storage.Plain(err)
}
