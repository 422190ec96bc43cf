package chunked

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// File is an open array whose chunks lie in one file, which it closes.
type File struct {
	Array
	Object storage.Object
	info   store.Info
}

// Describe says what Info returns, besides the path, the shape and the dtype.
func (a *File) Describe(info store.Info) {
	info.Path, info.Shape, info.DType = a.Path, a.Shape, a.DType
	a.info = info
}

// Info describes the array.
func (a *File) Info() store.Info { return storage.CloneInfo(a.info) }

// Close closes the file.
func (a *File) Close() error {
	if a.Closed() {
		return nil
	}
	return errors.Join(a.Array.Close(), a.Object.Close())
}

// Number returns the number of a chunk in the grid, in C order.
func (a *Array) Number(chunk []int) (n int) {
	for d, i := range chunk {
		n = n*((a.Shape[d]+a.Chunk[d]-1)/a.Chunk[d]) + i
	}
	return n
}

// FindIn makes the indexes of sessions: place moves a source to a chunk, and reports whether the
// chunk is stored. The source is at first the one that is given.
func (a *File) FindIn(first Source, place func(chunk []int, at *Source) (stored bool, err error)) {
	a.NewIndex = func(_ []byte, read *int64) Index {
		at := first
		at.Read = read
		return &placed{at, place}
	}
}

// placed is an Index of chunks at places that need no search in the file.
type placed struct {
	at    Source
	place func(chunk []int, at *Source) (bool, error)
}

func (p *placed) Find(ctx context.Context, chunk []int) (*Source, error) {
	stored, err := p.place(chunk, &p.at)
	if err != nil || !stored {
		return nil, err
	}
	return &p.at, ctx.Err()
}

func (p *placed) Close() error { return nil }
