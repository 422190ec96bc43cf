package elements

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// between is NumPy's linspace between arrays: count steps along a new first axis, both
// ends included.
func between(site graph.Site, start, stop *graph.Node, count int) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	shape, err := grid.Broadcast(start.Shape, stop.Shape)
	if err == nil && count < 0 {
		err = fmt.Errorf("a count of %d is negative", count)
	}
	if err != nil {
		return nil, graph.Reject(site, "linspace", err, start, stop)
	}
	t := start.DType
	if start.Weak && !stop.Weak {
		t = stop.DType
	} else if !stop.Weak {
		t = dtype.Promote(t, stop.DType)
	}
	if t.Kind() < dtype.KindFloat {
		t = dtype.Float64
	}
	for _, n := range []*graph.Node{start, stop} {
		if n.DType.Kind() == dtype.KindComplex && t.Kind() < dtype.KindComplex {
			t = dtype.Complex128
		}
	}
	start, stop = m.Cast(start, t), m.Cast(stop, t)
	at := m.Reshape(m.Arange(count), slices.Concat([]int{count}, slices.Repeat([]int{1}, len(shape)))...)
	step := m.Apply(kernel.Divide, m.Apply(kernel.Subtract, stop, start), m.Number(float64(max(count-1, 1))))
	out := m.Apply(kernel.Add, m.Apply(kernel.Multiply, m.Cast(at, t), step), start)
	if count > 1 {
		out = m.Apply(kernel.Where, m.Apply(kernel.Equal, at, m.Number(count-1)), stop, out)
	}
	return m.BroadcastTo(out, slices.Concat([]int{count}, shape)...), m.Err
}
