// Package sparse reads sparse matrices as arrays with all elements: compressed rows (CSR) and columns (CSC), as SciPy has them, whose three
// arrays are stored in any format. The elements of a region are put together as it is read.
package sparse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Matrix is where a matrix is stored.
type Matrix struct {
	Path    string // as it was given to Open
	Format  string // of the file
	Kind    string // csr or csc
	Shape   []int
	Data    string // the paths of its three arrays
	Indices string
	Pointer string
}

const (
	// chunkBytes is about how many bytes the chunks have that the array seems to be in: rows, or columns.
	chunkBytes = 1 << 20
	// window is how many elements are read at once.
	window = 16 << 10
)

// Open opens the three arrays, and reads their headers.
func Open(ctx context.Context, m Matrix) (_ store.Array, err error) {
	a := &array{matrix: m}
	if m.Kind == "csc" {
		a.major = 1
	} else if m.Kind != "csr" {
		return nil, fmt.Errorf("a sparse matrix of the kind %.80q is not read: save it as csr, by SciPy's tocsr()", m.Kind)
	}
	defer func() {
		if err != nil {
			_ = a.Close() // the first error tells
		}
	}()
	for i, path := range [3]string{m.Data, m.Indices, m.Pointer} {
		if a.parts[i], err = storage.OpenContext(ctx, path); err != nil {
			return nil, err
		}
	}
	data, indices, pointers := a.parts[0].Info(), a.parts[1].Info(), a.parts[2].Info()
	if len(m.Shape) != 2 || len(data.Shape) != 1 || len(indices.Shape) != 1 || len(pointers.Shape) != 1 {
		return nil, fmt.Errorf("a sparse matrix of shape %s and arrays of %d, %d and %d dimensions: the file is damaged", grid.Format(m.Shape), len(data.Shape), len(indices.Shape), len(pointers.Shape))
	}
	if err := grid.Check(m.Shape, data.DType.Size()); err != nil {
		return nil, err
	}
	switch count := m.Shape[a.major]; {
	case !indices.DType.Integer() || !pointers.DType.Integer():
		return nil, fmt.Errorf("the places of a sparse matrix are %s and %s, and should be integers: the file is damaged", indices.DType, pointers.DType)
	case indices.Shape[0] != data.Shape[0] || pointers.Shape[0] != count+1:
		return nil, fmt.Errorf("a sparse matrix of shape %s has %d values, %d places and %d bounds of rows or columns, of which there should be %d: the file is damaged",
			grid.Format(m.Shape), data.Shape[0], indices.Shape[0], pointers.Shape[0], count+1)
	}
	a.info = store.Info{Path: m.Path, Format: m.Format, Shape: m.Shape, DType: data.DType, Bytes: -1, Codec: "sparse " + m.Kind, ID: data.ID, Work: a.work()}
	minor := m.Shape[1-a.major]
	a.info.Chunks = []int{max(minor, 1), max(minor, 1)}
	a.info.Chunks[a.major] = min(max(chunkBytes/max(minor*data.DType.Size(), 1), 1), max(m.Shape[a.major], 1))
	return a, nil
}

// array is an open matrix.
type array struct {
	matrix Matrix
	major  int // the axis whose indices have a run of values each
	parts  [3]store.Array
	info   store.Info
	closed atomic.Bool
}

func (a *array) Info() store.Info { return storage.CloneInfo(a.info) }

func (a *array) Close() (err error) {
	if a.closed.Swap(true) {
		return nil
	}
	for _, p := range a.parts {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	return err
}

// work is the memory of a session: a window of each array, and what decoding them takes.
func (a *array) work() (w store.Work) {
	for _, p := range a.parts {
		of := p.Info()
		w.Whole += align(window*int64(of.DType.Size())) + align(of.Work.Whole)
		w.Heap += of.Work.Heap
		w.Open += of.Work.Open
	}
	w.Stream = w.Whole
	return w
}

func align(n int64) int64 { return (n + 63) &^ 63 }

func (a *array) Read(ctx context.Context, dst []byte, r types.Region) error {
	return storage.ReadBy(ctx, a, a.info.Work.Whole, dst, r)
}

func (a *array) Session(work []byte) (store.Session, error) {
	if int64(len(work)) < a.info.Work.Whole {
		return nil, a.fail(fmt.Errorf("a session needs %d bytes, it was given %d", a.info.Work.Whole, len(work)))
	}
	s := &session{a: a}
	for i, p := range a.parts {
		of, take := p.Info(), func(n int64) (b []byte) {
			b, work = work[:n], work[align(n):]
			return b
		}
		s.parts[i] = part{array: p, size: of.DType.Size(), signed: of.DType.Kind() == dtype.KindInt, window: take(window * int64(of.DType.Size()))}
		if coded, ok := p.(storage.Coded); ok {
			var err error
			if s.parts[i].session, err = coded.Session(take(of.Work.Whole)); err != nil {
				return nil, errors.Join(err, s.Close())
			}
		}
	}
	return s, nil
}

func (a *array) fail(err error) error { return storage.PathError("read", a.matrix.Path, err) }

// session reads a matrix with the caller's memory.
type session struct {
	a      *array
	parts  [3]part
	stored int64
}

// part is one of the three arrays, and a window of its elements.
type part struct {
	array   store.Array
	session store.Session // nil where elements lie open
	size    int
	signed  bool
	window  []byte
}

// read fills the window with n elements from a place on.
func (s *session) read(ctx context.Context, i int, at, n int64) error {
	p := &s.parts[i]
	r := types.Region{Start: []int{int(at)}, Count: []int{int(n)}, Step: []int{1}}
	dst := p.window[:n*int64(p.size)]
	if p.session == nil {
		s.stored += int64(len(dst))
		return p.array.Read(ctx, dst, r)
	}
	stored, err := p.session.Read(ctx, dst, r)
	s.stored += stored
	return err
}

// integer is an element of a window.
func (p *part) integer(i int64) int64 {
	var b [8]byte
	copy(b[:], p.window[i*int64(p.size):(i+1)*int64(p.size)])
	v := binary.LittleEndian.Uint64(b[:])
	if shift := 64 - 8*p.size; p.signed {
		return int64(v<<shift) >> shift
	}
	return int64(min(v, math.MaxInt64))
}

func (s *session) Close() (err error) {
	for _, p := range s.parts {
		if p.session != nil {
			err = errors.Join(err, p.session.Close())
		}
	}
	return err
}

func (s *session) Read(ctx context.Context, dst []byte, r types.Region) (int64, error) {
	s.stored = 0
	_, err := strided.ForRegion(s.a.info.Shape, s.a.info.DType.Size(), r, len(dst))
	switch {
	case err != nil:
		return 0, s.a.fail(err)
	case s.a.closed.Load():
		return 0, s.a.fail(fs.ErrClosed)
	}
	clear(dst)
	if len(dst) == 0 {
		return 0, ctx.Err()
	}
	major := s.a.major
	for i := 0; i < r.Count[major] && err == nil; {
		n := 1
		if r.Step[major] == 1 {
			n = min(r.Count[major]-i, window-1)
		}
		err = s.runs(ctx, dst, r, i, n)
		i += n
	}
	if err != nil && ctx.Err() == nil {
		err = s.a.fail(err)
	}
	return s.stored, err
}

// runs puts n rows, or columns, of the region in their places, from the i-th on, which follow each other in the matrix.
func (s *session) runs(ctx context.Context, dst []byte, r types.Region, i, n int) error {
	major, minor := s.a.major, 1-s.a.major
	first := r.Start[major] + i*r.Step[major]
	if err := s.read(ctx, 2, int64(first), int64(n)+1); err != nil {
		return err
	}
	bounds, count := &s.parts[2], int64(s.parts[0].array.Info().Shape[0])
	for k := range int64(n) {
		if from, to := bounds.integer(k), bounds.integer(k+1); from < 0 || to < from || to > count {
			return fmt.Errorf("values %d to %d are at index %d, of %d that there are: the file is damaged", from, to, first+int(k), count)
		}
	}
	k, end := int64(0), bounds.integer(int64(n))
	size := s.parts[0].size
	for at := bounds.integer(0); at < end; {
		batch := min(end-at, window)
		if err := errors.Join(s.read(ctx, 0, at, batch), s.read(ctx, 1, at, batch)); err != nil {
			return err
		}
		for j := range batch {
			for at+j >= bounds.integer(k+1) {
				k++
			}
			place := s.parts[1].integer(j)
			if place < 0 || place >= int64(s.a.info.Shape[minor]) {
				return fmt.Errorf("the place %d of a value at index %d lies out of the shape %s: the file is damaged", place, first+int(k), grid.Format(s.a.info.Shape))
			}
			off := int(place) - r.Start[minor]
			if off%r.Step[minor] != 0 || off/r.Step[minor] < 0 || off/r.Step[minor] >= r.Count[minor] {
				continue
			}
			row, column := i+int(k), off/r.Step[minor]
			if major == 1 {
				row, column = column, row
			}
			to := dst[(row*r.Count[1]+column)*size:][:size]
			from := s.parts[0].window[int(j)*size:][:size]
			if zero(from) {
				continue
			}
			if !zero(to) {
				return fmt.Errorf("two values have the place %d at index %d: call SciPy's sum_duplicates(), and save the matrix again", place, first+int(k))
			}
			copy(to, from)
		}
		at += batch
	}
	return nil
}

// zero reports an element whose bytes are all 0.
func zero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
