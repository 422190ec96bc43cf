package scan

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// Gradient is NumPy's gradient along one axis, of elements that are spacing apart: half the
// difference of both neighbours, at the ends the difference of the one. Integers are
// computed in float64. It is part of whatever reads it.
func Gradient(site graph.Site, n *graph.Node, spacing float64, axis int) (*graph.Node, error) {
	out, err := gradient(site, n, spacing, axis)
	if err != nil {
		return nil, graph.Reject(site, "gradient", err, n)
	}
	return out, nil
}

func gradient(site graph.Site, n *graph.Node, spacing float64, axis int) (*graph.Node, error) {
	axis, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	length := n.Shape[axis]
	switch {
	case n.DType == dtype.Bool:
		return nil, fmt.Errorf("bools have no difference: AsType first")
	case length < 2:
		return nil, fmt.Errorf("axis %d has %d elements: at least two are needed", axis, length)
	case n.DType.Integer():
		if n, err = graph.AsType(site, n, dtype.Float64); err != nil {
			return nil, err
		}
	}
	// over is the difference of two ranges of one length, over a distance.
	over := func(after, before, count int, distance float64) (*graph.Node, error) {
		a, err := part(site, n, axis, after, after+count)
		if err != nil {
			return nil, err
		}
		b, err := part(site, n, axis, before, before+count)
		if err != nil {
			return nil, err
		}
		if a, err = graph.Apply(site, kernel.Subtract, a, b); err != nil {
			return nil, err
		}
		by, err := graph.Scalar(site, distance)
		if err != nil {
			return nil, err
		}
		return graph.Apply(site, kernel.Divide, a, by)
	}
	first, err := over(1, 0, 1, spacing)
	if err != nil {
		return nil, err
	}
	last, err := over(length-1, length-2, 1, spacing)
	if err != nil {
		return nil, err
	}
	inner, err := over(2, 0, length-2, 2*spacing)
	if err != nil {
		return nil, err
	}
	return shape.Concatenate(site, axis, first, inner, last)
}
