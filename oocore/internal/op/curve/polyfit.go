package curve

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
)

// Vander is NumPy's vander.
func Vander(site graph.Site, a VanderArgs) (*graph.Node, error) {
	if len(a.X.Shape) != 1 {
		return nil, graph.Reject(site, "vander", fmt.Errorf("takes a vector, not an array of shape %s", grid.Format(a.X.Shape)), a.X)
	}
	if a.N < 0 {
		a.N = a.X.Shape[0]
	}
	m := &graph.Maker{Site: site}
	x := m.Cast(a.X, dtype.Promote(a.X.DType, dtype.Int64))
	return m.Result("vander", powers(m, x, a.N, a.Increasing), a.X)
}

// powers are the first n of a vector, as rows.
func powers(m *graph.Maker, x *graph.Node, n int, increasing bool) *graph.Node {
	power := m.Arange(n)
	if !increasing {
		power = m.Slice(power, "::-1")
	}
	return m.Apply(kernel.Power, m.ExpandDims(x, 1), m.Cast(power, x.DType))
}

// PolyFit is NumPy's polyfit, by lstsq of powers that are scaled to length one. With more axes of y than one
// the others are as if flattened.
func PolyFit(site graph.Site, a PolyFitArgs) (*graph.Node, error) {
	x, y := a.X, a.Y
	var err error
	switch {
	case len(x.Shape) != 1 || len(y.Shape) == 0 || x.Shape[0] != y.Shape[0]:
		err = fmt.Errorf("takes a vector of places and as many elements along the first axis of y, not shapes %s and %s", grid.Format(x.Shape), grid.Format(y.Shape))
	case x.Shape[0] == 0:
		err = fmt.Errorf("takes one place at least")
	case isComplex(x):
		err = errComplex
	case a.Deg < 0 || a.Deg >= most:
		err = fmt.Errorf("takes a degree from 0 to %d, not %d", most-1, a.Deg)
	case a.W != nil && (len(a.W.Shape) != 1 || a.W.Shape[0] != x.Shape[0]):
		err = fmt.Errorf("weights of shape %s are not for %d places", grid.Format(a.W.Shape), x.Shape[0])
	}
	if err != nil {
		return nil, graph.Reject(site, "polyfit", err, x, y)
	}
	m := &graph.Maker{Site: site}
	wide := dtype.Float64
	if isComplex(y) {
		wide = dtype.Complex128
	}
	left, right := powers(m, m.Cast(x, dtype.Float64), a.Deg+1, false), m.Cast(y, wide)
	if len(y.Shape) > 1 {
		right = m.Reshape(right, y.Shape[0], -1)
	}
	if a.W != nil {
		w := m.Cast(a.W, dtype.Float64)
		left = m.Apply(kernel.Multiply, left, m.ExpandDims(w, 1))
		right = m.Apply(kernel.Multiply, right, m.Along(w, 0, min(len(y.Shape), 2)))
	}
	length := m.Apply(kernel.Sqrt, m.Reduce(kernel.Sum, m.Apply(kernel.Square, left), graph.ReduceOptions{Axes: []int{0}}))
	left = m.Apply(kernel.Divide, left, length)
	c := m.Make(func() (*graph.Node, error) {
		out, err := linalg.Lstsq(site, left, right, float64(x.Shape[0])*0x1p-52)
		return out.X, err
	})
	c = m.Apply(kernel.Divide, c, m.Along(length, 0, min(len(y.Shape), 2)))
	out, err := m.Result("polyfit", m.Reshape(c, append([]int{a.Deg + 1}, y.Shape[1:]...)...), x, y)
	if err != nil {
		return nil, err
	}
	out = graph.WriteAs(out, "polyfit", []*graph.Node{x, y}, strconv.Itoa(a.Deg))
	return graph.NameAxes(out, slices.Concat([]graph.Axis{{}}, graph.AllAxes(y)[1:])...), nil
}
