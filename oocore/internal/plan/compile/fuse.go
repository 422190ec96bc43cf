package compile

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// array is the index of the plan's array that holds a leaf's or a materialised node's
// elements.
func (c *compiler) array(n *graph.Node) int {
	if i, ok := c.arrays[n]; ok {
		return i
	}
	a := plan.Array{Name: n.Name, Shape: n.Shape, DType: n.DType}
	switch n.Kind {
	case graph.Source:
		info := n.Stored.Info
		a.Place, a.Path, a.Shape, a.Chunks = plan.InFile, info.Path, n.Stored.Shape, info.Chunks
		a.Open, a.Work, a.Codec, a.Index, a.ID = info.Open, info.Work, info.Codec, info.IndexBytes, info.ID
		a.Object, a.Format = info.Shards, info.Format
	case graph.Inline:
		a.Place, a.Data = plan.InData, n.Data
	default:
		panic(fmt.Sprintf("plan: node of kind %d is used before its stage", n.Kind))
	}
	return c.hold(n, a)
}

// hold makes an array the place of a node's elements.
func (c *compiler) hold(n *graph.Node, a plan.Array) int {
	c.arrays[n] = c.plan.AddArray(a)
	return c.arrays[n]
}

// program computes nodes of one shape together, in one pass.
func (c *compiler) program(nodes ...*graph.Node) plan.Program { return c.fuse(nil, nodes...) }

// fuse is a program whose values are nodes. made is the one among them that its stage
// materialises; nil for none.
func (c *compiler) fuse(made *graph.Node, nodes ...*graph.Node) plan.Program {
	b := builder{Draft: plan.Draft{Domain: nodes[0].Shape}, c: c, made: made, values: map[*graph.Node]int{}}
	var out []int
	for _, n := range nodes {
		out = append(out, b.value(n))
	}
	return b.Program(out, nil)
}

// recomputed notes a node that several stages compute, when the second does.
func (c *compiler) recomputed(n *graph.Node) {
	if !c.again[n] {
		return
	}
	stage := len(c.plan.Stages)
	switch first, ok := c.firstIn[n]; {
	case !ok:
		c.firstIn[n] = stage
	case first != stage && n.Kind != graph.Cast:
		c.repeats = append(c.repeats, n)
	}
}

type builder struct {
	plan.Draft
	c      *compiler
	made   *graph.Node
	values map[*graph.Node]int
}

func (b *builder) value(n *graph.Node) int {
	if v, ok := b.values[n]; ok {
		return v
	}
	var v int
	if p := b.c.pyramid; p != nil && p.below == n {
		v = b.Load(plan.Load{Kind: plan.LoadArray, Type: n.DType, View: grid.Identity(n.Shape), Array: p.holds})
		b.values[n] = v
		return v
	}
	switch computed := n == b.made || !b.c.materialised(n); {
	case n.Kind == graph.Elementwise && computed:
		v = b.elementwise(n)
	case n.Kind == graph.Cast && computed:
		v = b.cast(b.value(n.In[0]), n.In[0].DType, n.DType)
	case n.Kind == graph.View:
		v = b.seen(n.In[0], n.View)
	default:
		v = b.seen(n, grid.Identity(n.Shape))
	}
	b.c.recomputed(n)
	b.values[n] = v
	return v
}

// seen is the load of a node that is seen through a view.
func (b *builder) seen(n *graph.Node, v grid.View) int {
	load := plan.Load{Type: n.DType, View: v}
	op := b.c.boxed(n)
	switch {
	case n.Kind == graph.Constant:
		load.Kind, load.Value = plan.LoadConst, n.Value
		load.View = grid.View{Shape: b.Domain}
	case n.Kind == graph.Iota:
		load.Kind, load.Shape, load.Value, load.Delta = plan.LoadIota, n.Shape, n.First, n.Delta
	case n.Kind == graph.Random:
		load.Kind, load.Shape, load.Seed = plan.LoadRandom, n.Shape, n.Seed
	case op != nil && (n == b.made || !b.c.materialised(n)):
		load.Kind, load.Shape, load.Op, load.Site = plan.LoadBlocks, n.Shape, &blockwise.Value{Op: op}, n.Site.String()
		for _, in := range n.In {
			load.Inputs = append(load.Inputs, b.c.program(in))
		}
		if b.c.plan.Function == "" && blockwise.Name(op) == "" {
			b.c.plan.Function = fmt.Sprintf("%s (%s)", n.Blocks.Name, n.Site)
		}
	default:
		load.Kind, load.Array = plan.LoadArray, b.c.array(n)
		if n.Kind == graph.Source && !slices.Equal(n.Shape, n.Stored.Shape) {
			panic("plan: a source's shape differs from its stored array's")
		}
	}
	return b.Load(load)
}

func (b *builder) cast(v int, from, to dtype.Type) int {
	if from == to {
		return v
	}
	return b.Emit(plan.Instr{Type: from, To: to, Args: []int{v}})
}

// elementwise computes 16-bit floats in float32 and rounds each result, as NumPy
// does. Choosing between two needs no arithmetic.
func (b *builder) elementwise(n *graph.Node) int {
	args := make([]int, len(n.In))
	for i, in := range n.In {
		args[i] = b.value(in)
	}
	t := n.In[len(n.In)-1].DType
	if !t.Short() || n.Op == kernel.Where {
		return b.Emit(plan.Instr{Op: n.Op, Type: t, To: n.Op.Result(t), Args: args})
	}
	for i := range args {
		args[i] = b.cast(args[i], t, dtype.Float32)
	}
	to := n.Op.Result(dtype.Float32)
	v := b.Emit(plan.Instr{Op: n.Op, Type: dtype.Float32, To: to, Args: args})
	return b.cast(v, to, n.DType)
}
