package compile

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// takeProducts finds the products that one stage reads, and each element of them once: reductions of one shape along
// the same axes, or an operation that takes tiles, perhaps by way of functions of each element. That stage computes
// such a product tile by tile, and it is never written.
func (c *compiler) takeProducts() error {
	c.tiled = map[*graph.Node]contract.Tiles{}
	nodes := c.nodes()
	readers := map[*graph.Node][]*graph.Node{}
	for _, n := range nodes {
		for k, in := range n.In {
			if !slices.Contains(n.In[:k], in) {
				readers[in] = append(readers[in], n)
			}
		}
	}
	for _, n := range nodes {
		t, ok := contract.TilesOf(n)
		if !ok {
			continue
		}
		c.tiled[n] = t
		if ends, ok := c.takers(n, readers); !ok || !c.together(ends, nodes) {
			delete(c.tiled, n)
		}
	}
	return nil
}

// takers are the reductions and operations that an expression of a product's elements, at their own places, ends
// in. There are none where something else reads it too.
func (c *compiler) takers(product *graph.Node, readers map[*graph.Node][]*graph.Node) (ends []*graph.Node, ok bool) {
	seen := map[*graph.Node]bool{}
	for next := []*graph.Node{product}; len(next) > 0; next = next[1:] {
		n := next[0]
		if slices.Contains(c.roots, n) {
			return nil, false
		}
		for _, r := range readers[n] {
			if seen[r] {
				continue
			}
			seen[r] = true
			switch {
			case r.Kind == graph.Reduce:
				ends = append(ends, r)
			case r.Kind == graph.Blockwise:
				if _, takes := r.Blocks.Op.(blockwise.Taker); !takes {
					return nil, false
				}
				ends = append(ends, r)
			case (r.Kind == graph.Elementwise || r.Kind == graph.Cast) && !c.materialised(r),
				r.Kind == graph.View && n == product && len(readers[n]) == 1 && contract.Transposes(r): // another view of it would compute it again
				next = append(next, r)
			default:
				return nil, false
			}
		}
	}
	return ends, len(ends) > 0
}

// together reports that one stage computes all of some reductions, or one operation.
func (c *compiler) together(ends, nodes []*graph.Node) bool {
	if len(ends) == 1 {
		return true
	}
	depth := c.depths(nodes)
	return !slices.ContainsFunc(ends, func(n *graph.Node) bool {
		return n.Kind != graph.Reduce || depth[n] != depth[ends[0]] || !slices.Equal(n.Fold.Axes, ends[0].Fold.Axes) || !slices.Equal(n.In[0].Shape, ends[0].In[0].Shape)
	})
}

// takenTiles is the product whose tiles a program takes, if it does.
func takenTiles(prog *plan.Program) (t contract.Tiles, ok bool) {
	for i := range prog.Loads {
		if l := &prog.Loads[i]; l.Kind == plan.LoadBlocks && !ok {
			t, ok = l.Op.Op.(contract.Tiles)
		}
	}
	return t, ok
}
