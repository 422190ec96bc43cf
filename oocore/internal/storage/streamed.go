package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/internal/unpack"
	"github.com/gonbext/gonbext/oocore/store"
)

// Streamed is an array that is one chunk: a compressed stream of its elements.
type Streamed struct {
	info   store.Info
	offset int64 // of the first element in the stream
	stored encoding
	file   Source

	mu      sync.RWMutex // held for reading while the file is in use
	closed  bool
	cursors *unpack.Pool
}

// NewStreamed returns the array that a header of a stream says. It closes the file.
func NewStreamed(path, format string, e Header, f Source, id store.FileVersion, s *unpack.Stream, cursors *unpack.Pool) *Streamed {
	info := e.Info(path, format, id)
	info.Chunks, info.Codec, info.Bytes = grid.Whole(info.Shape).Chunks, string(s.Kind), s.Packed
	info.Work = store.Work{Whole: unpack.WindowBytes, Stream: unpack.WindowBytes, Heap: s.Heap()}
	return &Streamed{info: info, offset: e.Offset, stored: e.encoding(), file: f, cursors: cursors}
}

func (a *Streamed) Info() store.Info { return CloneInfo(a.info) }

func (a *Streamed) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	return a.file.Close()
}

func (a *Streamed) Read(ctx context.Context, dst []byte, r grid.Region) error {
	return ReadBy(ctx, a, unpack.WindowBytes, dst, r)
}

// Session reads with one cursor more than there were. Sessions share them, so that
// those that read the array by turns decode it once together.
func (a *Streamed) Session(work []byte) (store.Session, error) {
	if len(work) < unpack.WindowBytes {
		return nil, fmt.Errorf("%s: a session needs %d bytes, it is given %d", a.info.Path, unpack.WindowBytes, len(work))
	}
	a.cursors.Grow(1)
	return &streamedSession{Streamed: a, window: work[:unpack.WindowBytes]}, nil
}

type streamedSession struct {
	*Streamed
	window []byte
	ended  bool
}

func (s *streamedSession) Close() error {
	if !s.ended {
		s.ended = true
		s.cursors.Grow(-1)
	}
	return nil
}

func (s *streamedSession) Read(ctx context.Context, dst []byte, r grid.Region) (int64, error) {
	stored, err := s.read(ctx, dst, r)
	if err != nil && ctx.Err() == nil {
		if inner, ok := errors.AsType[*fs.PathError](err); ok { // says the file's name only
			err = inner.Err
		}
		err = &fs.PathError{Op: "read", Path: s.info.Path, Err: err}
	}
	return stored, err
}

func (s *streamedSession) read(ctx context.Context, dst []byte, r grid.Region) (stored int64, err error) {
	size := s.info.DType.Size()
	l, err := strided.Of(s.info.Shape, size, r)
	if err == nil {
		l, err = strided.ForRegion(s.info.Shape, size, ascending(r), len(dst))
	}
	if err != nil {
		return 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, fs.ErrClosed
	}
	if err := Unchanged(s.file, s.info.ID); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil || len(dst) == 0 {
		return 0, err
	}
	l.Start += s.offset
	from, to := l.Span()
	c, err := s.cursors.Take(ctx, from, to)
	if err != nil {
		return 0, err
	}
	defer s.cursors.Put(c)
	before := c.Packed()
	if err := s.fill(ctx, c, dst, l); err != nil {
		return c.Packed() - before, err
	}
	s.stored.decode(dst, s.info.DType)
	for axis, step := range r.Step {
		if step < 0 {
			reverse(dst, r.Count, axis, size, s.window)
		}
	}
	return c.Packed() - before, nil
}

// fill copies a layout that goes forwards to dst, where it is dense.
func (s *streamedSession) fill(ctx context.Context, c *unpack.Cursor, dst []byte, l strided.Layout) (err error) {
	l.Split(unpack.WindowBytes, func(part strided.Layout) bool {
		from, to := part.Span()
		if err = c.Seek(ctx, from, s.window); err != nil {
			return false
		}
		n := part.Bytes()
		if len(part.Axes) == 0 {
			err = c.Read(ctx, dst[:n])
		} else if err = c.Read(ctx, s.window[:to-from]); err == nil {
			part.Gather(dst[:n], s.window[:to-from], from)
		}
		dst = dst[n:]
		return err == nil
	})
	return err
}

// ascending is the same elements as a region's, all axes from their lowest index
// on.
func ascending(r grid.Region) grid.Region {
	a := grid.Region{Start: slices.Clone(r.Start), Count: r.Count, Step: slices.Clone(r.Step)}
	for d, step := range a.Step {
		if step < 0 {
			a.Start[d] += max(a.Count[d]-1, 0) * step
			a.Step[d] = -step
		}
	}
	return a
}

// reverse turns a dense array around along an axis, in place.
func reverse(b []byte, shape []int, axis, itemsize int, scratch []byte) {
	inner := itemsize * grid.Size(shape[axis+1:])
	n := shape[axis]
	for outer := range grid.Size(shape[:axis]) {
		slab := b[outer*n*inner:][:n*inner]
		for i := range n / 2 {
			swap(slab[i*inner:][:inner], slab[(n-1-i)*inner:][:inner], scratch)
		}
	}
}

func swap(a, b, scratch []byte) {
	for len(a) > 0 {
		n := copy(scratch, a)
		copy(a, b[:n])
		copy(b, scratch[:n])
		a, b = a[n:], b[n:]
	}
}
