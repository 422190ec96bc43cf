package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Order says which norm: "" is the root of the sum of squares, of any number of axes;
// "fro" the same of matrices; "nuc" the sum of a matrix's singular values; "p" NumPy's
// number P: 1, 2, -1, -2, plus or minus infinity, or for vectors any power.
type Order struct {
	Name string
	P    float64
}

// Norm is NumPy's norm along axes: one for vectors, two for matrices. Without axes it
// is of the whole array, which for any other than the default order is a vector or a
// matrix. One pass; the singular values of matrices, as svdvals.
func Norm(site graph.Site, n *graph.Node, o Order, axes ...int) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	return m.Result("norm", norm(m, n, o, axes), n)
}

func norm(m *graph.Maker, n *graph.Node, o Order, axes []int) *graph.Node {
	if m.Err != nil {
		return nil
	}
	if _, err := grid.Axes(axes, len(n.Shape)); m.Fail(err) {
		return nil
	}
	// The order of the axes says which are a matrix's rows.
	axes = slices.Clone(axes)
	for i, a := range axes {
		axes[i], _ = grid.Axis(a, len(n.Shape))
	}
	if len(axes) > 2 {
		m.Fail(fmt.Errorf("takes one axis of vectors or two of matrices, not %d", len(axes)))
		return nil
	}
	if len(axes) == 0 {
		if o.Name != "" && (len(n.Shape) == 0 || len(n.Shape) > 2) {
			m.Fail(fmt.Errorf("this order is of vectors or matrices: give one or two axes of shape %s", grid.Format(n.Shape)))
			return nil
		}
		axes = grid.UpTo(len(n.Shape))
	}
	t := n.DType
	if t.Kind() < dtype.KindFloat {
		t = dtype.Float64
	}
	result := kernel.Absolute.Result(t)
	if len(axes) != 2 || o.Name != "nuc" && math.Abs(o.P) != 2 { // not of singular values
		n = m.Cast(m.Apply(kernel.Absolute, n), dtype.Float64)
	}
	switch {
	case o.Name == "" || o.Name == "fro" && len(axes) == 2:
		n = powers(m, n, 2, axes)
	case o.Name != "p" && o.Name != "fro" && o.Name != "nuc":
		m.Fail(fmt.Errorf("the order %q is unknown: use a number, \"fro\" or \"nuc\"", o.Name))
	case len(axes) == 2:
		n = matrixNorm(m, n, o, axes[0], axes[1])
	case o.Name != "p":
		m.Fail(fmt.Errorf("order %q is of matrices: give two axes", o.Name))
	default:
		n = vectorNorm(m, n, o.P, axes)
	}
	return m.Cast(n, result)
}

// powers is the p-th root of the sum of p-th powers of magnitudes.
func powers(m *graph.Maker, n *graph.Node, p float64, axes []int) *graph.Node {
	n = m.Apply(kernel.Power, n, m.Number(p))
	if len(axes) > 0 {
		n = m.Reduce(kernel.Sum, n, graph.ReduceOptions{Axes: axes})
	}
	switch p {
	case 1:
		return n
	case 2:
		return m.Apply(kernel.Sqrt, n)
	}
	return m.Apply(kernel.Power, n, m.Number(1/p))
}

func vectorNorm(m *graph.Maker, n *graph.Node, p float64, axes []int) *graph.Node {
	kind := kernel.Sum
	switch {
	case math.IsNaN(p):
		m.Fail(errors.New("the order is NaN"))
	case math.IsInf(p, 1):
		kind = kernel.Max
	case math.IsInf(p, -1):
		kind = kernel.Min
	case p == 0:
		kind = kernel.CountNonzero
	case p != 1:
		return powers(m, n, p, axes)
	}
	return m.Reduce(kind, n, graph.ReduceOptions{Axes: axes})
}

// matrixNorm is of the matrices whose rows follow an axis and whose columns another. n
// has the magnitudes, or for singular values the elements.
func matrixNorm(m *graph.Maker, n *graph.Node, o Order, row, col int) *graph.Node {
	along, outer := row, kernel.Max // summed first, and then
	switch {
	case o.Name == "nuc" || math.Abs(o.P) == 2:
		return singularNorm(m, n, o, row, col)
	case o.P == 1:
	case o.P == -1:
		outer = kernel.Min
	case math.IsInf(o.P, 1):
		along = col
	case math.IsInf(o.P, -1):
		along, outer = col, kernel.Min
	default:
		m.Fail(fmt.Errorf("order %g is not of matrices: 1, 2, -1, -2 and infinities are", o.P))
	}
	n = m.Reduce(kernel.Sum, n, graph.ReduceOptions{Axes: []int{along}, KeepDims: true})
	n = m.Reduce(outer, n, graph.ReduceOptions{Axes: []int{row + col - along}, KeepDims: true})
	return m.Squeeze(n, row, col)
}

func singularNorm(m *graph.Maker, n *graph.Node, o Order, row, col int) *graph.Node {
	var order []int
	for d := range n.Shape {
		if d != row && d != col {
			order = append(order, d)
		}
	}
	s := singular(m, m.Transpose(n, append(order, row, col)...))
	switch {
	case o.Name == "nuc":
		return m.Reduce(kernel.Sum, s, graph.ReduceOptions{Axes: []int{-1}})
	case o.P == 2:
		return m.Slice(s, "..., 0")
	}
	return m.Slice(s, "..., -1")
}

// Cond is NumPy's cond: how much a relative error of a right-hand side can grow, the
// largest by the smallest singular value; of another order than 2, the norm times that
// of the inverse.
func Cond(site graph.Site, n *graph.Node, o Order) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	return m.Result("cond", named(cond(m, n, o), n), n)
}

func cond(m *graph.Maker, n *graph.Node, o Order) *graph.Node {
	if _, _, err := stackOf(n); m.Fail(err) {
		return nil
	}
	if o.Name == "" || o.Name == "p" && math.Abs(o.P) == 2 {
		s := singular(m, n)
		if m.Err == nil && s.Shape[len(s.Shape)-1] == 0 {
			m.Fail(fmt.Errorf("matrices of shape %s have no elements", grid.Format(n.Shape)))
		}
		first, last := m.Slice(s, "..., 0"), m.Slice(s, "..., -1")
		if o.P == -2 {
			first, last = last, first
		}
		ratio := m.Apply(kernel.Divide, first, last)
		return m.Apply(kernel.Where, m.Apply(kernel.IsNaN, ratio), m.Number(math.Inf(1)), ratio) // of zeros
	}
	there := norm(m, n, o, []int{-2, -1})
	back := norm(m, graph.Call(m, Inv, op.Unary{X: n}), o, []int{-2, -1})
	return m.Apply(kernel.Multiply, there, back)
}
