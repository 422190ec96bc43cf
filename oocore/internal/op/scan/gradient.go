package scan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// spaced is Gradient of elements at a distance, or GradientAt of elements at coordinates.
func BuildGradient(site graph.Site, a GradientArgs) (*graph.Node, error) {
	n, at, axis, edgeOrder := a.X, a.Spacing, a.Axis, a.EdgeOrder
	switch {
	case len(axis) == 0 && len(n.Shape) > 1:
		return nil, graph.Reject(site, "gradient", fmt.Errorf("%d dimensions take an axis", len(n.Shape)), n)
	case at.Weak && at.DType.Kind() <= dtype.KindFloat:
		return Gradient(site, n, at.Value.Float(), append(axis, 0)[0], edgeOrder)
	}
	return GradientAt(site, n, at, append(axis, 0)[0], edgeOrder)
}

// Gradient is NumPy's gradient along one axis, of elements that are spacing apart: half the
// difference of both neighbours, at the ends the difference of the one, or with edge order 2
// the slope there of the parabola through three elements. Integers are computed in float64.
// It is part of whatever reads it.
func Gradient(site graph.Site, n *graph.Node, spacing float64, axis, edgeOrder int) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "gradient", n)
	axis, err = slopes(n, axis, edgeOrder)
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	if n.DType.Integer() {
		n = m.Cast(n, dtype.Float64)
	}
	if m.Err != nil || grid.Size(n.Shape) == 0 {
		return n, m.Err
	}
	op := Slopes{Shape: n.Shape, Type: n.DType, Axis: axis, Spacing: dtype.ValueOf(spacing), EdgeOrder: edgeOrder}
	return graph.NewBlockwise(site, "gradient", op, n.Shape, n.DType, []*graph.Node{n}, fmt.Sprint(spacing), fmt.Sprint(axis))
}

// slopes checks what a gradient is asked for, and returns the axis from the first one on.
func slopes(n *graph.Node, axis, edgeOrder int) (int, error) {
	axis, err := grid.Axis(axis, len(n.Shape))
	switch {
	case err != nil:
		return 0, err
	case n.DType == dtype.Bool:
		return 0, fmt.Errorf("bools have no difference: AsType first")
	case edgeOrder != 1 && edgeOrder != 2:
		return 0, fmt.Errorf("an edge order is 1 or 2, not %d", edgeOrder)
	case n.Shape[axis] < edgeOrder+1:
		return 0, fmt.Errorf("axis %d has %d elements: at least %d are needed", axis, n.Shape[axis], edgeOrder+1)
	}
	return axis, nil
}

// weighted is the sum of three neighbours along an axis, from one on, each times a weight.
func weighted(m *graph.Maker, n *graph.Node, axis, from int, weights ...*graph.Node) (sum *graph.Node) {
	for i, w := range weights {
		term := m.Apply(kernel.Multiply, w, m.Part(n, axis, from+i, from+i+1))
		if sum == nil {
			sum = term
		} else {
			sum = m.Apply(kernel.Add, sum, term)
		}
	}
	return sum
}

// GradientAt is NumPy's gradient along one axis, of elements that stand at the given
// coordinates: of second order inside, and at the ends as Gradient.
func GradientAt(site graph.Site, n, coordinates *graph.Node, axis, edgeOrder int) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "gradient", n, coordinates)
	axis, err = slopes(n, axis, edgeOrder)
	if err != nil {
		return nil, err
	}
	length := n.Shape[axis]
	switch {
	case coordinates.DType.Kind() < dtype.KindUint || coordinates.DType.Kind() > dtype.KindFloat:
		return nil, fmt.Errorf("takes numbers at real coordinates")
	case len(coordinates.Shape) != 1 || coordinates.Shape[0] != length:
		return nil, fmt.Errorf("axis %d takes a coordinate for each of its %d elements, in one dimension", axis, length)
	}
	m := &graph.Maker{Site: site}
	if n.DType.Integer() {
		n = m.Cast(n, dtype.Float64)
	}
	if coordinates.DType.Integer() {
		coordinates = m.Cast(coordinates, dtype.Float64)
	}
	along := slices.Repeat([]int{1}, len(n.Shape)-axis)
	along[0] = length
	at := m.Reshape(coordinates, along...)
	// step is the difference of two ranges of one length.
	step := func(x *graph.Node, axis, after, before, count int) *graph.Node {
		return m.Apply(kernel.Subtract, m.Part(x, axis, after, after+count), m.Part(x, axis, before, before+count))
	}
	slope := func(after, count int) *graph.Node {
		return m.Apply(kernel.Divide, step(n, axis, after, after-1, count), step(at, 0, after, after-1, count))
	}
	first, last := slope(1, 1), slope(length-1, 1)
	if edgeOrder == 2 {
		first = weighted(m, n, axis, 0, parabola(m, step(at, 0, 1, 0, 1), step(at, 0, 2, 1, 1))...)
		mirrored := parabola(m, step(at, 0, length-1, length-2, 1), step(at, 0, length-2, length-3, 1))
		for i, w := range mirrored {
			mirrored[i] = m.Apply(kernel.Negative, w)
		}
		last = weighted(m, n, axis, length-3, mirrored[2], mirrored[1], mirrored[0])
	}
	// Inside, each of the two slopes counts by the other's distance.
	inner := length - 2
	left, right := step(at, 0, 1, 0, inner), step(at, 0, 2, 1, inner)
	sum := m.Apply(kernel.Add, m.Apply(kernel.Multiply, slope(1, inner), right), m.Apply(kernel.Multiply, slope(2, inner), left))
	inside := m.Apply(kernel.Divide, sum, m.Apply(kernel.Add, left, right))
	return m.Like(m.Cast(m.Make(func() (*graph.Node, error) {
		return shape.Concatenate(site, axis, first, inside, last)
	}), n.DType), n), m.Err
}

// parabola is by which weights three elements give the slope, at the first of them, of the
// parabola through them; near and far are the distances of neighbours.
func parabola(m *graph.Maker, near, far *graph.Node) []*graph.Node {
	both := m.Apply(kernel.Add, near, far)
	first := m.Apply(kernel.Divide, m.Apply(kernel.Negative, m.Apply(kernel.Add, near, both)), m.Apply(kernel.Multiply, near, both))
	second := m.Apply(kernel.Divide, both, m.Apply(kernel.Multiply, near, far))
	third := m.Apply(kernel.Divide, m.Apply(kernel.Negative, near), m.Apply(kernel.Multiply, far, both))
	return []*graph.Node{first, second, third}
}
