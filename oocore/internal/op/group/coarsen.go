package group

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// Coarsen reduces blocks of so many elements along each axis to one element, as dask.array's
// coarsen. With trim, elements that fill no block at the end of an axis are left out; else
// they are an error.
func Coarsen(site graph.Site, a CoarsenArgs) (*graph.Node, error) {
	out, err := coarsen(site, a.Reduction, a.X, a.Factors, a.Trim, a.DDof)
	if err != nil {
		return nil, graph.Reject(site, "coarsen", graph.Unnamed(err), a.X)
	}
	return graph.NameAxes(out, graph.AllAxes(a.X)...), nil
}

// CoarsenArgs are the arguments of coarsen.
type CoarsenArgs struct {
	X         *graph.Node
	Reduction string `usage:"mean"`
	Factors   []int  `least:"1"`
	Trim      bool
	DDof      float64 `word:"1"`
}

func coarsen(site graph.Site, name string, n *graph.Node, factors []int, trim bool, ddof float64) (*graph.Node, error) {
	switch {
	case strings.HasSuffix(name, "argmin") || strings.HasSuffix(name, "argmax"):
		return nil, fmt.Errorf("%s of a block has no one place in the array", name)
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
	n = m.Reshape(n, split...)
	return m.Make(func() (*graph.Node, error) { return Named(site, name, n, inner, ddof) }), m.Err
}

// OverAxesArgs are the arguments of apply_over_axes.
type OverAxesArgs struct {
	X         *graph.Node
	Reduction string `usage:"mean"`
	Axes      []int  `least:"1"`
}

// ApplyOverAxes is NumPy's apply_over_axes of a reduction by its name.
func ApplyOverAxes(site graph.Site, a OverAxesArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	out := a.X
	for _, axis := range a.Axes {
		out = m.ExpandDims(m.Make(func() (*graph.Node, error) { return Named(site, a.Reduction, out, []int{axis}, 0) }), axis)
	}
	if m.Err != nil {
		return nil, graph.Reject(site, "apply_over_axes", graph.Unnamed(m.Err), a.X)
	}
	return out, nil
}
