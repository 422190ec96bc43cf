// Package index has the operations that select elements by arrays of integers or bools, and
// those that assign a region.
//
// Indices are read as a part of the box that needs them, and then what they point to:
// neighbours in one piece, in the order in which they lie. Where the number of chosen
// elements is not known, a counting pass comes first: Counts has the node for it, and
// what it gave goes into Select.
package index

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// windowBytes is about what is read of an input at once.
const windowBytes = 1 << 20

// cells are the lengths of the chunks that an array is stored in, also where it is
// computed of that element by element; nil where it is not.
func cells(n *graph.Node) []int {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node) []int
	visit = func(n *graph.Node) []int {
		if seen[n] {
			return nil
		}
		seen[n] = true
		switch n.Kind {
		case graph.Source:
			return n.Stored.Info.Chunks
		case graph.Elementwise, graph.Cast:
			for _, in := range n.In {
				if c := visit(in); c != nil {
					return c
				}
			}
		}
		return nil
	}
	return visit(n)
}

// constant is an int64.
func constant(m *graph.Maker, v int) *graph.Node { return m.Full(dtype.ValueOf(int64(v))) }

// tiles cuts an array for choosing along an axis: what follows the axis in long pieces,
// so many indices of it, and what is before it. Stored chunks are kept whole where they
// are not large.
func tiles(n *graph.Node, axis int) []int {
	item := n.DType.Size()
	if c := cells(n); c != nil && grid.Size(c)*item <= 16*windowBytes {
		tile := make([]int, len(c))
		for d := range c {
			tile[d] = max(min(c[d], n.Shape[d]), 1)
		}
		return tile
	}
	after := grid.Auto(n.Shape[axis+1:], item, windowBytes)
	row := grid.Size(after) * item
	run := windowBytes
	if grid.Size(n.Shape[:axis]) > 1 {
		run /= 16
	}
	along := max(min(run/row, n.Shape[axis]), 1)
	before := grid.Auto(n.Shape[:axis], row*along, windowBytes)
	return append(append(before, along), after...)
}
