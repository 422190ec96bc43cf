// Package linalg has matrix factorizations and solvers.
//
// Blocks that fit a task are factorized in float64 whatever the input's type, in that
// task's memory alone, with most of the work in products of matrices (kernel.Gemm).
// Larger matrices are blocks that are joined: tall ones by a tree of triangular factors,
// positive definite ones panel by panel.
//
// What may take long is done in steps (blockwise.Steps), by panels, rows or blocks: between
// two of them a run can be cancelled, and saves what it has, to resume there.
//
// An element that is not finite is an error of all of these, and so is a matrix that
// has no such factor: singular, or not positive definite.
package linalg

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// matrix is rows × cols numbers, row after row, ld from one to the next.
type matrix struct {
	a          []float64
	rows, cols int
	ld         int
}

func (m matrix) row(i int) []float64 { return m.a[i*m.ld : i*m.ld+m.cols : i*m.ld+m.cols] }

// part is rows i0 to i1 and columns j0 to j1.
func (m matrix) part(i0, i1, j0, j1 int) matrix {
	p := matrix{rows: i1 - i0, cols: j1 - j0}
	if p.rows > 0 && p.cols > 0 {
		p.a, p.ld = m.a[i0*m.ld+j0:(i1-1)*m.ld+j1], m.ld
	}
	return p
}

func (m matrix) clear() {
	for i := range m.rows {
		clear(m.row(i))
	}
}

// pool gives out a task's scratch as numbers and matrices. Without memory it counts
// what would be given out.
type pool struct {
	blockwise.ScratchLayout
	kept  [][]byte // memory of the state between steps
	bytes int64    // of it
}

// state is floats that are part of the state between steps.
func (p *pool) state(n int) []float64 {
	x := p.floats(n)
	if x != nil {
		p.kept = append(p.kept, dtype.Bytes(x))
	}
	p.bytes += 8 * int64(n)
	return x
}

// stateMatrix is a matrix that is part of the state between steps.
func (p *pool) stateMatrix(rows, cols int) matrix {
	return matrix{a: p.state(rows * cols), rows: rows, cols: cols, ld: cols}
}

// steps begins the steps of a task whose state is what was given out as such.
func (p *pool) steps(ctx context.Context, t *blockwise.Task) *blockwise.Steps {
	return t.Steps(ctx, func(int) [][]byte { return p.kept })
}

func (p *pool) floats(n int) []float64 {
	if b := p.Take(8 * n); b != nil {
		return dtype.Slice[float64](b)
	}
	return nil
}

func (p *pool) matrix(rows, cols int) matrix {
	return matrix{a: p.floats(rows * cols), rows: rows, cols: cols, ld: cols}
}

// product is what multiply works in, for matrices of up to these sizes.
func (p *pool) product(m, n, k int) []byte {
	return p.Take(int(kernel.GemmWork(dtype.Float64, m, n, k)))
}

// multiply adds a·b to c.
func multiply(c, a, b matrix, work []byte) {
	if c.rows == 0 || c.cols == 0 || a.cols == 0 {
		return
	}
	kernel.Gemm(dtype.Float64, c.rows, c.cols, a.cols, dtype.Bytes(a.a), a.ld, dtype.Bytes(b.a), b.ld, dtype.Bytes(c.a), c.ld, work)
}

// transpose sets dst to the transpose of src.
func transpose(dst, src matrix) {
	if src.rows == 0 || src.cols == 0 {
		return
	}
	kernel.Copy(8, []int{dst.rows, dst.cols}, dtype.Bytes(dst.a), 0, []int{dst.ld, 1}, dtype.Bytes(src.a), 0, []int{1, src.ld})
}

// infinite finds an element that is not finite.
func infinite(x []float64) int {
	var sum float64
	for _, v := range x {
		sum += v * 0
	}
	if sum == 0 {
		return -1
	}
	for i, v := range x {
		if v*0 != 0 {
			return i
		}
	}
	return -1
}

// notFinite is the error of an element that is NaN or infinite.
func notFinite(v float64, at ...int) error {
	return fmt.Errorf("element %s is %s: all have to be finite", place(at), name(v))
}

func name(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case v > 0:
		return "infinite"
	}
	return "-infinite"
}

func place(at []int) string {
	return strings.Replace(grid.Format(at), ",)", ")", 1)
}

// store writes a row of results in their type.
func store(dst []byte, t dtype.Type, at int, x []float64) {
	if t == dtype.Float64 {
		copy(dtype.Slice[float64](dst)[at:], x)
		return
	}
	to := dtype.Slice[float32](dst)[at:][:len(x)]
	for i, v := range x {
		to[i] = float32(v)
	}
}

// storeTransposed writes the transpose of a matrix, row after row, in its type.
func storeTransposed(dst []byte, t dtype.Type, m matrix) {
	const tile = 32
	for j0 := 0; j0 < m.cols; j0 += tile {
		for i0 := 0; i0 < m.rows; i0 += tile {
			j1, i1 := min(j0+tile, m.cols), min(i0+tile, m.rows)
			if t == dtype.Float64 {
				storeTile(dtype.Slice[float64](dst), m, i0, i1, j0, j1)
			} else {
				storeTile(dtype.Slice[float32](dst), m, i0, i1, j0, j1)
			}
		}
	}
}

func storeTile[T float32 | float64](dst []T, m matrix, i0, i1, j0, j1 int) {
	for j := j0; j < j1; j++ {
		to := dst[j*m.rows+i0 : j*m.rows+i1]
		for i := range to {
			to[i] = T(m.a[(i0+i)*m.ld+j])
		}
	}
}
