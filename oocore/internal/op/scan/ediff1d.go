package scan

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// EDiff1D is NumPy's ediff1d: the differences of neighbours of the array as if flattened,
// between elements that stand at its ends; nil for none. They are of the array's kind, or
// one that it has room for.
func EDiff1D(site graph.Site, a EDiff1DArgs) (*graph.Node, error) {
	n, begin, end := a.X, a.ToBegin, a.ToEnd
	if n.DType == dtype.Bool {
		return nil, graph.Reject(site, "ediff1d", fmt.Errorf("bools have no difference: AsType first"), n)
	}
	m := &graph.Maker{Site: site}
	differences := m.Make(func() (*graph.Node, error) { return Diff(site, m.Reshape(n, -1), 1, 0) })
	var joined []*graph.Node
	for _, part := range []*graph.Node{begin, differences, end} {
		if part == nil {
			continue
		}
		if m.Err == nil && part.DType.Kind() > n.DType.Kind() {
			m.Err = fmt.Errorf("an end of %s is not of the kind of %s: AsType first", part.DType, n.DType)
		}
		joined = append(joined, m.Cast(m.Reshape(part, -1), n.DType))
	}
	out := m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, 0, joined...) })
	if m.Err != nil {
		return nil, graph.Reject(site, "ediff1d", m.Err, n)
	}
	return out, nil
}
