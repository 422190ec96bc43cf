package linalg

import "github.com/gonbext/gonbext/oocore/internal/graph"

// axis says which axis of a matrix one of a result is.
type axis int

const (
	ofNone axis = iota
	ofRows
	ofColumns
)

// named gives the axes of a result the names that they have in the matrices that it is of:
// those of the stack, then the ones that axes say. out is nil or a number after an error.
func named(out, n *graph.Node, axes ...axis) *graph.Node {
	stack := len(n.Shape) - 2
	if out == nil || stack < 0 || len(out.Shape) != stack+len(axes) {
		return out
	}
	all := graph.AllAxes(n)
	after := all[:stack:stack]
	for _, a := range axes {
		switch a {
		case ofRows:
			after = append(after, all[stack])
		case ofColumns:
			after = append(after, all[stack+1])
		default:
			after = append(after, graph.Axis{})
		}
	}
	return graph.NameAxes(out, after...)
}

// namedSolution gives the axes of x of a·x = b their names: that of a's columns, and that of
// b's where b is no vector. Those of a stack are a's. out is nil or a number after an error.
func namedSolution(out, a, b *graph.Node) *graph.Node {
	if out == nil || len(out.Shape) == 0 {
		return out
	}
	dims := len(out.Shape)
	after := make([]graph.Axis, dims)
	last := dims - 1
	if len(b.Shape) > 1 {
		after[last] = graph.Axis{Of: b, Index: len(b.Shape) - 1}
		last--
	}
	of := graph.AllAxes(a)
	after[last] = of[len(of)-1]
	for d := range min(last, len(of)-2) {
		after[last-1-d] = of[len(of)-3-d]
	}
	return graph.NameAxes(out, after...)
}
