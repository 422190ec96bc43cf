package linalg

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
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
	out, err := norm(site, n, o, axes)
	if err != nil {
		return nil, graph.Reject(site, "norm", err, n)
	}
	return out, nil
}

func norm(site graph.Site, n *graph.Node, o Order, axes []int) (*graph.Node, error) {
	// The order of the axes says which are a matrix's rows.
	resolved := make([]int, len(axes))
	for i, a := range axes {
		var err error
		if resolved[i], err = grid.Axis(a, len(n.Shape)); err != nil {
			return nil, err
		}
	}
	if _, err := grid.Axes(axes, len(n.Shape)); err != nil {
		return nil, err
	}
	axes = resolved
	if len(axes) > 2 {
		return nil, fmt.Errorf("takes one axis of vectors or two of matrices, not %d", len(axes))
	}
	if len(axes) == 0 {
		if o.Name != "" && (len(n.Shape) == 0 || len(n.Shape) > 2) {
			return nil, fmt.Errorf("this order is of vectors or matrices: give one or two axes of shape %s", grid.Format(n.Shape))
		}
		for d := range n.Shape {
			axes = append(axes, d)
		}
	}
	t := n.DType
	if t.Kind() < dtype.KindFloat {
		t = dtype.Float64
	}
	result := kernel.Absolute.Result(t)
	var err error
	if len(axes) != 2 || o.Name != "nuc" && math.Abs(o.P) != 2 { // not of singular values
		if n, err = graph.Apply(site, kernel.Absolute, n); err != nil {
			return nil, err
		}
		if n, err = graph.AsType(site, n, dtype.Float64); err != nil {
			return nil, err
		}
	}
	var out *graph.Node
	switch {
	case o.Name == "" || o.Name == "fro" && len(axes) == 2:
		out, err = powers(site, n, 2, axes)
	case o.Name != "p" && o.Name != "fro" && o.Name != "nuc":
		return nil, fmt.Errorf("the order %q is unknown: use a number, \"fro\" or \"nuc\"", o.Name)
	case len(axes) == 2:
		out, err = matrixNorm(site, n, o, axes[0], axes[1])
	case o.Name != "p":
		return nil, fmt.Errorf("order %q is of matrices: give two axes", o.Name)
	default:
		out, err = vectorNorm(site, n, o.P, axes)
	}
	if err != nil {
		return nil, err
	}
	return graph.AsType(site, out, result)
}

// powers is the p-th root of the sum of p-th powers of magnitudes.
func powers(site graph.Site, n *graph.Node, p float64, axes []int) (*graph.Node, error) {
	raised := func(n *graph.Node, p float64) (*graph.Node, error) {
		by, err := graph.Scalar(site, p)
		if err != nil {
			return nil, err
		}
		return graph.Apply(site, kernel.Power, n, by)
	}
	n, err := raised(n, p)
	if err != nil {
		return nil, err
	}
	if len(axes) > 0 {
		if n, err = graph.Aggregate(site, kernel.Sum, n, graph.ReduceOptions{Axes: axes}); err != nil {
			return nil, err
		}
	}
	switch p {
	case 1:
		return n, nil
	case 2:
		return graph.Apply(site, kernel.Sqrt, n)
	}
	return raised(n, 1/p)
}

func vectorNorm(site graph.Site, n *graph.Node, p float64, axes []int) (*graph.Node, error) {
	kind := kernel.Sum
	switch {
	case math.IsNaN(p):
		return nil, fmt.Errorf("the order is NaN")
	case math.IsInf(p, 1):
		kind = kernel.Max
	case math.IsInf(p, -1):
		kind = kernel.Min
	case p == 0:
		kind = kernel.CountNonzero
	case p != 1:
		return powers(site, n, p, axes)
	}
	return graph.Aggregate(site, kind, n, graph.ReduceOptions{Axes: axes})
}

// matrixNorm is of the matrices whose rows follow an axis and whose columns another. n
// has the magnitudes, or for singular values the elements.
func matrixNorm(site graph.Site, n *graph.Node, o Order, row, col int) (*graph.Node, error) {
	along, outer := row, kernel.Max // summed first, and then
	switch {
	case o.Name == "nuc" || math.Abs(o.P) == 2:
		return singularNorm(site, n, o, row, col)
	case o.P == 1:
	case o.P == -1:
		outer = kernel.Min
	case math.IsInf(o.P, 1):
		along = col
	case math.IsInf(o.P, -1):
		along, outer = col, kernel.Min
	default:
		return nil, fmt.Errorf("order %g is not of matrices: 1, 2, -1, -2 and infinities are", o.P)
	}
	other := row + col - along
	n, err := graph.Aggregate(site, kernel.Sum, n, graph.ReduceOptions{Axes: []int{along}, KeepDims: true})
	if err != nil {
		return nil, err
	}
	if n, err = graph.Aggregate(site, outer, n, graph.ReduceOptions{Axes: []int{other}, KeepDims: true}); err != nil {
		return nil, err
	}
	return graph.Squeeze(site, n, row, col)
}

func singularNorm(site graph.Site, n *graph.Node, o Order, row, col int) (*graph.Node, error) {
	var order []int
	for d := range n.Shape {
		if d != row && d != col {
			order = append(order, d)
		}
	}
	n, err := graph.Transpose(site, n, append(order, row, col)...)
	if err != nil {
		return nil, err
	}
	s, err := singular(site, n)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Name == "nuc":
		return graph.Aggregate(site, kernel.Sum, s, graph.ReduceOptions{Axes: []int{-1}})
	case o.P == 2:
		return graph.Slice(site, s, "..., 0")
	}
	return graph.Slice(site, s, "..., -1")
}

// Cond is NumPy's cond: how much a relative error of a right-hand side can grow, the
// largest by the smallest singular value; of another order than 2, the norm times that
// of the inverse.
func Cond(site graph.Site, n *graph.Node, o Order) (*graph.Node, error) {
	out, err := cond(site, n, o)
	if err != nil {
		return nil, graph.Reject(site, "cond", err, n)
	}
	return named(out, n), nil
}

func cond(site graph.Site, n *graph.Node, o Order) (*graph.Node, error) {
	if _, _, err := stackOf(n); err != nil {
		return nil, err
	}
	if o.Name == "" || o.Name == "p" && math.Abs(o.P) == 2 {
		s, err := singular(site, n)
		if err != nil {
			return nil, err
		}
		if s.Shape[len(s.Shape)-1] == 0 {
			return nil, fmt.Errorf("matrices of shape %s have no elements", grid.Format(n.Shape))
		}
		first, err := graph.Slice(site, s, "..., 0")
		if err != nil {
			return nil, err
		}
		last, err := graph.Slice(site, s, "..., -1")
		if err != nil {
			return nil, err
		}
		if o.P == -2 {
			first, last = last, first
		}
		ratio, err := graph.Apply(site, kernel.Divide, first, last)
		if err != nil {
			return nil, err
		}
		return infiniteOfZeros(site, ratio)
	}
	there, err := norm(site, n, o, []int{-2, -1})
	if err != nil {
		return nil, err
	}
	inv, err := Inv(site, n)
	if err != nil {
		return nil, err
	}
	back, err := norm(site, inv, o, []int{-2, -1})
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Multiply, there, back)
}

// infiniteOfZeros is a ratio with infinity where it is that of zeros.
func infiniteOfZeros(site graph.Site, ratio *graph.Node) (*graph.Node, error) {
	zeros, err := graph.Apply(site, kernel.IsNaN, ratio)
	if err != nil {
		return nil, err
	}
	infinity, err := graph.Scalar(site, math.Inf(1))
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Where, zeros, infinity, ratio)
}
