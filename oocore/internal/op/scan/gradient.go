package scan

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
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
