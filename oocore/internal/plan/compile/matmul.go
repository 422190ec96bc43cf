package compile

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
)

// boxed is the operation that computes a node box by box: its own, or that of a stack of small
// matrices; nil for none.
func (c *compiler) boxed(n *graph.Node) blockwise.Op {
	switch tiles, ok := c.tiled[n]; {
	case ok:
		return tiles
	case n.Kind == graph.Blockwise:
		return n.Blocks.Op
	case n.Kind == graph.MatMul && n.Summed == 0:
		return contract.StackOf(n.In[0].Shape, n.In[1].Shape, n.Shape, n.In[0].DType, n.DType)
	}
	return nil
}

// stackStage multiplies the matrices of stacks, many in a task.
func (c *compiler) stackStage(n *graph.Node) error {
	s := plan.Stage{Kind: plan.MapStage, Name: n.String(), Site: n.Site.String(), FixedChunks: true, Programs: []plan.Program{c.fuse(n, n)}}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: grid.Clip(blockwise.ChunksOf(c.boxed(n)), n.Shape)}
	out, err := c.result(n)
	if err != nil {
		return err
	}
	s.Outputs = []int{out}
	c.add(s)
	return nil
}

func (c *compiler) matmulStage(n *graph.Node) error {
	a, b := n.In[0], n.In[1]
	d := len(n.Shape)
	last := len(a.Shape) - 2
	m := &plan.MatMul{M: n.Shape[d-2], N: n.Shape[d-1], K: a.Shape[last+1], Summed: a.Shape[last-n.Summed : last], Type: kernel.GemmType(n.DType)}
	m.Cut()
	s := plan.Stage{Kind: plan.MatMulStage, Name: n.String(), Site: n.Site.String(), MatMul: m,
		Programs: []plan.Program{c.program(a), c.program(b)}}
	out, err := c.result(n)
	if err != nil {
		return err
	}
	s.Outputs = []int{out}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: grid.Clip(shapes.Matrix(d, m.TileM, m.TileN), n.Shape)}
	c.add(s)
	return nil
}

// decodeOperand makes one side of a product read a temporary array where what it reads
// is encoded: its panels are read many times over. That array is the stored one, where
// the operand is most of it as it is, else the operand.
func (c *compiler) decodeOperand(prog *plan.Program, site string) {
	p := c.plan
	stored := shapes.Stored(p, prog)
	if stored == nil {
		return
	}
	t := prog.Type(prog.Out[0])
	if len(prog.Code) == 0 && len(prog.Loads) == 1 {
		load := &prog.Loads[0]
		if a := p.Arrays[load.Array]; 2*grid.Size(prog.Domain) > grid.Size(a.Shape) {
			i, ok := c.decodes[load.Array]
			if !ok {
				copied := plan.Program{Domain: a.Shape, Out: []int{0}, Loads: []plan.Load{{Kind: plan.LoadArray, Type: a.DType, Array: load.Array, View: grid.Identity(a.Shape)}}}
				i = c.decode(a.Name, copied, a.DType, shapes.Stored(p, &copied), site)
				c.decodes[load.Array] = i
			}
			load.Array = i
			return
		}
	}
	name := "an operand"
	for l := range prog.Arrays() {
		name += " of " + p.Arrays[l.Array].Name
		break
	}
	i := c.decode(name, *prog, t, stored, site)
	*prog = plan.Program{Domain: prog.Domain, Out: []int{0}, Loads: []plan.Load{{Kind: plan.LoadArray, Type: t, Array: i, View: grid.Identity(prog.Domain)}}}
}

// decode adds the stage that fills a temporary array with a program's values.
func (c *compiler) decode(name string, prog plan.Program, t dtype.Type, stored []int, site string) int {
	p := c.plan
	i := p.AddArray(temporary(name, prog.Domain, t))
	p.Stages = append(p.Stages, plan.Stage{Kind: plan.MapStage, Name: "decode " + name, Site: site, Programs: []plan.Program{prog}, Outputs: []int{i},
		Grid: grid.Grid{Shape: prog.Domain, Chunks: shapes.Grow(stored, prog.Domain, shapes.ChunkBytes/t.Size())},
		Note: "a pass of its own: a product reads its operands many times"})
	return i
}
