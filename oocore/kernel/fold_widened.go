package kernel

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// widened folds elements after converting them to a wider type, a few at a
// time.
type widened struct {
	Folder
	size  int // of a narrow element
	wide  int // of a wide one
	widen Func
	// narrow converts results back; nil where they have the wide folder's type.
	narrow Func
}

const widenedBytes = 8192

var widenedBlocks = sync.Pool{New: func() any { return new([widenedBytes]byte) }}

func newWidened(r Reduction, t, wide dtype.Type) (Folder, bool) {
	inner, ok := NewFolder(r, wide)
	if !ok {
		return nil, false
	}
	w := &widened{Folder: inner, size: t.Size(), wide: wide.Size()}
	w.widen, ok = conversion(t, wide)
	if ok && r.Result(t) != r.Result(wide) {
		w.narrow, ok = conversion(r.Result(wide), r.Result(t))
	}
	return w, ok
}

func (w *widened) Rows(state []byte, n, off int, x []byte, rows, cols int, first int64) {
	block := widenedBlocks.Get().(*[widenedBytes]byte)
	defer widenedBlocks.Put(block)
	buf, k := block[:], widenedBytes/w.wide
	if cols <= k { // whole rows
		h := rows
		if cols > 0 {
			h = k / cols
		}
		for r := 0; r < rows; r += h {
			h := min(h, rows-r)
			w.widen(h*cols, buf, x[r*cols*w.size:], nil, nil)
			w.Folder.Rows(state, n, off+r, buf, h, cols, first)
		}
		return
	}
	for r := range rows {
		for c := 0; c < cols; c += k {
			d := min(k, cols-c)
			w.widen(d, buf, x[(r*cols+c)*w.size:], nil, nil)
			w.Folder.Rows(state, n, off+r, buf, 1, d, first+int64(c))
		}
	}
}

func (w *widened) Cols(state []byte, n, off int, x []byte, rows, cols int, first, step int64) {
	block := widenedBlocks.Get().(*[widenedBytes]byte)
	defer widenedBlocks.Put(block)
	buf, k := block[:], widenedBytes/w.wide
	if cols <= k { // whole rows
		h := rows
		if cols > 0 {
			h = k / cols
		}
		for r := 0; r < rows; r += h {
			h := min(h, rows-r)
			w.widen(h*cols, buf, x[r*cols*w.size:], nil, nil)
			w.Folder.Cols(state, n, off, buf, h, cols, first+int64(r)*step, step)
		}
		return
	}
	for r := range rows {
		for c := 0; c < cols; c += k {
			d := min(k, cols-c)
			w.widen(d, buf, x[(r*cols+c)*w.size:], nil, nil)
			w.Folder.Cols(state, n, off+c, buf, 1, d, first+int64(r)*step, step)
		}
	}
}

// Finish lets the wide results take the place of the state, which is no
// smaller, and converts them from there.
func (w *widened) Finish(dst, state []byte, n int, count int64, ddof float64) {
	if w.narrow == nil {
		w.Folder.Finish(dst, state, n, count, ddof)
		return
	}
	w.Folder.Finish(state, state, n, count, ddof)
	w.narrow(n, dst, state, nil, nil)
}

// pairs folds complex numbers part by part: c columns of them are 2c columns
// of floats.
type pairs[T float] struct{ part Folder }

func (p pairs[T]) Size() int { return 2 * p.part.Size() }

func (p pairs[T]) Init(state []byte, n int) { p.part.Init(state, 2*n) }

func (p pairs[T]) Rows(state []byte, n, off int, x []byte, rows, cols int, _ int64) {
	var z T
	size := 2 * cols * int(unsafe.Sizeof(z))
	for r := range rows {
		p.part.Cols(state, 2*n, 2*(off+r), x[r*size:], cols, 2, 0, 0)
	}
}

func (p pairs[T]) Cols(state []byte, n, off int, x []byte, rows, cols int, _, _ int64) {
	p.part.Cols(state, 2*n, 2*off, x, rows, 2*cols, 0, 0)
}

func (p pairs[T]) Merge(dst, src []byte, n int) { p.part.Merge(dst, src, 2*n) }

func (p pairs[T]) Finish(dst, state []byte, n int, count int64, ddof float64) {
	p.part.Finish(dst, state, 2*n, count, ddof)
}

// pairVariance adds the variances of both parts.
type pairVariance[T float] struct {
	pairs[T]
	root bool
}

func (p pairVariance[T]) Finish(dst, state []byte, n int, count int64, ddof float64) {
	out, m := view[T](dst, n), momentsOf(state, 2*n, 0, 2*n)
	for i := range out {
		v := (m.dev[2*i] + m.dev[2*i+1]) / spread(count, ddof)
		if p.root {
			v = math.Sqrt(v)
		}
		out[i] = T(v)
	}
}
