package npz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

// deflated is an array that is one chunk: a stream of its elements.
type deflated struct {
	info   store.Info
	offset int64 // of the first element in the npy file
	big    bool  // big-endian
	file   storage.Source
	id     store.FileVersion

	mu      sync.RWMutex // held for reading while the file is in use
	closed  bool
	cursors *pool
}

func newDeflated(path string, f storage.Source, id store.FileVersion, m *member) (*deflated, error) {
	cursors := newPool(m, f)
	e, err := m.extent(&front{cursor: newCursor(m, f, cursors)}, 0)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(e.Shape)
	if e.Fortran {
		slices.Reverse(shape)
	}
	return &deflated{offset: e.Offset, big: e.Big, file: f, id: id,
		info: store.Info{
			Path: path, Format: formatName, Shape: shape, DType: e.DType, Fortran: e.Fortran && len(shape) > 1,
			Chunks: grid.Whole(shape).Chunks, Codec: "deflate", Bytes: m.packed, ID: id,
			Work: store.Work{Whole: windowBytes, Stream: windowBytes, Heap: sessionHeap},
		},
		cursors: cursors,
	}, nil
}

// front is the beginning of a member, which it keeps as far as it was read.
type front struct {
	cursor *cursor
	bytes  []byte
}

func (f *front) ReadAt(p []byte, at int64) (int, error) {
	have := int64(len(f.bytes))
	end := min(at+int64(len(p)), f.cursor.m.size)
	if have < end {
		f.bytes = append(f.bytes, make([]byte, end-have)...)
		if err := f.cursor.read(context.Background(), f.bytes[have:]); err != nil {
			return 0, err
		}
	}
	n := 0
	if at < end {
		n = copy(p, f.bytes[at:end])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (a *deflated) Info() store.Info { return storage.CloneInfo(a.info) }

func (a *deflated) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	return a.file.Close()
}

func (a *deflated) Read(ctx context.Context, dst []byte, r grid.Region) error {
	s, err := a.Session(make([]byte, windowBytes))
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Read(ctx, dst, r)
	return err
}

// Session reads with one cursor more than there were. Sessions share them, so that
// those that read the array by turns decode it once together.
func (a *deflated) Session(work []byte) (store.Session, error) {
	if len(work) < windowBytes {
		return nil, fmt.Errorf("%s: a session needs %d bytes, it is given %d", a.info.Path, windowBytes, len(work))
	}
	a.cursors.grow(1)
	return &session{deflated: a, window: work[:windowBytes]}, nil
}

type session struct {
	*deflated
	window []byte
	ended  bool
}

func (s *session) Close() error {
	if !s.ended {
		s.ended = true
		s.cursors.grow(-1)
	}
	return nil
}

func (s *session) Read(ctx context.Context, dst []byte, r grid.Region) (int64, error) {
	stored, err := s.read(ctx, dst, r)
	if err != nil && ctx.Err() == nil {
		if inner, ok := errors.AsType[*fs.PathError](err); ok { // says the file's name only
			err = inner.Err
		}
		err = &fs.PathError{Op: "read", Path: s.info.Path, Err: err}
	}
	return stored, err
}

func (s *session) read(ctx context.Context, dst []byte, r grid.Region) (stored int64, err error) {
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
	if err := storage.Unchanged(s.file, s.id); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil || len(dst) == 0 {
		return 0, err
	}
	l.Start += s.offset
	from, to := l.Span()
	c, err := s.cursors.take(ctx, from, to)
	if err != nil {
		return 0, err
	}
	defer s.cursors.put(c)
	before := c.counted.n
	if err := s.fill(ctx, c, dst, l); err != nil {
		return c.counted.n - before, err
	}
	if s.big {
		kernel.Swap(dst, s.info.DType.Part().Size())
	}
	for axis, step := range r.Step {
		if step < 0 {
			reverse(dst, r.Count, axis, size, s.window)
		}
	}
	return c.counted.n - before, nil
}

// fill copies a layout that goes forwards to dst, where it is dense.
func (s *session) fill(ctx context.Context, c *cursor, dst []byte, l strided.Layout) (err error) {
	l.Split(windowBytes, func(part strided.Layout) bool {
		from, to := part.Span()
		if err = c.seek(ctx, from, s.window); err != nil {
			return false
		}
		n := part.Bytes()
		if len(part.Axes) == 0 {
			err = c.read(ctx, dst[:n])
		} else if err = c.read(ctx, s.window[:to-from]); err == nil {
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
