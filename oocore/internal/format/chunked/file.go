package chunked

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/codec"
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
	info.Work.Open += storage.OpenBytes(a.Object)
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

// Source is where the bytes of an encoded chunk lie: an object, or a range of one.
type Source struct {
	Object storage.Object
	Serial int    // of the opening of the object, by which another opening is known
	Kind   string // what Key is, in messages: chunk, shard or file
	Key    string
	Base   int64  // of the first byte in the object
	Bytes  int64  // of the chunk
	Read   *int64 // counts the bytes that are read
	// Pipeline is how this chunk is encoded, where that is not as the array's others are; nil
	// elsewhere. Its chunks may be smaller, if they have all of the array that lies in this one.
	Pipeline *codec.Pipeline
}

// Size returns the encoded size of the chunk.
func (s *Source) Size() int64 { return s.Bytes }

// ReadAt fills p from a place in the chunk. That it is too short is io.ErrUnexpectedEOF.
func (s *Source) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at < 0 || at > s.Bytes-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	*s.Read += int64(len(p))
	return s.Object.ReadAt(ctx, p, s.Base+at)
}

// Fault names the object that an error is of.
func (s *Source) Fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s %s: %w", s.Kind, s.Key, storage.Plain(err))
}

// broken is Fault for what cannot be decoded.
func (s *Source) broken(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, codec.ErrShort) {
		err = fmt.Errorf("it is cut short: %w", storage.Plain(err))
	}
	return s.Fault(ctx, err)
}
