package group

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// skippingNaN reduces what is not NaN by part, which reduces by the name of a reduction that knows no NaN: sum, prod, mean, min or
// max. What has no more numbers than ddof is 0 for a sum, 1 for a product and NaN for all others. known says of a result where it is NaN for
// that. It returns nil for other names.
func skippingNaN(m *graph.Maker, r string, n *graph.Node, ddof float64, part func(r string, n *graph.Node) *graph.Node) (out *graph.Node, count func() *graph.Node, known func(n *graph.Node) *graph.Node) {
	absent := m.Apply(kernel.IsNaN, n)
	present := func(neutral float64) *graph.Node {
		fill := dtype.FromFloat(n.DType, neutral)
		if n.DType.Kind() == dtype.KindComplex {
			fill = dtype.FromComplex(n.DType, complex(neutral, 0))
		}
		return m.Apply(kernel.Where, absent, m.Full(fill), n)
	}
	count = func() *graph.Node { return part("sum", m.Cast(m.Apply(kernel.LogicalNot, absent), dtype.Float64)) }
	known = func(n *graph.Node) *graph.Node {
		return m.Apply(kernel.Where, m.Apply(kernel.LessEqual, count(), m.Number(ddof)), m.Number(math.NaN()), n)
	}
	switch r {
	case "sum":
		out = part(r, present(0))
	case "prod":
		out = part(r, present(1))
	case "mean":
		out = m.Cast(m.Apply(kernel.Divide, part("sum", m.Cast(present(0), accumulator(n.DType))), count()), n.DType)
	case "min":
		out = known(part(r, present(math.Inf(1))))
	case "max":
		out = known(part(r, present(math.Inf(-1))))
	}
	return out, count, known
}

// withoutNaN reduces what is not NaN in each group, with the accumulators of the reductions that know no NaN. A variance takes
// the mean first: two passes.
func (l Labels) withoutNaN(m *graph.Maker, r string, n *graph.Node, ddof float64) (*graph.Node, error) {
	if r == "prod" { // which has no accumulators
		return l.bySize(m, "nan"+r, n, ddof)
	}
	out, count, known := skippingNaN(m, r, n, ddof, func(r string, n *graph.Node) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return reduce(m, r, n, l, 0) })
	})
	switch {
	case out != nil:
		return out, m.Err
	case r != "var" && r != "std" || n.DType.Kind() == dtype.KindComplex: // as without NaN
		return l.bySize(m, "nan"+r, n, ddof)
	}
	wide := m.Cast(n, dtype.Float64)
	mean := m.Make(func() (*graph.Node, error) { return l.withoutNaN(m, "mean", wide, 0) })
	d := m.Apply(kernel.Subtract, wide, m.Make(func() (*graph.Node, error) { return Spread(m.Site, mean, wide, l) }))
	squares := m.Make(func() (*graph.Node, error) { return l.withoutNaN(m, "sum", m.Apply(kernel.Multiply, d, d), 0) })
	v := known(m.Apply(kernel.Divide, squares, m.Apply(kernel.Subtract, count(), m.Number(ddof))))
	if r == "std" {
		v = m.Apply(kernel.Sqrt, v)
	}
	return m.Cast(v, n.DType), m.Err
}

// mostSizes is how many sizes groups may have that are reduced as wholes: each is an operation of its own.
const mostSizes = 256

// bySize reduces whole groups, those of equal size together: their elements are taken to lie behind each other. So groups are
// reduced by any reduction of an axis, to its bits. It asks for the labels' values.
func (l Labels) bySize(m *graph.Maker, r string, n *graph.Node, ddof float64) (*graph.Node, error) {
	if _, _, ok := kindOf(r); !ok && r != "median" && r != "nanmedian" {
		return nil, noReduction(r, "count", "first", "last")
	}
	of, err := l.places()
	if err != nil {
		return nil, err
	}
	places := make([][]int64, l.Groups)
	for i, g := range of {
		if g < 0 || g >= int64(l.Groups) {
			return nil, fmt.Errorf("label %d at position %d is out of bounds for %d groups, which are numbered from 0", g, i, l.Groups)
		}
		places[g] = append(places[g], int64(i))
	}
	sizes := map[int][]int64{} // groups, by how many places they have
	for g, p := range places {
		sizes[len(p)] = append(sizes[len(p)], int64(g))
	}
	if len(sizes) > mostSizes {
		return nil, fmt.Errorf("%s of groups of %d different sizes are more than the %d that it takes: sum, mean, var, std, min, max, count, first and last take any", r, len(sizes), mostSizes)
	}
	var parts []*graph.Node
	at := make([]int64, l.Groups) // of each group among the parts
	done := 0
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		var list []int64
		for _, g := range sizes[size] {
			at[g] = int64(done)
			done++
			list = append(list, places[g]...)
		}
		lengths := slices.Insert(slices.Clone(n.Shape), l.Axis+1, size)
		lengths[l.Axis] = len(sizes[size])
		taken := m.Full(dtype.FromInt(n.DType, 0), lengths...)
		if size > 0 {
			taken = l.take(m, n, list, lengths[l.Axis:l.Axis+2]...)
		}
		parts = append(parts, m.Make(func() (*graph.Node, error) { return Named(m.Site, r, taken, []int{l.Axis + 1}, ddof) }))
	}
	joined := parts[0]
	if len(parts) > 1 {
		joined = m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, l.Axis, parts...) })
	}
	if slices.IsSorted(at) {
		return joined, m.Err
	}
	return l.take(m, joined, at, l.Groups), m.Err
}

// take has the places of a list along the axis, in the form of lengths.
func (l Labels) take(m *graph.Maker, n *graph.Node, list []int64, lengths ...int) *graph.Node {
	at := m.Bytes(dtype.Bytes(list), dtype.Int64, lengths...)
	return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, n, at, l.Axis) })
}
