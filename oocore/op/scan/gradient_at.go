package scan

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/compose"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// GradientAt is NumPy's gradient along one axis, of elements that stand at the given
// coordinates: of second order inside, and the difference with the neighbour at the ends.
func GradientAt(site graph.Site, n, coordinates *graph.Node, axis int) (*graph.Node, error) {
	out, err := gradientAt(site, n, coordinates, axis)
	if err != nil {
		return nil, graph.Reject(site, "gradient", err, n, coordinates)
	}
	return out, nil
}

func gradientAt(site graph.Site, n, coordinates *graph.Node, axis int) (*graph.Node, error) {
	axis, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	length := n.Shape[axis]
	switch {
	case n.DType == dtype.Bool || coordinates.DType.Kind() < dtype.KindUint || coordinates.DType.Kind() > dtype.KindFloat:
		return nil, fmt.Errorf("takes numbers at real coordinates")
	case len(coordinates.Shape) != 1 || coordinates.Shape[0] != length:
		return nil, fmt.Errorf("axis %d takes a coordinate for each of its %d elements, in one dimension", axis, length)
	case length < 2:
		return nil, fmt.Errorf("axis %d has %d elements: at least two are needed", axis, length)
	}
	m := &compose.Maker{Site: site}
	if n.DType.Integer() {
		n = m.Cast(n, dtype.Float64)
	}
	if coordinates.DType.Integer() {
		coordinates = m.Cast(coordinates, dtype.Float64)
	}
	along := make([]int, len(n.Shape)-axis)
	for d := range along {
		along[d] = 1
	}
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
	// Inside, each of the two slopes counts by the other's distance.
	inner := length - 2
	left, right := step(at, 0, 1, 0, inner), step(at, 0, 2, 1, inner)
	weighted := m.Apply(kernel.Add, m.Apply(kernel.Multiply, slope(1, inner), right), m.Apply(kernel.Multiply, slope(2, inner), left))
	inside := m.Apply(kernel.Divide, weighted, m.Apply(kernel.Add, left, right))
	return m.Cast(m.Make(func() (*graph.Node, error) {
		return shape.Concatenate(site, axis, first, inside, last)
	}), n.DType), m.Err
}
