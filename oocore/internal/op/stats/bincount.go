package stats

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Bincount is NumPy's: how often each integer from zero on is there, or what those
// elements weigh. The result goes up to the largest element, and has minlength at the
// least: run computes that element, in a pass of its own.
func Bincount(site graph.Site, a BincountArgs) (_ *graph.Node, err error) {
	run, n, weights, minlength := a.Run, a.X, a.Weights, a.MinLength
	defer graph.Named(&err, site, "bincount", n)
	switch {
	case len(n.Shape) != 1:
		return nil, fmt.Errorf("takes a list, not an array of shape %s: Reshape(-1) first", grid.Format(n.Shape))
	case n.DType == dtype.Uint64 || n.DType.Kind() >= dtype.KindFloat:
		return nil, fmt.Errorf("takes integers that int64 holds, not %s: AsType first", n.DType)
	case minlength < 0:
		return nil, fmt.Errorf("a length of %d is negative", minlength)
	case weights != nil && !slices.Equal(weights.Shape, n.Shape):
		return nil, fmt.Errorf("weights of shape %s are not those of elements of shape %s", grid.Format(weights.Shape), grid.Format(n.Shape))
	case weights != nil && weights.DType.Kind() == dtype.KindComplex:
		return nil, fmt.Errorf("weights are real numbers, not %s", weights.DType)
	}
	if n.Shape[0] == 0 { // NumPy's are int64 then, with weights too
		return graph.Full(site, dtype.FromInt(dtype.Int64, 0), minlength)
	}
	m := &graph.Maker{Site: site}
	n = m.Cast(n, dtype.Int64)
	if weights != nil {
		weights = m.Cast(weights, dtype.Float64)
	}
	ends, err := ends(m, n, run)
	if err != nil {
		return nil, err
	}
	if ends[0] < 0 {
		return nil, fmt.Errorf("counts numbers from zero on, and there is a %d", ends[0])
	}
	if err := grid.Check([]int{int(ends[1])}, 8); err != nil {
		return nil, err
	}
	bins := max(minlength, int(ends[1])+1)
	return Count{Bins: []int{bins}}.weighed(m, "bincount", []*graph.Node{n}, nil, weights)
}

// ends are the smallest and the largest element.
func ends(m *graph.Maker, n *graph.Node, run op.Run) ([]int64, error) {
	var both []*graph.Node
	for _, kind := range []kernel.Reduction{kernel.Min, kernel.Max} {
		both = append(both, m.Reduce(kind, n, graph.ReduceOptions{KeepDims: true}))
	}
	joined := m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, 0, both...) })
	if m.Err != nil {
		return nil, m.Err
	}
	return run(joined)
}
