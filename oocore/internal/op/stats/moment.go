package stats

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Moment is SciPy's moment about the mean: the mean of the power of what elements are from
// their mean. Integers are computed in float64. Two passes, the mean first.
func Moment(site graph.Site, a MomentArgs) (*graph.Node, error) {
	n, order, o := a.X, a.Order, graph.ReduceOptions{Axes: a.Axes, KeepDims: a.KeepDims}
	if order < 0 {
		return nil, graph.Reject(site, "moment", fmt.Errorf("the order %d is negative", order), n)
	}
	m := &graph.Maker{Site: site}
	if n.DType.Kind() < dtype.KindFloat {
		n = m.Cast(n, dtype.Float64)
	}
	along := o
	along.KeepDims = true
	from := m.Apply(kernel.Subtract, n, m.Reduce(kernel.Mean, n, along))
	out := m.Reduce(kernel.Mean, m.Apply(kernel.Power, from, m.Number(order)), o)
	if m.Err != nil {
		return nil, graph.Reject(site, "moment", m.Err, n)
	}
	if order < 2 { // exactly
		return m.BroadcastTo(m.Full(dtype.FromInt(out.DType, int64(1-order))), out.Shape...), m.Err
	}
	return out, nil
}
