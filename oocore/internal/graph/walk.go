package graph

import "iter"

// Nodes returns the nodes that an expression is made of, each once.
func Nodes(root *Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		seen := map[*Node]bool{}
		var visit func(n *Node) bool
		visit = func(n *Node) bool {
			if seen[n] {
				return true
			}
			seen[n] = true
			for _, in := range n.In {
				if !visit(in) {
					return false
				}
			}
			return yield(n)
		}
		visit(root)
	}
}
