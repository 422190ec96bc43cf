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

// Gradient is NumPy's gradient along one axis, of elements that are spacing apart: half the
// difference of both neighbours, at the ends the difference of the one, or with edge order 2
// the slope there of the parabola through three elements. Integers are computed in float64.
// It is part of whatever reads it.
func Gradient(site graph.Site, n *graph.Node, spacing float64, axis, edgeOrder int) (*graph.Node, error) {
	out, err := gradient(site, n, spacing, axis, edgeOrder)
	if err != nil {
		return nil, graph.Reject(site, "gradient", err, n)
	}
	return out, nil
}

func gradient(site graph.Site, n *graph.Node, spacing float64, axis, edgeOrder int) (*graph.Node, error) {
	axis, err := slopes(n, axis, edgeOrder)
	if err != nil {
		return nil, err
	}
	m := &compose.Maker{Site: site}
	if n.DType.Integer() {
		n = m.Cast(n, dtype.Float64)
	}
	length := n.Shape[axis]
	// over is the difference of two ranges of one length, over a distance.
	over := func(after, before, count int, distance float64) *graph.Node {
		difference := m.Apply(kernel.Subtract, m.Part(n, axis, after, after+count), m.Part(n, axis, before, before+count))
		return m.Apply(kernel.Divide, difference, m.Number(distance))
	}
	first, last := over(1, 0, 1, spacing), over(length-1, length-2, 1, spacing)
	if edgeOrder == 2 {
		first = weighted(m, n, axis, 0, m.Number(-1.5/spacing), m.Number(2/spacing), m.Number(-0.5/spacing))
		last = weighted(m, n, axis, length-3, m.Number(0.5/spacing), m.Number(-2/spacing), m.Number(1.5/spacing))
	}
	inner := over(2, 0, length-2, 2*spacing)
	return m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, axis, first, inner, last) }), m.Err
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
func weighted(m *compose.Maker, n *graph.Node, axis, from int, weights ...*graph.Node) (sum *graph.Node) {
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
