// Package chunked reads arrays whose chunks are stored by themselves, wherever they lie: as
// objects, in shards, or at places of a file that an index names.
package chunked

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

// Array is an open array. A format embeds it, and adds what Info says.
type Array struct {
	Path     string // as it was given to Open
	Shape    []int
	Chunk    []int
	Runs     [][]Run // of each axis whose chunks differ in length, of which Chunk has the longest; nil where none does
	Shard    []int   // whole chunks that are stored as one object; nil where each is by itself
	DType    dtype.Type
	Pipeline *codec.Pipeline
	Fill     []byte // one element, little-endian, of chunks that are not stored
	// NewIndex makes the index of a session, with IndexBytes of its memory, and MoreIndexBytes
	// where the session has room for whole chunks. It adds what it reads to a count of bytes.
	NewIndex                   func(memory []byte, read *int64) Index
	IndexBytes, MoreIndexBytes int64

	closed atomic.Bool
	edges  sync.Map // pipelines of chunks of another shape, by it
}

// Edge returns the pipeline of a chunk that was stored without what is beyond the array; nil
// where nothing is.
func (a *Array) Edge(chunk []int) (*codec.Pipeline, error) {
	shape := slices.Clone(a.Chunk)
	for d, i := range chunk {
		shape[d] = min(shape[d], a.Shape[d]-i*a.Chunk[d])
	}
	if slices.Equal(shape, a.Chunk) {
		return nil, nil
	}
	return a.shaped(shape)
}

// Run is chunks of one length that follow each other along an axis, up to the next run: the first begins at Start and is number Index.
type Run struct{ Start, Length, Index int }

// chunkAt is the chunk along an axis that has an element: its number, where it begins, and its length.
func (a *Array) chunkAt(d, at int) (index, start, length int) {
	r := Run{Length: a.Chunk[d]}
	if a.Runs != nil && a.Runs[d] != nil {
		i, found := slices.BinarySearchFunc(a.Runs[d], at, func(r Run, at int) int { return cmp.Compare(r.Start, at) })
		if !found {
			i--
		}
		r = a.Runs[d][i]
	}
	n := (at - r.Start) / r.Length
	return r.Index + n, r.Start + n*r.Length, r.Length
}

// shaped is the pipeline of chunks of a shape.
func (a *Array) shaped(shape []int) (*codec.Pipeline, error) {
	key := grid.Format(shape)
	if p, ok := a.edges.Load(key); ok {
		return p.(*codec.Pipeline), nil
	}
	p, err := a.Pipeline.WithChunk(shape)
	if err == nil {
		a.edges.Store(key, p)
	}
	return p, err
}

// Index finds the chunks of an array for one session.
type Index interface {
	// Find returns where a chunk lies, valid until the next call; nil where it is not stored.
	Find(ctx context.Context, chunk []int) (*Source, error)
	Close() error
}

// Checked is an Index of chunks that are files by themselves. What was read between Begin and
// Check is of the array that was opened, where Check returns no error.
type Checked interface {
	Index
	Begin()
	Check() error
}

// Fetcher is an Index that finds and reads a chunk, or the first that is needed of one, by one
// request, where finding and reading it are two.
type Fetcher interface {
	Index
	// Fetch reads an encoded chunk to the beginning of p. Where it has more than len(p) bytes,
	// nothing is read. Where it is not stored, src is nil; else it names the chunk.
	Fetch(ctx context.Context, chunk []int, p []byte) (size int64, src *Source, err error)
	// FetchAt fills p from a place in an encoded chunk, but not from one that is too short: size
	// is that of the whole chunk. Where it is not stored, src is nil; else it names the chunk.
	FetchAt(ctx context.Context, chunk []int, p []byte, at int64) (size int64, src *Source, err error)
}

// ChunkBytes returns the size of a decoded chunk.
func (a *Array) ChunkBytes() int64 { return int64(grid.Size(a.Chunk)) * int64(a.DType.Size()) }

// Read reads a region with memory of its own: that of decoding chunks whole, or where that is
// much, in pieces. It rejects chunks that take more than a gigabyte even so.
func (a *Array) Read(ctx context.Context, dst []byte, r grid.Region) error {
	const much, most = 256 << 20, 1 << 30
	w := a.Work()
	size := w.Whole
	if size > much {
		size = w.Stream
	}
	if size > most {
		return a.Fail(ctx, fmt.Errorf("decoding a chunk of shape %s takes %s at least: read it in a session that has them",
			grid.Format(a.Chunk), units.Exact(size)))
	}
	s, err := a.Session(make([]byte, size))
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Read(ctx, dst, r)
	return err
}

// Session prepares to read with a buffer of Work().Whole or Work().Stream bytes.
func (a *Array) Session(work []byte) (store.Session, error) {
	w := a.Work()
	whole := int64(len(work)) >= w.Whole
	if !whole && int64(len(work)) < w.Stream {
		return nil, a.Fail(context.Background(),
			fmt.Errorf("%d bytes are too few to decode a chunk: at least %d are needed", len(work), w.Stream))
	}
	return a.newSession(work, whole)
}

// Close makes further reads fail.
func (a *Array) Close() error {
	a.closed.Store(true)
	return nil
}

// Closed reports whether Close was called.
func (a *Array) Closed() bool { return a.closed.Load() }

// Fail returns an error that names the array.
func (a *Array) Fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &fs.PathError{Op: "read", Path: a.Path, Err: err}
}
