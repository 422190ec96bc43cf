package label

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// SortByArgs are the arguments of sortby.
type SortByArgs struct {
	X          *graph.Node
	Dim        string `usage:"lat"`
	Descending bool
	Read       op.Labels
}

// SortBy is an array in the order of the labels of a dimension; equal ones stay in their order.
func SortBy(site graph.Site, a SortByArgs) (*graph.Node, error) {
	v, g, _, err := labelsOf(site, a.X, a.Dim, a.Read)
	if err != nil {
		return nil, graph.Reject(site, "sortby", err, a.X)
	}
	list := g.Of // of as many places
	for i := range list {
		list[i] = int64(i)
	}
	slices.SortStableFunc(list, func(i, k int64) int {
		c := v.compare(int(i), v, int(k))
		if a.Descending {
			c = -c
		}
		return c
	})
	m := &graph.Maker{Site: site}
	at := m.Bytes(dtype.Bytes(list), dtype.Int64, len(list))
	out := m.Make(func() (*graph.Node, error) { return index.Take(site, a.X, at, g.Axis) })
	return m.Result("sortby", out, a.X)
}

// ReindexArgs are the arguments of reindex.
type ReindexArgs struct {
	X      *graph.Node
	Dim    string `usage:"lat"`
	Labels *graph.Node
	Near   bool
	Read   op.Labels
}

// Reindex is an array at other labels of a dimension: what stands at an equal one, or at the nearest, and NaN where there is none;
// integers become float64 for that, as xarray's do.
func Reindex(site graph.Site, a ReindexArgs) (*graph.Node, error) {
	out, err := reindexed(&graph.Maker{Site: site}, a)
	return graph.Result(site, "reindex", out, graph.Unnamed(err), a.X, a.Labels)
}

func reindexed(m *graph.Maker, a ReindexArgs) (*graph.Node, error) {
	if len(a.Labels.Shape) != 1 {
		return nil, errors.New("labels are an array of one dimension")
	}
	v, g, _, err := labelsOf(m.Site, a.X, a.Dim, a.Read)
	if err != nil {
		return nil, err
	}
	of, err := newFinder(m.Site, a.Read).values(a.Labels)
	switch {
	case err != nil:
		return nil, err
	case (v.dates == nil) != (of.dates == nil):
		return nil, fmt.Errorf("the labels along %q are %s, and the others are not", a.Dim, map[bool]string{true: "numbers", false: "dates"}[v.dates == nil])
	}
	if err := v.counts(of, a.Dim); err != nil {
		return nil, err
	}
	if i := v.repeats(); i >= 0 {
		return nil, fmt.Errorf("the label %s along %q stands at several places", v.text(i), a.Dim)
	}
	list, absent := make([]int64, of.len()), make([]byte, of.len())
	for k := range list {
		list[k] = int64(v.find(of, k, a.Near))
		if list[k] < 0 {
			list[k], absent[k] = 0, 1
		}
	}
	x := a.X
	if !slices.Contains(absent, 1) {
		at := m.Bytes(dtype.Bytes(list), dtype.Int64, len(list))
		x = m.Make(func() (*graph.Node, error) { return index.Take(m.Site, x, at, g.Axis) })
	} else {
		if x.DType.Kind() < dtype.KindFloat {
			x = m.Cast(x, dtype.Float64)
		}
		missing := m.Along(m.Bytes(absent, dtype.Bool, len(absent)), g.Axis, len(x.Shape))
		if v.len() == 0 {
			lengths := slices.Clone(x.Shape)
			lengths[g.Axis] = len(list)
			x = m.Full(dtype.FromFloat(x.DType, math.NaN()), lengths...)
		} else {
			at := m.Bytes(dtype.Bytes(list), dtype.Int64, len(list))
			x = m.Apply(kernel.Where, missing, m.Number(math.NaN()), m.Make(func() (*graph.Node, error) { return index.Take(m.Site, x, at, g.Axis) }))
		}
	}
	if m.Err != nil {
		return nil, m.Err
	}
	named := *a.Labels
	named.Labels = a.Dim
	after := graph.AllAxes(a.X)
	after[g.Axis] = graph.Axis{Of: &named}
	return graph.NameAxes(x, after...), nil
}

// repeats is the place of a label that stands at another too; -1 where there is none.
func (v *values) repeats() int {
	order := grid.UpTo(v.len())
	slices.SortFunc(order, func(i, k int) int { return v.compare(i, v, k) })
	for i := 1; i < len(order); i++ {
		if v.compare(order[i-1], v, order[i]) == 0 {
			return order[i]
		}
	}
	return -1
}

// find is the place of label k of others, or of the nearest; -1 where there is none.
func (v *values) find(of *values, k int, near bool) int {
	if near && v.len() > 0 && v.names == nil {
		key := &values{of: of.of}
		if of.dates != nil {
			key.dates, key.ints = of.dates[k:k+1], []int64{0}
		} else {
			key.floats = []float64{of.number(k)}
		}
		return v.closest(key)
	}
	for i := range v.len() {
		if v.compare(i, of, k) == 0 {
			return i
		}
	}
	return -1
}

// ShiftArgs are the arguments of shift.
type ShiftArgs struct {
	X   *graph.Node
	Dim string `usage:"time"`
	By  int
}

// Shift moves elements along a dimension by so many places, later ones for positive numbers: labels stay, and NaN stands where nothing comes
// from. Integers become float64 for that.
func Shift(site graph.Site, a ShiftArgs) (*graph.Node, error) {
	d, err := a.X.NamedAxis(a.Dim)
	if err != nil {
		return nil, graph.Reject(site, "shift", err, a.X)
	}
	m := &graph.Maker{Site: site}
	x := a.X
	if x.DType.Kind() < dtype.KindFloat && a.By != 0 {
		x = m.Cast(x, dtype.Float64)
	}
	length := x.Shape[d]
	by := min(max(a.By, -length), length)
	lengths := slices.Clone(x.Shape)
	lengths[d] = max(by, -by)
	nan := dtype.FromFloat(x.DType, math.NaN())
	if x.DType.Kind() == dtype.KindComplex {
		nan = dtype.FromComplex(x.DType, complex(math.NaN(), math.NaN()))
	}
	parts := []*graph.Node{m.Full(nan, lengths...), m.Part(x, d, max(-by, 0), length-max(by, 0))}
	if by < 0 {
		slices.Reverse(parts)
	}
	out := x
	if by != 0 {
		out = m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, d, parts...) })
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "shift", graph.Unnamed(m.Err), a.X)
	}
	return graph.NameAxes(out, graph.AllAxes(a.X)...), nil
}

// ExtremeArgs are the arguments of idxmax and idxmin.
type ExtremeArgs struct {
	Max  bool `usage:"-"`
	X    *graph.Node
	Dim  string `usage:"time"`
	Read op.Labels
}

// Extreme is the label at which the largest or the smallest element along a dimension stands, the first of equals. NaN does not count;
// where there is nothing else the label is NaN, and of labels that are integers the last of int64.
func Extreme(site graph.Site, a ExtremeArgs) (*graph.Node, error) {
	name, kind, end := "idxmin", kernel.ArgMin, math.Inf(1)
	if a.Max {
		name, kind, end = "idxmax", kernel.ArgMax, math.Inf(-1)
	}
	c, d, err := coordinateOf(site, a.X, a.Dim, a.Read)
	if err != nil {
		return nil, graph.Reject(site, name, err, a.X)
	}
	m := &graph.Maker{Site: site}
	x := a.X
	floats := x.DType.Kind() == dtype.KindFloat
	if floats {
		x = m.Apply(kernel.Where, m.Apply(kernel.IsNaN, x), m.Number(end), x)
	}
	along := graph.ReduceOptions{Axes: []int{d}}
	at := m.Reduce(kind, x, along)
	out := m.Make(func() (*graph.Node, error) { return index.Take(site, c, at, 0) })
	if floats {
		none := m.Reduce(kernel.All, m.Apply(kernel.IsNaN, a.X), along)
		missing := m.Full(dtype.FromInt(out.DType, math.MinInt64))
		if out.DType.Kind() == dtype.KindFloat {
			missing = m.Number(math.NaN())
		}
		out = m.Apply(kernel.Where, none, missing, out)
	}
	if m.Err != nil {
		return nil, graph.Reject(site, name, graph.Unnamed(m.Err), a.X)
	}
	axes := graph.AllAxes(a.X)
	return graph.NameAxes(out, slices.Delete(axes, d, d+1)...), nil
}

// coordinateOf is what labels a dimension, and its axis.
func coordinateOf(site graph.Site, n *graph.Node, dim string, read op.Labels) (*graph.Node, int, error) {
	d, err := n.NamedAxis(dim)
	if err != nil {
		return nil, 0, err
	}
	c, err := newFinder(site, read).along(n, d)
	if err == nil && c == nil {
		err = noLabels(dim)
	}
	return c, d, err
}
