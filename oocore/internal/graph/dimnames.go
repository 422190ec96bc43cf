package graph

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Axis is an axis of a node; the zero value is none.
type Axis struct {
	Of    *Node
	Index int
	// At are the places along it that another axis consists of, integers in one dimension; nil: all, in their order.
	At *Node
}

// AllAxes returns the axes of a node.
func AllAxes(n *Node) []Axis {
	axes := make([]Axis, len(n.Shape))
	for d := range axes {
		axes[d] = Axis{Of: n, Index: d}
	}
	return axes
}

// NameAxes returns the node with the names of other nodes' axes, one for each of its own.
// Functions that are composed of several nodes say so what the axes of their result are. A
// name that two axes would have is left out.
func NameAxes(n *Node, after ...Axis) *Node {
	named := *n
	if n.Kind == Cast { // which others may look through
		named.In = []*Node{NameAxes(n.In[0], after...)}
		return &named
	}
	named.NamedAfter = after
	return &named
}

// named returns out, which is n seen through a view, with what n says of its axes.
func named(out, n *Node, v grid.View) *Node {
	if n.NamedAfter == nil || len(n.NamedAfter) != len(v.Axis) {
		return out
	}
	after := make([]Axis, len(v.Shape))
	for d, axis := range v.Axis {
		if axis >= 0 {
			after[axis] = n.NamedAfter[d].through(v, d)
		}
	}
	return NameAxes(out, after...)
}

// through is an axis, of which array axis d of a view consists, as that view shows it.
func (a Axis) through(v grid.View, d int) Axis {
	length := v.Shape[v.Axis[d]]
	switch {
	case a.Of == nil || v.Start[d] == 0 && v.Step[d] == 1 && (a.At != nil && a.At.Shape[0] == length || a.At == nil && a.Of.Shape[a.Index] == length):
	case a.At != nil:
		a.At = pushDownView(a.At.Site, a.At, v.Along(d))
	default:
		a.At = &Node{Kind: Iota, Shape: []int{length}, DType: dtype.Int64, First: dtype.ValueOf(int64(v.Start[d])), Delta: dtype.ValueOf(int64(v.Step[d])), Site: a.Of.Site}
	}
	return a
}

// DimNames returns the names of the node's dimensions, as far as the stored arrays that it
// is computed from agree on them; "" where one has none, and nil where all have none.
func (n *Node) DimNames() []string { return dimNames(n, map[*Node][]string{}) }

// DimNamesOf is DimNames of many nodes: known has those that were told before.
func DimNamesOf(n *Node, known map[*Node][]string) []string { return dimNames(n, known) }

// NamedAxis returns the axis of the dimension with a name. The error is that no dimension, or more than one, has it.
func (n *Node) NamedAxis(name string) (int, error) {
	names := n.DimNames()
	axis := slices.Index(names, name)
	switch {
	case name == "" || axis < 0:
		return 0, fmt.Errorf("%q is not found in the dimensions %q", name, names)
	case slices.Contains(names[axis+1:], name):
		return 0, fmt.Errorf("%q names several of the dimensions %q", name, names)
	}
	return axis, nil
}

// dimNames are the names of a node's dimensions; nil where none has one.
func dimNames(n *Node, known map[*Node][]string) (names []string) {
	if names, ok := known[n]; ok {
		return names
	}
	switch kind := n.Kind; {
	case n.Labels != "":
		names = []string{n.Labels}
	case len(n.NamedAfter) > 0 && len(n.NamedAfter) == len(n.Shape):
		names = make([]string, len(n.Shape))
		for d, a := range n.NamedAfter {
			if a.Of == nil {
				continue
			}
			if of := dimNames(a.Of, known); a.Index < len(of) {
				names[d] = of[a.Index]
			}
		}
		names = unrepeated(names)
	case kind == Source:
		if i := &n.Stored.Info; slices.Equal(i.Shape, n.Shape) && len(i.Details.Dims) == len(n.Shape) {
			names = slices.Clone(i.Details.Dims)
		}
	case kind == Cast:
		names = dimNames(n.In[0], known)
	case kind == Elementwise:
		names = agreed(n, known)
	case kind == View:
		if of := dimNames(n.In[0], known); of != nil {
			names = make([]string, len(n.Shape))
			for d, axis := range n.View.Axis {
				if axis >= 0 {
					names[axis] = of[d]
				}
			}
		}
	case kind == Reduce:
		if of := dimNames(n.In[0], known); of != nil {
			names = []string{}
			for d, name := range of {
				if !slices.Contains(n.Fold.Axes, d) {
					names = append(names, name)
				}
			}
		}
	case kind == MatMul:
		names = productNames(n, known)
	case kind == Blockwise && len(n.In) > 0:
		if op, ok := n.Blocks.Op.(blockwise.AxisKeeper); ok || blockwise.Has(n.Blocks.Op, blockwise.KeepsAxes) {
			var kept []int // nil is all
			if ok {
				kept = op.KeptAxes()
			}
			names = keptNames(n, kept, dimNames(n.In[0], known))
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		names = nil
	}
	known[n] = names
	return names
}

// unrepeated leaves out the names that several axes have.
func unrepeated(names []string) []string {
	out := slices.Clone(names)
	for d, name := range names {
		if slices.Contains(names[:d], name) || slices.Contains(names[d+1:], name) {
			out[d] = ""
		}
	}
	return out
}

// productNames are the names of the rows of the left matrices and the columns of the right
// ones, and of the axes of a stack as far as both agree.
func productNames(n *Node, known map[*Node][]string) []string {
	names := make([]string, len(n.Shape))
	dims := len(names)
	for side, in := range n.In {
		of := dimNames(in, known)
		if of == nil {
			continue
		}
		names[dims-2+side] = of[len(of)-2+side]
		stack := len(of) - 2 - n.Summed
		for d := range stack {
			at := dims - 2 - stack + d
			switch name := of[d]; {
			case in.Shape[d] != n.Shape[at] || name == "" || side == 1 && names[at] == name:
			case names[at] == "":
				names[at] = name
			default:
				names[at] = ""
			}
		}
	}
	return unrepeated(names)
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
