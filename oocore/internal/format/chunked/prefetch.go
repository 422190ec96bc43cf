package chunked

import (
	"context"
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// Prefetch reads the encoded chunk that a region lies in to p, of an array whose index is a Fetcher.
func (a *Array) Prefetch(ctx context.Context, p []byte, r grid.Region) (func(ctx context.Context, s store.Session, dst []byte) (int64, error), error) {
	if a.Closed() {
		return nil, a.Fail(ctx, store.ErrClosed)
	}
	at := newOverlap(len(a.Shape))
	at.begin(r, a.Chunk, nil)
	chunk := &prefetched{chunk: at.chunk, data: p}
	if a.IndexBytes > 0 {
		return nil, a.Fail(ctx, errors.ErrUnsupported)
	}
	index, ok := a.NewIndex(nil, &chunk.read).(Fetcher)
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
	return func(ctx context.Context, by store.Session, dst []byte) (int64, error) {
		return by.(*session).readFrom(ctx, chunk, dst, r)
	}, nil
}

// prefetched is the index of a session while it reads a chunk that is in memory.
type prefetched struct {
	Fetcher       // of other chunks
	chunk   []int // its index
	data    []byte
	size    int64
	src     *Source // nil where it is not stored
	read    int64   // bytes that came from the store
}

// readFrom is Read of a region of a chunk that is in memory.
func (s *session) readFrom(ctx context.Context, p *prefetched, dst []byte, r grid.Region) (int64, error) {
	index := s.index
	p.Fetcher = index.(Fetcher)
	s.index = p
	defer func() { s.index = index }()
	n, err := s.Read(ctx, dst, r)
	return p.read + n, err
}

// Fetch copies the chunk.
func (p *prefetched) Fetch(ctx context.Context, chunk []int, dst []byte) (int64, *Source, error) {
	if !slices.Equal(chunk, p.chunk) {
		return p.Fetcher.Fetch(ctx, chunk, dst)
	}
	return p.copy(dst, 0)
}

// FetchAt copies a part of the chunk.
func (p *prefetched) FetchAt(ctx context.Context, chunk []int, dst []byte, at int64) (int64, *Source, error) {
	if !slices.Equal(chunk, p.chunk) {
		return p.Fetcher.FetchAt(ctx, chunk, dst, at)
	}
	return p.copy(dst, at)
}

// copy copies what there is from a place on, but nothing of a chunk that is longer than any can be.
func (p *prefetched) copy(dst []byte, at int64) (int64, *Source, error) {
	if p.src != nil && p.size <= int64(len(p.data)) {
		copy(dst, p.data[min(at, p.size):p.size])
	}
	return p.size, p.src, nil
}
