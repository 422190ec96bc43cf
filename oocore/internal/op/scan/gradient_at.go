package scan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

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
