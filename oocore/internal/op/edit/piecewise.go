package edit

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
)

// Piecewise is NumPy's piecewise, of functions that are computed: of each element of the array
// the value of the last condition that is true, and where none is that of one more value,
// or zero. Values take the array's type. It is part of whatever reads it.
func Piecewise(site graph.Site, n *graph.Node, conditions, values []*graph.Node) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "piecewise", slices.Concat([]*graph.Node{n}, conditions, values)...)
	m := &graph.Maker{Site: site}
	more := len(values) - len(conditions)
	if len(conditions) == 0 || more != 0 && more != 1 {
		return nil, fmt.Errorf("%d values are not for %d conditions: each has one, and one more is for the other elements", len(values), len(conditions))
	}
	fitting := func(value *graph.Node) *graph.Node {
		if _, err := grid.BroadcastTo(value.Shape, n.Shape); m.Err == nil && err != nil {
			m.Err = fmt.Errorf("a value of shape %s does not broadcast to shape %s", grid.Format(value.Shape), grid.Format(n.Shape))
		}
		value = m.Make(func() (*graph.Node, error) { return index.Fitting(m.Site, value, n.DType) })
		return m.Make(func() (*graph.Node, error) { return graph.BroadcastTo(m.Site, value, n.Shape...) })
	}
	out := m.Full(dtype.FromInt(n.DType, 0), n.Shape...)
	if more == 1 {
		out = fitting(values[len(conditions)])
	}
	for i, condition := range conditions {
		if condition.DType != dtype.Bool || !slices.Equal(condition.Shape, n.Shape) && len(condition.Shape) > 0 {
			return nil, fmt.Errorf("condition %d is %s of shape %s, not a bool for each element", i, condition.DType, grid.Format(condition.Shape))
		}
		out = m.Apply(kernel.Where, condition, fitting(values[i]), out)
	}
	return out, m.Err
}
