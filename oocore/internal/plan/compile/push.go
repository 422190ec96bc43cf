package compile

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// pushViews moves views down to where they save reading and computing, but not into what
// is materialised as a whole. Where that would make many more nodes than there are, as
// of a long chain that is cut into many slices, the chain is materialised.
func (c *compiler) pushViews() error {
	nodes := c.nodes()
	edges := 0
	for _, n := range nodes {
		edges += len(n.In)
	}
	most := 4*(len(nodes)+edges) + 64
	var p graph.Pusher
	cut := map[*graph.Node]string{}
	p.Made = c.canonical.of
	p.Stop = func(n *graph.Node) bool {
		switch n.Kind {
		case graph.Reduce, graph.MatMul:
			return c.seen[n] >= 1 // all of it is computed anyway
		case graph.Elementwise, graph.Cast:
			if c.why[n] == "" && p.Copies >= most {
				cut[n] = "it is cut into many parts"
			}
			return c.why[n] != "" || cut[n] != ""
		}
		return false
	}
	for i, root := range c.roots {
		c.roots[i] = p.Whole(root)
	}
	why, again := map[*graph.Node]string{}, map[*graph.Node]bool{}
	for _, reasons := range []map[*graph.Node]string{c.why, cut} {
		for n, reason := range reasons {
			why[p.Whole(n)] = reason
		}
	}
	for n := range c.again {
		again[p.Whole(n)] = true
	}
	c.why, c.again = why, again
	c.keepNeeded()
	return nil
}

// keepNeeded materialises blockwise operations of which a strided view would discard most
// elements, and those that a product reads, since it reads them many times.
func (c *compiler) keepNeeded() {
	below := map[*graph.Node]bool{} // what products read
	var operand func(n *graph.Node)
	operand = func(n *graph.Node) {
		if below[n] || c.materialised(n) {
			return
		}
		below[n] = true
		switch n.Kind {
		case graph.Blockwise:
			c.keep(n, "a product reads it many times")
		case graph.Elementwise, graph.Cast, graph.View:
			for _, in := range n.In {
				operand(in)
			}
		}
	}
	for _, n := range c.nodes() {
		switch n.Kind {
		case graph.View:
			if in := n.In[0]; in.Kind == graph.Blockwise && !c.materialised(in) && slices.ContainsFunc(n.View.Step, func(s int) bool { return s < -1 || s > 1 }) {
				c.keep(in, "it is seen in steps")
			}
		case graph.MatMul:
			for _, in := range n.In {
				operand(in)
			}
		}
	}
}
