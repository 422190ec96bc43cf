package linalg

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/compose"
)

// Decompositions of matrices without elements, as NumPy has them.

// isEmpty reports matrices without elements.
func isEmpty(n *graph.Node) bool { return len(n.Shape) >= 2 && grid.Size(n.Shape) == 0 }

// typesOf are the types of results of real or complex matrices, and of their magnitudes.
func typesOf(in ...*graph.Node) (t, magnitudes dtype.Type, err error) {
	t = dtype.Float32
	for _, n := range in {
		if isComplex(n) {
			continue
		}
		u, err := resultType(n.DType)
		if err != nil {
			return 0, 0, err
		}
		t = max(t, u)
	}
	if isComplex(in...) {
		t = complexResult(in...)
		return t, realPart(t), nil
	}
	return t, t, nil
}

func emptyQR(site graph.Site, n *graph.Node) (q, r *graph.Node, err error) {
	t, _, err := typesOf(n)
	if err != nil {
		return nil, nil, err
	}
	stack, size, _ := stackOf(n)
	k := min(size[0], size[1])
	m := &compose.Maker{Site: site}
	return m.Full(dtype.FromInt(t, 0), append(slices.Clone(stack), size[0], k)...), m.Full(dtype.FromInt(t, 0), append(stack, k, size[1])...), m.Err
}

func emptySVD(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
	_, values, err := typesOf(n)
	if err != nil {
		return nil, nil, nil, err
	}
	if u, vt, err = emptyQR(site, n); err != nil {
		return nil, nil, nil, err
	}
	k := len(u.Shape) - 1
	s, err = graph.Full(site, dtype.FromInt(values, 0), append(slices.Clone(u.Shape[:k-1]), u.Shape[k])...)
	return u, s, vt, err
}

// emptyLstsq is lstsq of a matrix or right-hand sides without elements: the shortest x is
// zero, and all of b is left.
func emptyLstsq(site graph.Site, a, b *graph.Node, rcond float64) (out LeastSquares, err error) {
	t, magnitudes, err := typesOf(a, b)
	if err != nil {
		return out, err
	}
	rows, columns := a.Shape[0], a.Shape[1]
	if len(b.Shape) != 1 && len(b.Shape) != 2 {
		return out, fmt.Errorf("the right-hand side: takes a matrix, not an array of shape %s", grid.Format(b.Shape))
	}
	if b.Shape[0] != rows {
		return out, fmt.Errorf("the right-hand side has %d rows, for a matrix of %d", b.Shape[0], rows)
	}
	if rcond, err = cutoff(rcond, rows, columns, dtype.Float64); err != nil {
		return out, err
	}
	m := &compose.Maker{Site: site}
	out.X = m.Full(dtype.FromInt(t, 0), append([]int{columns}, b.Shape[1:]...)...)
	size := m.Apply(kernel.Absolute, m.Cast(m.Reshape(b, rows, grid.Size(b.Shape[1:])), t))
	out.Residuals = m.Cast(m.Reduce(kernel.Sum, m.Apply(kernel.Square, size), graph.ReduceOptions{Axes: []int{0}}), magnitudes)
	out.S = m.Make(func() (*graph.Node, error) { return singular(site, a) })
	out.S = m.Cast(out.S, magnitudes)
	out.Rank = m.Make(func() (*graph.Node, error) { return above(site, out.S, rcond) })
	return out, m.Err
}
