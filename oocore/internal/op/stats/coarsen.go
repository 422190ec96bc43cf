package stats

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Coarsen reduces blocks of so many elements along each axis to one element, as dask.array's
// coarsen. With trim, elements that fill no block at the end of an axis are left out; else
// they are an error.
func Coarsen(site graph.Site, kind kernel.Reduction, n *graph.Node, factors []int, trim bool, ddof float64) (*graph.Node, error) {
	out, err := coarsen(site, kind, n, factors, trim, ddof)
	if err != nil {
		return nil, graph.Reject(site, "coarsen", err, n)
	}
	return graph.NameAxes(out, graph.AllAxes(n)...), nil
}

func coarsen(site graph.Site, kind kernel.Reduction, n *graph.Node, factors []int, trim bool, ddof float64) (*graph.Node, error) {
	switch {
	case kind == kernel.ArgMin || kind == kernel.ArgMax:
		return nil, fmt.Errorf("%v of a block has no one place in the array", kind)
	case len(factors) != len(n.Shape):
		return nil, fmt.Errorf("it has %d axes, and there are %d factors", len(n.Shape), len(factors))
	}
	m := &graph.Maker{Site: site}
	var split, inner []int
	for axis, f := range factors {
		length := n.Shape[axis]
		if f < 1 {
			return nil, fmt.Errorf("the factor %d along axis %d is below one", f, axis)
		}
		if length%f != 0 {
			if !trim {
				return nil, fmt.Errorf("axis %d of %d elements has no whole number of blocks of %d: trim leaves out the rest", axis, length, f)
			}
			n = m.Part(n, axis, 0, length-length%f)
		}
		if f == 1 { // an axis that stays
			split = append(split, length)
			continue
		}
		split = append(split, length/f, f)
		inner = append(inner, len(split)-1)
	}
	return m.Reduce(kind, m.Reshape(n, split...), graph.ReduceOptions{Axes: inner, NoAxes: len(inner) == 0, DDof: ddof}), m.Err
}
