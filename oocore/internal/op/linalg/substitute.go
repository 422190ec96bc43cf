package linalg

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

func init() { blockwise.Register("solve_triangular", Substitute{}, blockwise.Products) }

// Substitute solves with a triangular matrix of N rows for some columns of K at once,
// reading it by blocks of rows.
type Substitute struct {
	Upper bool
	N, K  int
	Type  dtype.Type
}

func (s Substitute) cols() int { return min(max(taskBytes/3/(8*s.N), 1), s.K) }
func (s Substitute) rows() int { return min(max(taskBytes/3/(8*s.N), 16), s.N) }

// Chunks are whole columns, about 12 MiB of them.
func (s Substitute) Chunks() []int { return []int{s.N, s.cols()} }

// Requirements is the columns in float64, and rows of the matrix, about 12 MiB of either.
func (s Substitute) Requirements(box []int) blockwise.Requirements {
	var p pool
	s.layout(&p)
	return blockwise.Requirements{Reads: [][]int{{s.rows(), s.N}, {s.N, s.cols()}}, Scratch: p.Size(), State: p.bytes, Work: int64(solveWork(s.N, s.cols()))}
}

func (s Substitute) layout(p *pool) (x, a matrix, minus []float64, gemm []byte) {
	return p.stateMatrix(s.N, s.cols()), p.matrix(s.rows(), s.N), p.floats(s.rows() * panel), p.product(s.rows(), s.cols(), s.N)
}

// Fill solves for the columns of a box.
func (s Substitute) Fill(ctx context.Context, t *blockwise.Task) error {
	p := &pool{ScratchLayout: *t.ScratchLayout()}
	x, a, minus, gemm := s.layout(p)
	x = x.shaped(s.N, t.Box.Shape[1])
	x.a = x.a[:x.rows*x.cols]
	steps := p.steps(ctx, t)
	if !steps.Skips() {
		if err := t.In[1].Read(ctx, t.Box, dtype.Bytes(x.a)); err != nil {
			return err
		}
	}
	if steps.Next() {
		if i := infinite(x.a); i >= 0 {
			return fmt.Errorf("the right-hand side: %w", notFinite(x.a[i], i/x.cols, t.Box.Start[1]+i%x.cols))
		}
		if err := steps.End(); err != nil {
			return err
		}
	}
	blocks := (s.N + s.rows() - 1) / s.rows()
	for i := range blocks {
		if s.Upper {
			i = blocks - 1 - i
		}
		r0, r1 := i*s.rows(), min((i+1)*s.rows(), s.N)
		c0, c1 := 0, r1
		if s.Upper {
			c0, c1 = r0, s.N
		}
		rows := a.shaped(r1-r0, c1-c0)
		rows.a = rows.a[:rows.rows*rows.cols]
		if !steps.Skips() {
			if err := t.In[0].Read(ctx, grid.Box{Start: []int{r0, c0}, Shape: []int{rows.rows, rows.cols}}, dtype.Bytes(rows.a)); err != nil {
				return err
			}
		}
		err := t.Compute(func() error {
			if !steps.Next() {
				return nil
			}
			if err := s.block(x, rows, r0, c0, minus, gemm); err != nil {
				return err
			}
			return steps.End()
		})
		if err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		store(t.Dst, s.Type, 0, x.a)
		return nil
	})
}

// block solves for the rows from r0 on, given those that were solved before. rows are
// the matrix's, from column c0.
func (s Substitute) block(x, rows matrix, r0, c0 int, minus []float64, gemm []byte) error {
	n := rows.rows
	on := rows.part(0, n, r0-c0, r0-c0+n) // the square on the diagonal
	off, known := rows.part(0, n, 0, r0-c0), x.part(0, r0, 0, x.cols)
	if s.Upper {
		off, known = rows.part(0, n, n, rows.cols), x.part(r0+n, x.rows, 0, x.cols)
	}
	for i := range n {
		from, to := 0, r0-c0+i+1 // what lies in the triangle
		if s.Upper {
			from, to = i, rows.cols
		}
		row := rows.row(i)[from:to]
		if at := infinite(row); at >= 0 {
			return notFinite(row[at], r0+i, c0+from+at)
		}
		if on.row(i)[i] == 0 {
			return fmt.Errorf("the matrix is singular: element %s is zero", place([]int{r0 + i, r0 + i}))
		}
		for k := range off.cols {
			off.row(i)[k] *= -1
		}
	}
	mine := x.part(r0, r0+n, 0, x.cols)
	multiply(mine, off, known, gemm)
	if s.Upper {
		return backward(nil, on, mine, minus, gemm)
	}
	return forward(nil, on, mine, false, minus, gemm)
}

// SolveTriangular is SciPy's solve_triangular: x of a·x = b, where b is a vector or a
// matrix, by the upper or lower triangle of a. A zero on the diagonal is an error when
// it is computed.
//
// One pass over b, and one over a for each 12 MiB of columns of b in float64; a task
// holds these and as much of a.
func SolveTriangular(site graph.Site, a, b *graph.Node, upper bool) (*graph.Node, error) {
	out, err := solveTriangular(site, a, b, upper)
	return namedSolution(out, a, b), err
}

func solveTriangular(site graph.Site, a, b *graph.Node, upper bool) (*graph.Node, error) {
	if isComplex(a, b) && len(a.Shape) == 2 && a.Shape[0] == a.Shape[1] && len(b.Shape) > 0 && len(b.Shape) < 3 && b.Shape[0] == a.Shape[0] {
		// With ones on its diagonal the real form is triangular, too.
		m := &graph.Maker{Site: site}
		diagonal := m.ExpandDims(graph.Call(m, shape.Diagonal, shape.DiagonalArgs{X: a, Offset: 0, Axis: 0, Other: 1}), 1)
		ones := m.Apply(kernel.Divide, a, diagonal)
		if len(b.Shape) == 1 {
			diagonal = m.Reshape(diagonal, -1)
		}
		right := m.Apply(kernel.Divide, b, diagonal)
		if m.Err != nil {
			return nil, m.Err
		}
		return solveInRealForm(site, "solve_triangular", ones, right, func(a, b *graph.Node) (*graph.Node, error) { return SolveTriangular(site, a, b, upper) })
	}
	if len(a.Shape) > 2 || len(b.Shape) > 2 {
		return nil, graph.Reject(site, "solve_triangular", fmt.Errorf("takes a matrix and a vector or matrix, not stacks of shapes %s and %s", grid.Format(a.Shape), grid.Format(b.Shape)), a, b)
	}
	return withVector(site, "solve_triangular", a, b, func(m *graph.Maker, b *graph.Node, dt dtype.Type) *graph.Node {
		return substitute(m, a, b, b.Shape, upper, dt)
	})
}

// substitute solves for a matrix b of a shape.
func substitute(m *graph.Maker, a, b *graph.Node, shape []int, upper bool, dt dtype.Type) *graph.Node {
	s := Substitute{Upper: upper, N: max(shape[0], 1), K: max(shape[1], 1), Type: dt}
	return m.Blockwise("solve_triangular", s, shape, dt, []*graph.Node{m.Cast(a, dtype.Float64), m.Cast(b, dtype.Float64)})
}

// SolvePositive is Solve for one positive definite matrix of any size, of which the
// lower triangle is read: by Cholesky, with its passes, and two of SolveTriangular.
func SolvePositive(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	out, err := solvePositive(site, a, b)
	return namedSolution(out, a, b), err
}

func solvePositive(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	if isComplex(a, b) && len(a.Shape) == 2 {
		return solveInRealForm(site, "solve", a, b, func(a, b *graph.Node) (*graph.Node, error) { return SolvePositive(site, a, b) })
	}
	if len(a.Shape) > 2 || len(b.Shape) > 2 {
		return nil, graph.Reject(site, "solve", fmt.Errorf("of a positive definite matrix takes that and a vector or matrix, not stacks of shapes %s and %s", grid.Format(a.Shape), grid.Format(b.Shape)), a, b)
	}
	return withVector(site, "solve", a, b, func(m *graph.Maker, b *graph.Node, dt dtype.Type) *graph.Node {
		wide := m.Cast(a, dtype.Float64)
		l := graph.Call(m, Cholesky, op.Unary{X: wide})
		y := substitute(m, l, b, b.Shape, false, dtype.Float64)
		return substitute(m, m.Transpose(l), y, b.Shape, true, dt)
	})
}
