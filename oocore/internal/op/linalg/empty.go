package linalg

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
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

func emptyQR(m *graph.Maker, n *graph.Node) (q, r *graph.Node) {
	t, _, err := typesOf(n)
	if m.Fail(err) {
		return
	}
	stack, size, _ := stackOf(n)
	k := min(size[0], size[1])
	return m.Full(dtype.FromInt(t, 0), append(slices.Clone(stack), size[0], k)...), m.Full(dtype.FromInt(t, 0), append(stack, k, size[1])...)
}

func emptySVD(m *graph.Maker, n *graph.Node) (u, s, vt *graph.Node) {
	_, values, err := typesOf(n)
	if m.Fail(err) {
		return
	}
	stack, size, _ := stackOf(n)
	u, vt = emptyQR(m, n)
	return u, m.Full(dtype.FromInt(values, 0), append(stack, min(size[0], size[1]))...), vt
}

// emptyLstsq is lstsq of a matrix or right-hand sides without elements: the shortest x is
// zero, and all of b is left.
func emptyLstsq(m *graph.Maker, a, b *graph.Node, rcond float64) (out LeastSquares) {
	rows, columns := a.Shape[0], a.Shape[1]
	t, magnitudes, err := typesOf(a, b)
	switch {
	case err != nil:
	case len(b.Shape) != 1 && len(b.Shape) != 2:
		err = fmt.Errorf("the right-hand side: takes a matrix, not an array of shape %s", grid.Format(b.Shape))
	case b.Shape[0] != rows:
		err = fmt.Errorf("the right-hand side has %d rows, for a matrix of %d", b.Shape[0], rows)
	default:
		rcond, err = cutoff(rcond, rows, columns, dtype.Float64)
	}
	if m.Fail(err) {
		return out
	}
	out.X = m.Full(dtype.FromInt(t, 0), append([]int{columns}, b.Shape[1:]...)...)
	size := m.Apply(kernel.Absolute, m.Cast(m.Reshape(b, rows, grid.Size(b.Shape[1:])), t))
	out.Residuals = m.Cast(m.Reduce(kernel.Sum, m.Apply(kernel.Square, size), graph.ReduceOptions{Axes: []int{0}}), magnitudes)
	out.S = m.Cast(singular(m, a), magnitudes)
	out.Rank = above(m, out.S, rcond)
	return out
}
