package chunked

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// Prefetch reads the encoded chunk that a region lies in to p, of an array whose index is a Fetcher.
func (a *Array) Prefetch(ctx context.Context, p []byte, r grid.Region) (func(ctx context.Context, s store.Session, dst []byte) (int64, error), error) {
	if a.Closed() {
		return nil, a.Fail(ctx, fs.ErrClosed)
	}
	at, chunk := newOverlap(len(a.Shape)), &prefetched{data: p}
	at.begin(r, a, nil)
	index, ok := a.NewIndex(make([]byte, a.IndexBytes), &chunk.read).(Fetcher)
	if !ok {
		return nil, a.Fail(ctx, errors.ErrUnsupported)
	}
	var err error
	if chunk.size, chunk.src, err = index.Fetch(ctx, at.chunk, p); err != nil {
		if chunk.src != nil {
			err = chunk.src.broken(ctx, err)
		}
		return nil, a.Fail(ctx, err)
	}
	if at.next() {
		return nil, a.Fail(ctx, errors.New("the region has parts of several chunks"))
	}
	return func(ctx context.Context, by store.Session, dst []byte) (int64, error) {
		s := by.(*session)
		chunk.Index = s.index
		s.index = chunk
		defer func() { s.index = chunk.Index }()
		n, err := s.Read(ctx, dst, r)
		return chunk.read + n, err
	}, nil
}

// prefetched is the index of a session while it reads a chunk that is in memory.
type prefetched struct {
	Index // the session's own
	data  []byte
	size  int64
	src   *Source // nil where it is not stored
	read  int64   // bytes that came from the store
}

// Fetch copies the chunk.
func (p *prefetched) Fetch(ctx context.Context, chunk []int, dst []byte) (int64, *Source, error) {
	return p.FetchAt(ctx, chunk, dst, 0)
}

// FetchAt copies a part of the chunk, but nothing of one that is longer than any can be.
func (p *prefetched) FetchAt(_ context.Context, _ []int, dst []byte, at int64) (int64, *Source, error) {
	if p.src != nil && p.size <= int64(len(p.data)) {
		copy(dst, p.data[min(at, p.size):p.size])
	}
	return p.size, p.src, nil
}
