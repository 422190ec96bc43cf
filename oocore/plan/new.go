package plan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/store"
)

// Target is where the result goes: a file, or the program's own memory where
// Path is empty. Chunks, Shards and Codec are as the user asked for; nil and ""
// let the planner and the format choose.
type Target struct {
	Path   string
	Chunks []int
	Shards []int
	Codec  string
	Region *grid.Box // of an array that is there already; nil makes a new one
	Whole  []int     // the shape of that array
	// Details go with the array, where its format keeps them.
	Details store.Details
	// Beside are reductions, along all axes, of arrays of the result's shape. They are
	// computed while it is written, and read nothing for themselves.
	Beside []*graph.Node
}

// meta is the target as stores have it.
func (t *Target) meta(root *graph.Node) store.Meta {
	shape := root.Shape
	if t.Region != nil {
		shape = t.Whole
	}
	return store.Meta{Shape: shape, DType: root.DType, Chunks: t.Chunks, Shards: t.Shards, Codec: t.Codec, Region: t.Region, Details: t.Details}
}

// New is the logical plan of computing root. It reads nothing.
//
// Planning takes time and memory by the number of nodes, not of chunks.
func New(root *graph.Node, t Target) (*Plan, error) {
	if t.Chunks != nil && len(t.Chunks) != len(root.Shape) {
		return nil, fmt.Errorf("chunks %s have %d dimensions, the result %s has %d",
			grid.Format(t.Chunks), len(t.Chunks), grid.Format(root.Shape), len(root.Shape))
	}
	for _, c := range t.Chunks {
		if c < 1 {
			return nil, fmt.Errorf("chunks %s have a length below 1", grid.Format(t.Chunks))
		}
	}
	if t.Path != "" { // what the format has to say comes first
		if _, err := store.LayoutOf(t.Path, t.meta(root)); err != nil {
			return nil, err
		}
	}
	p := &Plan{Engine: Engine, Title: root.String(), Output: -1}
	l := newLowering(p)
	l.mark(root)
	l.keepCostly(root)
	for _, level := range l.levels(append([]*graph.Node{root}, inputs(t.Beside)...)...) {
		if err := p.level(l, l.one(root), level, t); err != nil {
			return nil, err
		}
	}
	if p.Output < 0 {
		if err := p.mapStage(l, l.one(root), t); err != nil {
			return nil, err
		}
	} else if t.Beside != nil {
		return nil, fmt.Errorf("nothing is computed beside %s, which is not made element by element", root)
	}
	return p, nil
}

// inputs are what reductions fold.
func inputs(folds []*graph.Node) []*graph.Node {
	var all []*graph.Node
	for _, n := range folds {
		all = append(all, n.In[0])
	}
	return all
}

// level adds the stages of held nodes that do not need each other. Reductions of
// one shape along the same axes that read some array in common become one pass.
func (p *Plan) level(l *lowering, root *graph.Node, nodes []*graph.Node, t Target) error {
	var reduces []*graph.Node
	for _, n := range nodes {
		switch n.Kind {
		case graph.Reduce:
			reduces = append(reduces, n)
		case graph.MatMul:
			if err := p.matmulStage(l, root, n, t); err != nil {
				return err
			}
		case graph.Blockwise:
			if err := p.opStage(l, root, n, t); err != nil {
				return err
			}
		}
	}
	for len(reduces) > 0 {
		first := reduces[0]
		var together, others []*graph.Node
		for _, n := range reduces {
			if slices.Equal(n.Fold.Axes, first.Fold.Axes) && slices.Equal(n.In[0].Shape, first.In[0].Shape) && l.meet(n, first) {
				together = append(together, n)
			} else {
				others = append(others, n)
			}
		}
		if err := p.reduceStage(l, root, together, t); err != nil {
			return err
		}
		reduces = others
	}
	return nil
}

// result adds the array that a held node's stage fills: the output, or a temporary.
// Stages that are no maps write boxes of their own, so that an output in units of
// its own is copied from a temporary.
func (p *Plan) result(l *lowering, root, n *graph.Node, t Target) (int, error) {
	if n == root {
		a, err := p.output(n, t, nil)
		if err != nil {
			return 0, err
		}
		if a.Layout.Unit == nil || a.Layout.Open {
			p.Output = len(p.Arrays)
			return l.hold(n, a), nil
		}
	}
	i := p.temporary(n.String(), n.Shape, n.DType)
	l.arrays[l.one(n)] = i
	return i, nil
}

// temporary adds an array that one stage fills and others read.
func (p *Plan) temporary(name string, shape []int, t dtype.Type) int {
	p.Arrays = append(p.Arrays, Array{Place: InTemp, Name: name, Shape: shape, DType: t})
	return len(p.Arrays) - 1
}

// output is the array that the plan returns. natural are the chunks that suit the
// stage that writes it, where the user names none.
func (p *Plan) output(root *graph.Node, t Target, natural []int) (Array, error) {
	a := Array{Place: InResult, Name: root.String(), Path: t.Path, Shape: root.Shape, DType: root.DType, Region: t.Region, Whole: t.Whole, Details: t.Details}
	if t.Path == "" {
		a.Place = InCollect
		return a, nil
	}
	m := t.meta(root)
	if m.Chunks == nil && t.Region == nil {
		m.Chunks = natural
	}
	var err error
	a.Layout, err = store.LayoutOf(t.Path, m)
	a.Chunks, a.Shards = m.Chunks, m.Shards
	return a, err
}

// mapStage writes the values of root to the output.
func (p *Plan) mapStage(l *lowering, root *graph.Node, t Target) error {
	s := Stage{Kind: MapStage, Name: root.String(), Site: root.Site.String()}
	for _, n := range t.Beside {
		f, err := foldOf(n)
		if err != nil {
			return err
		}
		if len(f.Axes) < len(root.Shape) || !slices.Equal(n.In[0].Shape, root.Shape) {
			return fmt.Errorf("%s is not along all axes of an array of shape %s", n, grid.Format(root.Shape))
		}
		s.Folds = append(s.Folds, f)
	}
	prog := l.program(append([]*graph.Node{root}, inputs(t.Beside)...)...)
	size := root.DType.Size()
	natural := p.mapChunks(&prog, root.Shape, size)
	stored := natural
	if cell := p.align(&prog); cell != nil {
		natural = grow(cell, root.Shape, chunkBytes/prog.itemSize(size))
		stored = cell
	}
	out, err := p.output(root, t, stored)
	if err != nil {
		return err
	}
	s.Grid = grid.Grid{Shape: root.Shape, Chunks: natural}
	switch unit := out.Layout.Unit; {
	case unit != nil:
		s.Unit = unit
		if out.Layout.Chunk != nil {
			s.Unit = out.Layout.Chunk
		}
		s.Grid.Chunks = clip(unit, root.Shape)
		if t.Region != nil {
			s.Grid.Chunks, s.Grid.Offset = unit, phase(t.Region.Start, unit)
		}
		p.acrossUnits(&prog, &s, out.Layout)
	case t.Chunks != nil:
		s.Grid.Chunks = clip(t.Chunks, root.Shape)
	}
	p.mend(&prog, s.Grid.Chunks, s.Site)
	s.Programs = []Program{prog}
	p.Output = len(p.Arrays)
	s.Outputs = []int{l.hold(root, out)}
	p.Stages = append(p.Stages, s)
	return nil
}

// acrossUnits mends a stage whose chunks lie across what its program reads: in one
// pass where units can be filled in pieces, else each such input is rechunked first.
func (p *Plan) acrossUnits(prog *Program, s *Stage, layout store.Layout) {
	units := clip(s.Unit, s.Grid.Shape)
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if !p.across(l, units) {
			continue
		}
		if !layout.Sessions() && s.Grid.Offset == nil {
			s.Grid.Chunks, s.Unit = p.band(l, units), nil
			return
		}
		p.rearrange(l, units, s.Site)
	}
}

// phase is each start's place in its unit.
func phase(start, units []int) []int {
	at := make([]int, len(start))
	for d := range at {
		at[d] = start[d] % units[d]
	}
	return at
}

func (p *Plan) reduceStage(l *lowering, root *graph.Node, nodes []*graph.Node, target Target) error {
	ins := make([]*graph.Node, len(nodes))
	name := ""
	for i, n := range nodes {
		ins[i] = n.In[0]
		if i > 0 {
			name += ", "
		}
		name += n.String()
	}
	prog := l.program(ins...)
	shape := ins[0].Shape
	s := Stage{Kind: ReduceStage, Name: name, Site: nodes[0].Site.String(), Programs: []Program{prog}}
	for _, n := range nodes {
		f, err := foldOf(n)
		if err != nil {
			return err
		}
		s.Folds = append(s.Folds, f)
		out, err := p.result(l, root, n, target)
		if err != nil {
			return err
		}
		s.Outputs = append(s.Outputs, out)
	}
	s.Grid = grid.Grid{Shape: shape, Chunks: reduceChunks(&prog, p.align(&prog), shape, nodes[0].Fold.Axes)}
	p.foldOrder(&s)
	p.mend(&s.Programs[0], s.Grid.Chunks, s.Site)
	p.Stages = append(p.Stages, s)
	return nil
}

// foldOrder decides the order of additions: by whole stored chunks, as many as are
// read at once.
func (p *Plan) foldOrder(s *Stage) {
	prog := &s.Programs[0]
	s.FoldTile = s.Grid.Chunks
	if cell := p.align(prog); cell != nil {
		s.FoldTile = grow(clip(cell, s.Grid.Chunks), s.Grid.Chunks, tileBytes/prog.itemSize(1))
	}
	s.FoldBlock = grid.Auto(s.FoldTile, 1, BlockElems)
}

func foldOf(n *graph.Node) (Fold, error) {
	in := n.In[0]
	if _, ok := kernel.NewFolder(n.Fold.Kind, in.DType); !ok {
		return Fold{}, fmt.Errorf("%s of %s is not defined", n.Fold.Kind, in.DType)
	}
	f := Fold{Kind: n.Fold.Kind, Axes: n.Fold.Axes, DDof: n.Fold.DDof, Count: 1}
	for _, a := range f.Axes {
		f.Count *= int64(in.Shape[a])
	}
	return f, nil
}
