package group

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Labels are which group each place along an axis is in.
type Labels struct {
	Node   *graph.Node // integers from 0 on, one for each place
	Axis   int
	Groups int

	unsigned bool // the labels are uint64, which Node has the bits of
	// coord labels the groups; nil: nothing does.
	coord *graph.Node
	// op and args are what was called for labels that Node was made of: titles have them in the place of Node.
	op   string
	args []string
	// places returns the labels.
	places func() ([]int64, error)
}

// Of are the labels of groups that follow from what labels the array's own dimension, as op was called with args.
func Of(site graph.Site, op string, n *graph.Node, g label.Groups, err error, args ...string) (Labels, error) {
	if err != nil {
		return Labels{}, graph.Reject(site, op, err, n)
	}
	m := &graph.Maker{Site: site}
	node := m.Bytes(dtype.Bytes(g.Of), dtype.Int64, len(g.Of))
	return Labels{Node: node, Axis: g.Axis, Groups: g.Count, coord: g.Coord, op: op, args: args, places: func() ([]int64, error) { return g.Of, nil }}, m.Err
}

// New checks labels of an array. groups is how many there are; with 0 it is one more than
// the largest label, which run computes in a pass.
func New(site graph.Site, n, labels *graph.Node, axis, groups int, run op.Run) (l Labels, err error) {
	defer graph.Renamed(&err, site, "groupby", n, labels)
	if l.Axis, err = grid.Axis(axis, len(n.Shape)); err != nil {
		return l, err
	}
	length := n.Shape[l.Axis]
	switch {
	case !labels.DType.Integer():
		return l, fmt.Errorf("labels are integers, not %s", labels.DType)
	case len(labels.Shape) != 1 || labels.Shape[0] != length:
		return l, fmt.Errorf("labels of shape %s are not one for each of the %d places along axis %d", grid.Format(labels.Shape), length, l.Axis)
	case groups < 0:
		return l, fmt.Errorf("a number of groups of %d is negative", groups)
	}
	l.unsigned = labels.DType == dtype.Uint64
	if l.Node, err = index.Integers(site, labels); err != nil {
		return l, err
	}
	l.places = func() ([]int64, error) { return run(l.Node) }
	if l.Groups = groups; groups > 0 || length == 0 {
		return l, nil
	}
	largest, err := graph.Aggregate(site, kernel.Max, labels, graph.ReduceOptions{})
	if err == nil {
		largest, err = index.Integers(site, largest)
	}
	if err != nil {
		return l, err
	}
	counts, err := run(largest)
	if err != nil {
		return l, err
	}
	if counts[0] < 0 && !l.unsigned {
		return l, fmt.Errorf("label %d is negative: groups are numbered from 0 on", counts[0])
	}
	if uint64(counts[0]) >= 1<<40 {
		return l, fmt.Errorf("label %d would make too many groups: groups are numbered from 0 on", uint64(counts[0]))
	}
	l.Groups = int(counts[0]) + 1
	return l, nil
}

// Reduce reduces the elements of each group, with an axis of the groups in the place of
// that of the labels. A group that has none has a sum and a count of zero, and NaN for all
// else, which of integers is an error when it is computed. Count, first and last look at
// the labels alone, and at one element of each group; a mean is a sum by a count.
func Reduce(site graph.Site, r string, n *graph.Node, l Labels, ddof float64) (*graph.Node, error) {
	out, err := reduce(&graph.Maker{Site: site}, r, n, l, ddof)
	if err != nil {
		return nil, graph.Reject(site, "groupby", graph.Unnamed(err), n, l.Node)
	}
	out = l.written(out, n, r)
	if r == "count" { // a list
		return graph.NameAxes(out, l.axis()), nil
	}
	axes := graph.AllAxes(n)
	axes[l.Axis] = l.axis()
	return graph.NameAxes(out, axes...), nil
}

// written has the title of what was called.
func (l Labels) written(out, n *graph.Node, reduction string) *graph.Node {
	if l.op == "" {
		return graph.WriteAs(out, "groupby", []*graph.Node{n, l.Node}, strconv.Quote(reduction))
	}
	var args []string
	for _, a := range append(l.args, reduction) {
		args = append(args, strconv.Quote(a))
	}
	return graph.WriteAs(out, l.op, []*graph.Node{n}, args...)
}

// axis is that of the groups.
func (l Labels) axis() graph.Axis { return graph.Axis{Of: l.coord} }

// Spread puts what a group was reduced to in the place of each of its elements.
func Spread(site graph.Site, reduced, n *graph.Node, l Labels) (*graph.Node, error) {
	out, err := index.Take(site, reduced, l.Node, l.Axis)
	if err != nil {
		return nil, graph.Reject(site, "groupby", graph.Unnamed(err), n, l.Node)
	}
	return graph.NameAxes(out, graph.AllAxes(n)...), nil
}

func reduce(m *graph.Maker, r string, n *graph.Node, l Labels, ddof float64) (*graph.Node, error) {
	plain, skips := skipsNaN(r, n.DType)
	if spread := plain == "var" || plain == "std"; ddof != 0 && !spread {
		return nil, errors.New("has no use for a ddof, which is var's and std's")
	}
	if err := graph.CheckDDof(ddof); err != nil {
		return nil, err
	}
	length := n.Shape[l.Axis]
	lengths := slices.Clone(n.Shape)
	lengths[l.Axis] = l.Groups
	complexes := n.DType.Kind() == dtype.KindComplex
	t := accumulator(n.DType)
	if grid.Size(lengths) == 0 && l.Groups == 0 {
		empty, err := Named(m.Site, named(r), m.Full(dtype.FromInt(n.DType, 1), 1), []int{0}, 0)
		if err != nil {
			return nil, err
		}
		return m.Full(dtype.FromInt(empty.DType, 0), lengths...), m.Err
	}
	ones := m.Full(dtype.ValueOf(int64(1)), length)
	switch {
	case r == "count":
		return l.reduce(m, kernel.Sum, ones, 0, 0), m.Err
	case skips:
		return l.withoutNaN(m, plain, n, ddof)
	case r == "std":
		v, err := reduce(m, "var", n, l, ddof)
		if err != nil {
			return nil, err
		}
		return m.Apply(kernel.Sqrt, v), m.Err
	case r == "sum":
		return m.Cast(l.reduce(m, kernel.Sum, m.Cast(n, t), l.Axis, 0), kernel.Sum.Result(n.DType)), m.Err
	}
	count := m.Along(l.reduce(m, kernel.Sum, ones, 0, 0), l.Axis, len(n.Shape))
	none := m.Apply(kernel.Equal, count, m.Number(0))
	known := func(out *graph.Node) *graph.Node { // NaN of no elements, or an error
		if m.Err != nil {
			return nil
		}
		if n.DType.Kind() < dtype.KindFloat {
			return m.FailIf(m.BroadcastTo(none, lengths...), out, "a group has no elements, and integers have nothing for that: AsType first, or leave it out")
		}
		nan := dtype.FromFloat(out.DType, math.NaN())
		if complexes {
			nan = dtype.FromComplex(out.DType, complex(math.NaN(), math.NaN()))
		}
		return m.Apply(kernel.Where, none, m.Full(nan), out)
	}
	switch r {
	case "mean":
		if t != dtype.Complex128 {
			t = dtype.Float64
		}
		sum := l.reduce(m, kernel.Sum, m.Cast(n, t), l.Axis, 0)
		return m.Cast(m.Apply(kernel.Divide, sum, m.Cast(count, dtype.Float64)), kernel.Mean.Result(n.DType)), m.Err
	case "var":
		if complexes {
			return nil, errors.New("var takes real numbers: add those of Real and Imag")
		}
		return m.Cast(l.reduce(m, kernel.Var, m.Cast(n, dtype.Float64), l.Axis, ddof), kernel.Var.Result(n.DType)), m.Err
	case "min", "max":
		if complexes {
			return nil, fmt.Errorf("%s takes real numbers, not %s", r, n.DType)
		}
		kind := kernel.Min
		if r == "max" {
			kind = kernel.Max
		}
		return known(m.Cast(l.reduce(m, kind, m.Cast(n, t), l.Axis, 0), n.DType)), m.Err
	case "first", "last":
		kind := kernel.Min
		if r == "last" {
			kind = kernel.Max
		}
		if length == 0 {
			return known(m.Full(dtype.FromInt(n.DType, 0), lengths...)), m.Err
		}
		at := l.reduce(m, kind, m.Arange(length), 0, 0)
		at = m.Apply(kernel.Maximum, m.Apply(kernel.Minimum, at, m.Number(length-1)), m.Number(0))
		return known(m.Make(func() (*graph.Node, error) { return index.Take(m.Site, m.Cast(n, n.DType), at, l.Axis) })), m.Err
	}
	return l.bySize(m, r, n, ddof)
}

// named is a reduction that is not of groups alone.
func named(r string) string {
	if r == "count" || r == "first" || r == "last" {
		return map[bool]string{true: "count_nonzero", false: "max"}[r == "count"]
	}
	return r
}

// accumulator is the type that elements are accumulated in.
func accumulator(t dtype.Type) dtype.Type {
	switch t.Kind() {
	case dtype.KindComplex:
		return dtype.Complex128
	case dtype.KindFloat:
		return dtype.Float64
	case dtype.KindUint:
		return dtype.Uint64
	}
	return dtype.Int64
}

// reduce makes the stages of a reduction along an axis of elements in the accumulators'
// type.
func (l Labels) reduce(m *graph.Maker, kind kernel.Reduction, n *graph.Node, axis int, ddof float64) *graph.Node {
	if m.Err != nil {
		return nil
	}
	g := Grouping{Kind: kind, Type: n.DType, Shape: n.Shape, Axis: axis, Groups: l.Groups, Unsigned: l.unsigned}
	lengths := append([]int{l.Groups}, g.others()...)
	stored := graph.StoredChunks(n)
	columns, byColumns := g.columns(stored, ddof)
	var states *graph.Node
	merged := Merge{Grouping: g, Parts: 1, DDof: ddof}
	switch {
	case grid.Size(lengths) == 0:
		states = nil
	case n.Shape[axis] == 0:
		none := make([]uint64, 1)
		g.clear(none)
		value := dtype.Value{Type: n.DType, Lo: none[0]}
		if kind == kernel.Var {
			value = dtype.ValueOf(math.NaN())
		}
		return atAxis(m, m.Full(value, lengths...), axis)
	case byColumns:
		out := m.Blockwise("groupby", columns, lengths, n.DType, []*graph.Node{n, l.Node}, fmt.Sprintf("%q", kind))
		return atAxis(m, out, axis)
	case g.states() <= mostPasses*stateBytes:
		g.Inside = stored != nil && slices.Equal(slices.Concat(stored[:axis], stored[axis+1:]), g.others())
		parts := newParts(g)
		merged.Parts = parts.shape()[0]
		states = m.Blockwise("groupby", parts, parts.shape(), dtype.Uint64, []*graph.Node{n, l.Node}, fmt.Sprintf("%q", kind))
	default:
		outside := m.Apply(kernel.LogicalOr, m.Apply(kernel.Less, l.Node, m.Number(0)), m.Apply(kernel.GreaterEqual, l.Node, m.Number(l.Groups)))
		labels := m.FailIf(outside, l.Node, fmt.Sprintf("a label is out of bounds for %d groups, which are numbered from 0", l.Groups))
		by := graph.Call(m, order.Argsort, order.SortArgs{X: labels, Axis: 0})
		take := func(n *graph.Node, axis int) *graph.Node {
			return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, n, by, axis) })
		}
		sorted, elements := take(labels, 0), take(n, axis)
		begins := m.Make(func() (*graph.Node, error) {
			return order.SearchSorted(m.Site, sorted, m.Arange(l.Groups+1), false)
		})
		states = m.Make(func() (*graph.Node, error) {
			whole := slices.Concat([]int{1}, lengths, []int{g.words()})
			return graph.NewBlockwise(m.Site, "group_segments", Segments{g}, whole, dtype.Uint64, []*graph.Node{elements, begins}, fmt.Sprintf("%q", kind))
		})
	}
	out := m.Make(func() (*graph.Node, error) {
		if states == nil {
			return graph.Full(m.Site, dtype.FromInt(n.DType, 0), lengths...)
		}
		return graph.NewBlockwise(m.Site, "groupby", merged, lengths, n.DType, []*graph.Node{states}, fmt.Sprintf("%q", kind))
	})
	return atAxis(m, out, axis)
}

// atAxis puts the groups, which are the first axis, to their place.
func atAxis(m *graph.Maker, out *graph.Node, axis int) *graph.Node {
	return graph.Call(m, shape.Move, shape.MoveArgs{X: out, Axes: []int{0}, Places: []int{axis}})
}
