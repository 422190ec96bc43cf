package kernel

import (
	"math"
	"unsafe"
)

// pairs folds complex numbers part by part: c columns of them are 2c columns
// of floats.
type pairs[T float] struct {
	part Folder
	mean bool
}

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
	if !p.mean {
		return
	}
	// NumPy divides by count+0i, which spreads what is not finite to the other part.
	for out := view[T](dst, 2*n); len(out) > 0; out = out[2:] {
		out[0], out[1] = out[0]+out[1]*0, out[1]-out[0]*0
	}
}

// pairVariance adds the variances of both parts.
type pairVariance[T float] struct {
	pairs[T]
	root bool
}

func (p pairVariance[T]) Finish(dst, state []byte, n int, count int64, ddof float64) {
	out, m := view[T](dst, n), momentsOf(state, 2*n, 0, 2*n)
	for i := range out {
		v := (m.dev[2*i] + m.dev[2*i+1]) / divisor(count, ddof)
		if p.root {
			v = math.Sqrt(v)
		}
		out[i] = T(v)
	}
}
