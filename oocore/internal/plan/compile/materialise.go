package compile

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// What an expression uses twice is materialised where computing it again costs more than
// writing it and reading it back; else it is computed again. Reductions, products and operations with chunks of their own are always
// materialised; this pass finds what else is.

// materialised reports a node whose elements a stage of its own computes before others read
// them.
func (c *compiler) materialised(n *graph.Node) bool {
	switch n.Kind {
	case graph.Reduce:
		return true
	case graph.MatMul:
		_, tiled := c.tiled[n]
		return !tiled
	case graph.Blockwise:
		if blockwise.ChunksOf(n.Blocks.Op) != nil {
			return true
		}
	}
	return c.why[n] != ""
}

// mostNested bounds the operations of boxes that read each other in one program: each
// has buffers of its own.
const mostNested = 16

// materialise decides which nodes are materialised because they are used more than once.
func (c *compiler) materialise() error {
	nodes := c.nodes()
	c.countReaders(nodes)
	c.keepSeen(nodes)
	c.keepShared(nodes)
	return c.keepCut()
}

// keepCut keeps what the chunks of an output would compute several times: an operation of boxes
// each of which computes more than it fills, such as rows that are drawn from their beginning.
func (c *compiler) keepCut() error {
	for k, t := range c.targets {
		if t.Path == "" || t.Chunks == nil && t.Region == nil {
			continue
		}
		root := c.roots[k]
		layout, err := storage.LayoutOf(t.Path, t.meta(root))
		if err != nil {
			return err
		}
		chunks := t.Chunks
		if layout.Unit != nil {
			chunks = layout.Unit
		}
		if chunks == nil {
			continue
		}
		for n := range asTheyAre(root) {
			if n.Kind != graph.Blockwise || c.materialised(n) || c.pyramid.begins(n, c.roots) {
				continue
			}
			if times := cutTimes(n, grid.Clip(chunks, n.Shape)); times >= 2 && c.dear(n, times) {
				c.keep(n, fmt.Sprintf("chunks of %s compute it %s, and that costs more", grid.Format(chunks), plural(times)))
			}
		}
	}
	return nil
}

// asTheyAre are the nodes whose elements an expression takes at its own places: the expression
// itself, and what its functions of each element take.
func asTheyAre(root *graph.Node) iter.Seq[*graph.Node] {
	return func(yield func(*graph.Node) bool) {
		seen := map[*graph.Node]bool{}
		for next := []*graph.Node{root}; len(next) > 0; {
			n := next[0]
			next = next[1:]
			if seen[n] || !slices.Equal(n.Shape, root.Shape) {
				continue
			}
			if seen[n] = true; !yield(n) {
				return
			}
			if n.Kind == graph.Elementwise || n.Kind == graph.Cast {
				next = append(next, n.In...)
			}
		}
	}
}

// cutTimes is how many times over the work of an operation is done that is computed by chunks; 0
// of one that has none.
func cutTimes(n *graph.Node, chunks []int) float64 {
	all := n.Blocks.Op.Requirements(grid.Clip(n.Shape, n.Shape)).Work
	if all == 0 {
		return 0
	}
	times := float64(n.Blocks.Op.Requirements(chunks).Work) / float64(all)
	for d, l := range n.Shape {
		times *= float64((l + chunks[d] - 1) / max(chunks[d], 1))
	}
	return times
}

// nodes are all nodes of the expression, inputs before what reads them.
func (c *compiler) nodes() []*graph.Node {
	var all []*graph.Node
	seen := map[*graph.Node]bool{}
	for _, root := range c.roots {
		for n := range graph.Nodes(root) {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	return all
}

// computes reports a node that could be materialised, as opposed to one that is read as stored.
func computes(n *graph.Node) bool {
	return n.Kind == graph.Elementwise || n.Kind == graph.Cast || n.Kind == graph.Blockwise
}

// shown is the share of an array that a view shows.
func shown(v grid.View, shape []int) float64 {
	share := 1.0
	for d, a := range v.Axis {
		count := 1
		if a >= 0 {
			count = v.Shape[a]
		}
		share *= float64(count) / float64(max(shape[d], 1))
	}
	return share
}

// keepSeen keeps what one program would compute several times: what is seen through
// different views, or by operations of boxes, each of which computes what it reads for
// itself. Inputs are decided before what reads them, so that a chain is cut where its
// cost has grown to that of storing.
func (c *compiler) keepSeen(nodes []*graph.Node) {
	seen := map[*graph.Node]float64{} // how many times over each is computed
	whole := map[*graph.Node]bool{}   // it is seen as it is
	for _, n := range nodes {
		for k, in := range n.In {
			switch n.Kind {
			case graph.View:
				seen[in] += shown(n.View, in.Shape)
			case graph.Blockwise:
				seen[in] += c.opCost(n).read[k]
			default:
				whole[in] = true
			}
		}
	}
	for _, root := range c.roots {
		whole[root] = true
	}
	c.seen = map[*graph.Node]float64{}
	nested := map[*graph.Node]int{}
	for _, n := range nodes {
		times := seen[n]
		if whole[n] {
			times++
		}
		c.seen[n] = times
		for _, in := range n.In {
			if !c.materialised(in) {
				nested[n] = max(nested[n], nested[in])
			}
		}
		if n.Kind == graph.Blockwise {
			nested[n]++
		}
		switch {
		case !computes(n) || c.materialised(n) || c.pyramid.begins(n, c.roots):
		case nested[n] > mostNested && n.Kind == graph.Blockwise:
			c.keep(n, "operations that read each other would hold too many buffers at once")
		case times > 1 && c.dear(n, times):
			inputs := c.costly(n, times, 0.6)
			if inputs == nil {
				inputs = []*graph.Node{n}
			}
			for _, in := range inputs {
				c.keep(in, fmt.Sprintf("it is used %s, and computing it again costs more", plural(times)))
			}
		}
	}
}

// plural writes how many times.
func plural(times float64) string {
	if times < 2.5 {
		return "twice"
	}
	return fmt.Sprintf("%.0f times over", times)
}

// limit is the cost of an element from which on a node that is computed so many times
// over is better computed once and kept.
func limit(n *graph.Node, times float64) float64 {
	size := float64(max(grid.Size(n.Shape), 1))
	return ((cost.Keep+times*cost.Reread)*float64(n.DType.Size()) + cost.Stage/size) / (times - 1)
}

// dear reports a node that takes longer to compute so many times over than once and to
// keep.
func (c *compiler) dear(n *graph.Node, times float64) bool {
	if times < 1.001 {
		return false
	}
	most := limit(n, times)
	return c.cost(n, most) > most
}

// costly are the inputs of a dear node that make it so, where it is made quickly of them
// and they have no more than the given share of its bytes: keeping them does as well. nil
// means the node itself.
func (c *compiler) costly(n *graph.Node, times, share float64) (inputs []*graph.Node) {
	if n.Kind == graph.Blockwise {
		return nil
	}
	most := limit(n, times)
	rest, bytes := c.ownNanos(n, grid.Identity(n.Shape)), 0
	for k, in := range n.In {
		if slices.Contains(n.In[:k], in) {
			continue
		}
		if in.Kind == graph.View {
			in = in.In[0]
		}
		own := limit(in, times)
		switch {
		case !computes(in) || c.materialised(in):
			rest += cost.Copy * float64(in.DType.Size())
		case c.cost(in, own) <= own:
			rest += c.cost(in, own)
		default:
			inputs = append(inputs, in)
			bytes += grid.Size(in.Shape) * in.DType.Size()
		}
	}
	if rest > most || float64(bytes) > share*float64(grid.Size(n.Shape)*n.DType.Size()) {
		return nil
	}
	return inputs
}

func (c *compiler) keep(n *graph.Node, why string) { c.why[n] = why }

// reading is a stage that computes a node, and how much of it.
type reading struct {
	stage int
	share float64
}

// mostReadings bounds the stages that are told apart for one node.
const mostReadings = 8

// keepShared keeps what several stages would compute. What reads is decided before its
// inputs: of operations of each other the last is kept.
func (c *compiler) keepShared(nodes []*graph.Node) {
	readings := map[*graph.Node][]reading{}
	add := func(n *graph.Node, r reading) {
		list := readings[n]
		for i := range list {
			if list[i].stage == r.stage {
				list[i].share = min(list[i].share+r.share, 1)
				return
			}
		}
		if len(list) < mostReadings {
			readings[n] = append(list, r)
		}
	}
	stages := c.stageNumbers(nodes)
	for k, root := range c.roots {
		number := stages[nil]
		if k < len(c.targets) {
			number -= k // each output has a stage of its own
		}
		add(root, reading{number, 1})
	}
	for _, n := range slices.Backward(nodes) {
		list := readings[n]
		if c.pyramid.begins(n, c.roots) {
			list = []reading{{stages[c.roots[c.pyramid.last]], 1}}
		}
		if computes(n) && !c.materialised(n) && len(list) > 1 {
			all := 0.0
			for _, r := range list {
				all += r.share
			}
			if dear := c.dear(n, all); dear && c.costly(n, all, 1) == nil {
				c.keep(n, fmt.Sprintf("%d passes read it, and computing it for each takes longer", len(list)))
				stages[n] = len(stages)
			} else if !dear {
				c.again[n] = true
			}
		}
		if c.materialised(n) {
			list = []reading{{stages[n], 1}}
		}
		for _, in := range n.In {
			share := 1.0
			if n.Kind == graph.View {
				share = shown(n.View, in.Shape)
			}
			for _, r := range list {
				add(in, reading{r.stage, min(r.share*share, 1)})
			}
		}
	}
}

// stageNumbers numbers the stages by the nodes that they make. Reductions that may share
// a pass have one number; nil has that of the result's stage.
func (c *compiler) stageNumbers(nodes []*graph.Node) map[*graph.Node]int {
	number := map[*graph.Node]int{nil: 0}
	groups := map[string]int{}
	depth := c.depths(nodes)
	next := 0
	for _, n := range nodes {
		if !c.materialised(n) {
			continue
		}
		if n.Kind != graph.Reduce {
			next++
			number[n] = next
			continue
		}
		key := fmt.Sprint(depth[n], n.Fold.Axes, n.In[0].Shape)
		if _, ok := groups[key]; !ok {
			next++
			groups[key] = next
		}
		number[n] = groups[key]
	}
	return number
}

// depths are the numbers of materialised nodes on the longest way down to data.
func (c *compiler) depths(nodes []*graph.Node) map[*graph.Node]int {
	depth := make(map[*graph.Node]int, len(nodes))
	for _, n := range nodes {
		for _, in := range n.In {
			d := depth[in]
			if c.materialised(in) {
				d++
			}
			depth[n] = max(depth[n], d)
		}
	}
	return depth
}
