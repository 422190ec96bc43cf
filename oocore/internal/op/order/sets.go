package order

import (
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Intersect is NumPy's intersect1d: what is distinct in one array and is in the other too.
func Intersect(site graph.Site, a op.Counting2) (*graph.Node, error) {
	return distinctWithin(site, "intersect1d", a, false)
}

// Difference is NumPy's setdiff1d: what is distinct in one array and is not in the other.
func Difference(site graph.Site, a op.Counting2) (*graph.Node, error) {
	return distinctWithin(site, "setdiff1d", a, true)
}

// SymmetricDifference is NumPy's setxor1d: what is distinct in one of two arrays alone.
func SymmetricDifference(site graph.Site, a op.Counting2) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	only := func(x, y *graph.Node) *graph.Node {
		return m.Make(func() (*graph.Node, error) {
			return distinctWithin(site, "setxor1d", op.Counting2{A: x, B: y, Run: a.Run}, true)
		})
	}
	both := m.Make(func() (*graph.Node, error) { return Union(site, only(a.A, a.B), only(a.B, a.A)) })
	return m.Result("setxor1d", graph.Call(m, Sort, SortArgs{X: both, Axis: 0}), a.A, a.B)
}

// distinctWithin is what is distinct in a, in the type in which both arrays meet, and is in b, or is not.
func distinctWithin(site graph.Site, name string, of op.Counting2, invert bool) (*graph.Node, error) {
	t := dtype.Promote(of.A.DType, of.B.DType)
	m := &graph.Maker{Site: site}
	distinct := graph.Call(m, BuildUnique, op.Counting{X: m.Cast(of.A, t), Run: of.Run})
	in := graph.Call(m, IsIn, IsInArgs{X: distinct, List: m.Reshape(m.Cast(of.B, t), -1), Invert: invert})
	return m.Result(name, graph.Call(m, index.BooleanMask, op.Counting2{A: distinct, B: in, Run: of.Run}), of.A, of.B)
}

// Lexsort is NumPy's lexsort along the last axis: positions in the order of the last key, of equal ones in that of the one before, and so on.
func Lexsort(site graph.Site, a LexsortArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	var at *graph.Node
	for _, key := range a.Keys {
		if !slices.Equal(key.Shape, a.Keys[0].Shape) || len(key.Shape) == 0 {
			return nil, graph.Reject(site, "lexsort", fmt.Errorf("takes keys of one shape with a dimension or more, not %s and %s", grid.Format(a.Keys[0].Shape), grid.Format(key.Shape)), a.Keys...)
		}
		if at != nil {
			key = takeAlong(m, key, at, -1)
		}
		order := graph.Call(m, Argsort, SortArgs{X: key, Axis: -1})
		if at != nil {
			order = takeAlong(m, at, order, -1)
		}
		at = order
	}
	return m.Result("lexsort", at, a.Keys...)
}

func takeAlong(m *graph.Maker, n, at *graph.Node, axis int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return index.TakeAlong(m.Site, n, at, axis) })
}

// Partition is NumPy's partition. All elements are put in their order, which is one of the orders that it may return.
func Partition(site graph.Site, a PartitionArgs) (*graph.Node, error) {
	if err := a.check(); err != nil {
		return nil, graph.Reject(site, "partition", err, a.X)
	}
	return Sort(site, SortArgs{X: a.X, Axis: a.Axis})
}

// ArgPartition is NumPy's argpartition, as Partition.
func ArgPartition(site graph.Site, a PartitionArgs) (*graph.Node, error) {
	if err := a.check(); err != nil {
		return nil, graph.Reject(site, "argpartition", err, a.X)
	}
	return Argsort(site, SortArgs{X: a.X, Axis: a.Axis})
}

func (a PartitionArgs) check() error {
	axis, err := grid.Axis(a.Axis, len(a.X.Shape))
	if n := append(a.X.Shape, 0)[axis]; err == nil && (a.Kth < -n || a.Kth >= n) {
		return fmt.Errorf("there is no element %d of %d along axis %d", a.Kth, n, axis)
	}
	return err
}

// RankData is scipy.stats' rankdata: of the sorted elements each run of equal ones has a first and a last place, which two scans
// bring to all of it, and the ranks go back to where the elements were.
func RankData(site graph.Site, a RankArgs) (*graph.Node, error) {
	x, axis, err := shape.Along(site, a.X, a.Axis)
	if err == nil {
		axis, err = grid.Axis(axis, len(x.Shape))
	}
	if err == nil && x.DType.Kind() == dtype.KindComplex {
		err = fmt.Errorf("takes real numbers")
	}
	if err != nil {
		return nil, graph.Reject(site, "rankdata", err, a.X)
	}
	wide := dtype.Float64
	if a.Method != "average" {
		wide = dtype.Int64
	}
	n := x.Shape[axis]
	m := &graph.Maker{Site: site}
	if n == 0 || grid.Size(x.Shape) == 0 {
		if x.DType.Kind() == dtype.KindFloat {
			wide = dtype.Float64
		}
		return m.Full(dtype.FromInt(wide, 0), x.Shape...), m.Err
	}
	if x.DType == dtype.Bool {
		x = m.Cast(x, dtype.Uint8)
	}
	at := graph.Call(m, Argsort, SortArgs{X: x, Axis: axis})
	sorted := takeAlong(m, x, at, axis)
	place := m.BroadcastTo(m.Along(m.Arange(n), axis, len(x.Shape)), x.Shape...)
	differs := m.Apply(kernel.NotEqual, m.Part(sorted, axis, 1, n), m.Part(sorted, axis, 0, n-1))
	edge := slices.Clone(x.Shape)
	edge[axis] = 1
	end := m.Full(dtype.ValueOf(true), edge...)
	beside := func(parts ...*graph.Node) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, axis, parts...) })
	}
	begins := beside(end, differs)
	first := func() *graph.Node {
		return graph.Call(m, scan.MaximumAccumulate, scan.CumulativeArgs{X: m.Apply(kernel.Where, begins, place, m.Number(0)), Axis: []int{axis}})
	}
	turned := func(n *graph.Node) *graph.Node {
		return graph.Call(m, shape.Flip, op.Axes{X: n, Axes: []int{axis}})
	}
	last := func() *graph.Node {
		ends := turned(m.Apply(kernel.Where, beside(differs, end), place, m.Number(n-1)))
		return turned(graph.Call(m, scan.MinimumAccumulate, scan.CumulativeArgs{X: ends, Axis: []int{axis}}))
	}
	var rank *graph.Node
	switch one := m.Number(1); a.Method {
	case "min":
		rank = m.Apply(kernel.Add, first(), one)
	case "max":
		rank = m.Apply(kernel.Add, last(), one)
	case "ordinal":
		rank = m.Apply(kernel.Add, place, one)
	case "dense":
		rank = m.Make(func() (*graph.Node, error) {
			return scan.Cumulative(site, "rankdata", false, m.Cast(begins, dtype.Int64), axis)
		})
	default:
		rank = m.Apply(kernel.Add, m.Apply(kernel.Divide, m.Apply(kernel.Add, first(), last()), m.Number(2)), one)
	}
	back := graph.Call(m, Argsort, SortArgs{X: at, Axis: axis})
	out := m.Cast(takeAlong(m, rank, back, axis), wide)
	if x.DType.Kind() == dtype.KindFloat { // SciPy's nan_policy is to propagate
		bad := m.Reduce(kernel.Any, m.Apply(kernel.IsNaN, x), graph.ReduceOptions{Axes: []int{axis}, KeepDims: true})
		out = m.Apply(kernel.Where, bad, m.Full(dtype.ValueOf(math.NaN())), m.Cast(out, dtype.Float64))
	}
	return m.Result("rankdata", m.Like(out, x), a.X)
}

// SpearmanR is the statistic of scipy.stats' spearmanr of two arrays of one shape, as if flattened: the correlation of their ranks.
func SpearmanR(site graph.Site, a op.Binary) (*graph.Node, error) {
	if n := grid.Size(a.A.Shape); n != grid.Size(a.B.Shape) || n < 2 {
		return nil, graph.Reject(site, "spearmanr", fmt.Errorf("takes two arrays of as many elements, two or more, not of shapes %s and %s", grid.Format(a.A.Shape), grid.Format(a.B.Shape)), a.A, a.B)
	}
	m := &graph.Maker{Site: site}
	from := func(x *graph.Node) *graph.Node { // ranks have a mean that is known
		rank := graph.Call(m, RankData, RankArgs{X: x, Method: "average"})
		return m.Apply(kernel.Subtract, rank, m.Number(float64(grid.Size(x.Shape)+1)/2))
	}
	x, y := from(a.A), from(a.B)
	sum := func(x, y *graph.Node) *graph.Node {
		return m.Reduce(kernel.Sum, m.Apply(kernel.Multiply, x, y), graph.ReduceOptions{})
	}
	spread := m.Apply(kernel.Multiply, m.Apply(kernel.Sqrt, sum(x, x)), m.Apply(kernel.Sqrt, sum(y, y)))
	return m.Result("spearmanr", m.Apply(kernel.Divide, sum(x, y), spread), a.A, a.B)
}

// IsIn is which elements are equal to one of a list, or to none, which may have any shape, as NumPy's
// isin: NaN is equal to none. Each is looked up in the sorted list.
func IsIn(site graph.Site, a IsInArgs) (_ *graph.Node, err error) {
	n, list := a.X, a.List
	defer graph.Named(&err, site, "isin", n, list)
	m := &graph.Maker{Site: site}
	size := grid.Size(list.Shape)
	if size == 0 {
		return m.Full(dtype.ValueOf(a.Invert), n.Shape...), m.Err
	}
	// In the type that the two meet in, so that what the list is sorted by is also what
	// elements are compared by.
	t := dtype.Promote(n.DType, list.DType)
	n, list = m.Cast(n, t), m.Cast(m.Reshape(list, -1), t)
	list = graph.Call(m, Sort, SortArgs{X: list, Axis: 0})
	at := m.Make(func() (*graph.Node, error) { return SearchSorted(site, list, n, false) })
	at = m.Apply(kernel.Minimum, at, m.Number(size-1)) // larger than all
	found := m.Make(func() (*graph.Node, error) { return index.Take(site, list, at, 0) })
	found = m.Apply(kernel.Equal, found, n)
	if a.Invert {
		found = m.Apply(kernel.LogicalNot, found)
	}
	return found, m.Err
}
