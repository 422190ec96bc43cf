package compile

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Outputs of which each is made of the one before, such as the levels of an image, are written in
// one pass over what the first is computed of: a task computes chunks of the first, and of those in
// memory the next, so that a slot holds a chunk of each level. Levels for which there would be too
// few tasks, or too large slots, are made of a copy of the last level of that pass.

// pyramid is what is compiled of such outputs.
type pyramid struct {
	last    int     // output of the pass, which begins with the first
	factors [][]int // of each but the first
	held    bool    // others read the last
	task    []int   // chunks of the first level by which whole chunks of all levels are made

	below *graph.Node // the level of which a program is being made, and the array that holds it
	holds int
}

const (
	pyramidBytes = 20 << 20 // of a slot's chunks, at the most
	pyramidTasks = 16       // at the least, where a pass has more than two levels
)

// begins reports the first level, which is computed once.
func (p *pyramid) begins(n *graph.Node, roots []*graph.Node) bool { return p != nil && n == roots[0] }

// makes reports a level that the pass makes before its last.
func (p *pyramid) makes(n *graph.Node, roots []*graph.Node) bool {
	return p != nil && slices.Contains(roots[1:p.last], n)
}

// findPyramid finds the outputs that one pass makes.
func (c *compiler) findPyramid() error {
	readers := map[*graph.Node]int{}
	for _, n := range c.nodes() {
		for _, in := range n.In {
			readers[in]++
		}
	}
	for _, root := range c.roots {
		readers[root]++
	}
	p := pyramid{}
	var below, whole []int // the chunks of a level, and what elements of the first make one of it
	var bytes int
	for k, t := range c.targets {
		root := c.roots[k]
		layout, err := storage.LayoutOf(t.Path, t.meta(root))
		if err != nil || t.Chunks == nil || t.Region != nil || t.SideReductions != nil || layout.Unit == nil || layout.Chunk != nil {
			break
		}
		chunk := layout.Unit
		if k == 0 {
			below, whole, bytes = chunk, slices.Repeat([]int{1}, len(chunk)), grid.Size(grid.Clip(chunk, root.Shape))*root.DType.Size()
			continue
		}
		of := c.roots[k-1]
		by := pools(root, of, readers)
		if by == nil || k > 1 && readers[of] != 2 {
			break
		}
		task := make([]int, len(chunk))
		part := 1
		for d, f := range by {
			whole[d] *= f
			task[d] = c.targets[0].Chunks[d] * whole[d]
			part *= (min(below[d], of.Shape[d]) + f - 1) / f
			if below[d]%f != 0 && below[d] < of.Shape[d] || task[d]%(whole[d]*chunk[d]) != 0 && task[d] < c.roots[0].Shape[d] {
				by = nil
			}
		}
		g := grid.Grid{Shape: c.roots[0].Shape, Chunks: grid.Clip(task, c.roots[0].Shape)}
		bytes += (grid.Size(grid.Clip(chunk, root.Shape)) + part) * root.DType.Size()
		if by == nil || bytes > pyramidBytes || k > 1 && g.Len() < pyramidTasks {
			break
		}
		p.last, p.factors, p.held, p.task, below = k, append(p.factors, by), readers[root] > 1, g.Chunks, chunk
	}
	if p.last > 0 {
		c.pyramid = &p
		for _, root := range c.roots[1 : p.last+1] {
			c.keep(root, "it is made while what it is made of is in memory")
		}
	}
	return nil
}

// pools are how many elements of another node make one of a node that is computed of nothing else,
// nor is anything else computed of what lies between; nil where that is not so.
func pools(n, of *graph.Node, readers map[*graph.Node]int) (by []int) {
	if n == of {
		return nil
	}
	by = slices.Repeat([]int{1}, len(of.Shape))
	for first := true; n != of; first = false {
		var in *graph.Node
		for _, one := range n.In {
			if one.Kind == graph.Constant {
				continue
			}
			if in != nil || len(one.Shape) != len(by) {
				return nil
			}
			in = one
		}
		if in == nil || !first && readers[n] != 1 {
			return nil
		}
		switch n.Kind {
		case graph.Elementwise, graph.Cast:
		case graph.Blockwise:
			op, ok := n.Blocks.Op.(blockwise.Pooler)
			if !ok {
				return nil
			}
			for d, f := range op.Pools() {
				by[d] *= f
			}
		default:
			return nil
		}
		n = in
	}
	return by
}

// pyramidStage makes the levels of a pass.
func (c *compiler) pyramidStage() error {
	p, roots := c.pyramid, c.roots[:c.pyramid.last+1]
	s := plan.Stage{Kind: plan.MapStage, Site: roots[0].Site.String(), Factors: p.factors, Grid: grid.Grid{Shape: roots[0].Shape, Chunks: p.task},
		Note: "each level is made while the chunks of the one before are in memory"}
	for k, root := range roots {
		var made *graph.Node
		if k > 0 {
			s.Name += ", "
			made, p.below, p.holds = root, roots[k-1], c.outputs[k-1]
		}
		s.Name += root.String()
		out, err := c.output(k, nil)
		if err != nil {
			return err
		}
		s.Programs = append(s.Programs, c.fuse(made, root))
		c.outputs[k] = c.plan.AddArray(out)
		s.Outputs = append(s.Outputs, c.outputs[k])
		if k == 0 {
			s.StoreChunk = out.Layout.Unit
		}
	}
	p.below = nil
	if last := roots[p.last]; p.held {
		held := temporary(last.String(), last.Shape, last.DType)
		held.Blocks = grid.Clip(c.plan.Arrays[c.outputs[p.last]].Layout.Unit, last.Shape)
		s.Outputs = append(s.Outputs, c.hold(last, held))
	}
	c.add(s)
	return nil
}
