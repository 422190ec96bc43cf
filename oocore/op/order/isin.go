package order

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/index"
)

// IsIn is which elements are equal to one of a list, which may have any shape, as NumPy's
// isin: NaN is equal to none. Each is looked up in the sorted list.
func IsIn(site graph.Site, n, list *graph.Node) (*graph.Node, error) {
	out, err := isIn(site, n, list)
	if err != nil {
		return nil, graph.Reject(site, "isin", err, n, list)
	}
	return out, nil
}

func isIn(site graph.Site, n, list *graph.Node) (*graph.Node, error) {
	list, err := graph.Reshape(site, list, -1)
	if err != nil {
		return nil, err
	}
	if list.Shape[0] == 0 {
		return graph.Full(site, dtype.ValueOf(false), n.Shape...)
	}
	// In the type that the two meet in, so that what the list is sorted by is also what
	// elements are compared by.
	t := dtype.Promote(n.DType, list.DType)
	in := []*graph.Node{n, list}
	for i := range in {
		if in[i], err = graph.AsType(site, in[i], t); err != nil {
			return nil, err
		}
	}
	if list, err = Sort(site, in[1], 0, false); err != nil {
		return nil, err
	}
	at, err := SearchSorted(site, list, in[0], false)
	if err != nil {
		return nil, err
	}
	last, err := graph.Scalar(site, list.Shape[0]-1)
	if err != nil {
		return nil, err
	}
	if at, err = graph.Apply(site, kernel.Minimum, at, last); err != nil { // larger than all
		return nil, err
	}
	found, err := index.Take(site, list, at, 0)
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Equal, found, in[0])
}
