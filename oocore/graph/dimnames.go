package graph

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/blockwise"
)

// DimNames returns the names of the node's dimensions, as far as the stored arrays that it
// is computed from agree on them; "" where one has none, and nil where all have none.
func (n *Node) DimNames() []string { return dimNames(n, map[*Node][]string{}) }

// dimNames are the names of a node's dimensions; nil where none has one.
func dimNames(n *Node, known map[*Node][]string) (names []string) {
	if names, ok := known[n]; ok {
		return names
	}
	switch n.Kind {
	case Source:
		if i := &n.Stored.Info; slices.Equal(i.Shape, n.Shape) && len(i.Details.Dims) == len(n.Shape) {
			names = slices.Clone(i.Details.Dims)
		}
	case Cast:
		names = dimNames(n.In[0], known)
	case Elementwise:
		names = agreed(n, known)
	case View:
		if of := dimNames(n.In[0], known); of != nil {
			names = make([]string, len(n.Shape))
			for d, axis := range n.View.Axis {
				if axis >= 0 {
					names[axis] = of[d]
				}
			}
		}
	case Reduce:
		if of := dimNames(n.In[0], known); of != nil {
			names = []string{}
			for d, name := range of {
				if !slices.Contains(n.Fold.Axes, d) {
					names = append(names, name)
				}
			}
		}
	}
	if n.Kind == Blockwise && len(n.In) > 0 {
		if op, ok := n.Blocks.Op.(blockwise.AxisKeeper); ok {
			names = keptNames(n, op.KeptAxes(), dimNames(n.In[0], known))
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		names = nil
	}
	known[n] = names
	return names
}

// agreed are the names that no input of an elementwise operation contradicts.
func agreed(n *Node, known map[*Node][]string) []string {
	names := make([]string, len(n.Shape))
	var contradicted []int
	for _, in := range n.In {
		for d, name := range dimNames(in, known) {
			switch {
			case name == "" || names[d] == name || slices.Contains(contradicted, d):
			case names[d] == "":
				names[d] = name
			default:
				names[d] = ""
				contradicted = append(contradicted, d)
			}
		}
	}
	return names
}

// keptNames are the names of the axes of a result that are those of an input.
func keptNames(n *Node, axes []int, of []string) []string {
	if axes == nil && len(of) == len(n.Shape) {
		return of
	}
	if of == nil || len(axes) != len(n.Shape) {
		return nil
	}
	names := make([]string, len(axes))
	for d, a := range axes {
		if a >= 0 && a < len(of) {
			names[d] = of[a]
		}
	}
	return names
}
