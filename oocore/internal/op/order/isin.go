package order

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
)

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
	list = m.Make(func() (*graph.Node, error) { return Sort(site, SortArgs{X: list, Axis: 0}) })
	at := m.Make(func() (*graph.Node, error) { return SearchSorted(site, list, n, false) })
	at = m.Apply(kernel.Minimum, at, m.Number(size-1)) // larger than all
	found := m.Make(func() (*graph.Node, error) { return index.Take(site, list, at, 0) })
	found = m.Apply(kernel.Equal, found, n)
	if a.Invert {
		found = m.Apply(kernel.LogicalNot, found)
	}
	return found, m.Err
}
