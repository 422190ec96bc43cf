package compile

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// stages makes the stages: one for each materialised node, or for several reductions
// that share a pass, and one for the result. Those that need each other follow each
// other.
func (c *compiler) stages() error {
	nodes := c.nodes()
	depth := c.depths(nodes)
	var levels [][]*graph.Node
	for _, n := range nodes {
		for _, in := range n.In {
			c.read[in] = true
		}
		if !c.materialised(n) || c.pyramid.makes(n, c.roots) {
			continue
		}
		for len(levels) <= depth[n] {
			levels = append(levels, nil)
		}
		levels[depth[n]] = append(levels[depth[n]], n)
	}
	for _, level := range levels {
		if err := c.level(level); err != nil {
			return err
		}
	}
	for k, out := range c.outputs {
		if out < 0 {
			if err := c.resultStage(k); err != nil {
				return err
			}
		} else if c.targets[k].SideReductions != nil {
			return fmt.Errorf("side reductions need an output that is computed element by element, which %s is not", c.roots[k])
		}
	}
	if c.plan.Output = c.outputs[0]; len(c.outputs) > 1 {
		c.plan.Others = c.outputs[1:]
	}
	return nil
}

// direct is the target of a node whose stage may write it to its place; -1 where there is
// none. An output cannot be read before it is committed: a node that others read, or that is an
// output twice, is materialised and copied.
func (c *compiler) direct(n *graph.Node) int {
	roots := c.roots[:len(c.targets)]
	k := slices.Index(roots, n)
	if k >= 0 && len(roots) > 1 && (c.read[n] || slices.Contains(roots[k+1:], n)) {
		return -1
	}
	return k
}

// level adds the stages of materialised nodes that do not need each other.
func (c *compiler) level(nodes []*graph.Node) (err error) {
	var reduces []*graph.Node
	for _, n := range nodes {
		switch {
		case c.pyramid != nil && n == c.roots[c.pyramid.last]:
			err = c.pyramidStage()
		case n.Kind == graph.Reduce:
			reduces = append(reduces, n)
		case n.Kind == graph.MatMul && c.boxed(n) != nil:
			err = c.stackStage(n)
		case n.Kind == graph.MatMul:
			err = c.matmulStage(n)
		default:
			err = c.keepStage(n)
		}
		if err != nil {
			return err
		}
	}
	for _, together := range c.shared(reduces) {
		if err := c.reduceStage(together); err != nil {
			return err
		}
	}
	return nil
}

// shared groups reductions that are computed in one pass: those of one shape along the
// same axes that read some array in common with the first of them.
func (c *compiler) shared(reduces []*graph.Node) (groups [][]*graph.Node) {
	type leaf struct {
		of   string
		node *graph.Node
	}
	group := map[leaf]int{}
	for _, n := range reduces {
		of := fmt.Sprint(n.Fold.Axes, n.In[0].Shape)
		leaves := c.leaves(n.In[0])
		first := len(groups)
		for _, in := range leaves {
			if i, ok := group[leaf{of, in}]; ok {
				first = min(first, i)
			}
		}
		if first < len(groups) {
			groups[first] = append(groups[first], n)
			continue
		}
		groups = append(groups, []*graph.Node{n})
		for _, in := range leaves {
			if _, ok := group[leaf{of, in}]; !ok {
				group[leaf{of, in}] = first
			}
		}
	}
	return groups
}

// leaves are the arrays and generators that computing a node reads.
func (c *compiler) leaves(n *graph.Node) (all []*graph.Node) {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node)
	visit = func(n *graph.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if len(n.In) == 0 || c.materialised(n) {
			if n.Kind != graph.Constant {
				all = append(all, n)
			}
			return
		}
		for _, in := range n.In {
			visit(in)
		}
	}
	visit(n)
	return all
}

// add adds a stage, with what it computes that one made before it computes too.
func (c *compiler) add(s plan.Stage) {
	for _, n := range c.repeats {
		if text := n.String(); !slices.Contains(s.Repeats, text) && len(s.Repeats) < mostRepeats {
			s.Repeats = append(s.Repeats, text)
		}
	}
	c.repeats = nil
	c.plan.Stages = append(c.plan.Stages, s)
}

// mostRepeats bounds what is said of a stage.
const mostRepeats = 3

// keepStage materialises a node: an operation with chunks of its own, or what is used
// more than once.
func (c *compiler) keepStage(n *graph.Node) error {
	p := c.plan
	s := plan.Stage{Kind: plan.MapStage, Name: n.String(), Site: n.Site.String()}
	if why := c.why[n]; why != "" {
		s.Note = "kept: " + why
	}
	prog := c.fuse(n, n)
	s.Programs = []plan.Program{prog}
	var chunks []int
	if n.Kind == graph.Blockwise {
		chunks = blockwise.ChunksOf(n.Blocks.Op)
	}
	if s.FixedChunks = chunks != nil; !s.FixedChunks {
		chunks, _ = chunksOf(p, &prog, n)
	}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: grid.Clip(chunks, n.Shape)}
	out, ok, err := c.chunkOutput(n, &s)
	switch {
	case err != nil:
		return err
	case ok:
	case scattered(s.Grid.Chunks, n.Shape, n.DType.Size()):
		out = c.hold(n, temporary(n.String(), n.Shape, n.DType))
		p.Arrays[out].Blocks = s.Grid.Chunks
	default:
		if out, err = c.result(n); err != nil {
			return err
		}
	}
	s.Outputs = []int{out}
	c.add(s)
	return nil
}

// chunkOutput adds the output of a stage whose chunks are whole chunks of it, which its tasks
// then write themselves.
func (c *compiler) chunkOutput(n *graph.Node, s *plan.Stage) (int, bool, error) {
	k := c.direct(n)
	if k < 0 || !s.FixedChunks || c.targets[k].Path == "" || c.targets[k].Region != nil {
		return 0, false, nil
	}
	a, err := c.output(k, s.Grid.Chunks)
	if err != nil || !a.Layout.Sessions() {
		return 0, false, err
	}
	for d, c := range s.Grid.Chunks {
		if c%a.Layout.Unit[d] != 0 && c < n.Shape[d] {
			return 0, false, nil
		}
	}
	s.StoreChunk = a.Layout.Chunks()
	c.outputs[k] = c.hold(n, a)
	return c.outputs[k], true, nil
}

// result adds the array that a held node's stage fills: the output, or a temporary.
// Stages that are no maps write boxes of their own, so that an output in units of
// its own is copied from a temporary.
func (c *compiler) result(n *graph.Node) (int, error) {
	if k := c.direct(n); k >= 0 {
		a, err := c.output(k, nil)
		if err != nil {
			return 0, err
		}
		if a.Layout.Unit == nil || a.Layout.Open {
			c.outputs[k] = c.hold(n, a)
			return c.outputs[k], nil
		}
	}
	return c.hold(n, temporary(n.String(), n.Shape, n.DType)), nil
}

// output is the array that the plan returns for a target. natural are the chunks that
// suit the stage that writes it, where the user names none.
func (c *compiler) output(k int, natural []int) (plan.Array, error) {
	root, t := c.roots[k], &c.targets[k]
	a := plan.Array{Place: plan.InResult, Name: root.String(), Path: t.Path, Shape: root.Shape, DType: root.DType, Region: t.Region, Whole: t.Whole, Grow: t.Grow, Details: t.Details}
	if t.Path == "" {
		a.Place = plan.InCollect
		return a, nil
	}
	a.Collection, a.Member = c.collection(t.Collection), t.Member
	m := t.meta(root)
	if m.Chunks == nil && t.Region == nil {
		m.Chunks = natural
	}
	var err error
	a.Layout, err = storage.LayoutOf(t.Path, m)
	a.Chunks, a.Shards = m.Chunks, m.Shards
	return a, err
}

// collection returns the number of a collection, from 1 on; 0 for none.
func (c *compiler) collection(of *storage.CollectionMeta) int {
	if of == nil {
		return 0
	}
	n, ok := c.collections[of]
	if !ok {
		c.plan.Collections = append(c.plan.Collections, *of)
		n = len(c.plan.Collections)
		c.collections[of] = n
	}
	return n
}

// resultStage writes the values of a root to its output.
func (c *compiler) resultStage(k int) error {
	root, t, p := c.roots[k], &c.targets[k], c.plan
	s := plan.Stage{Kind: plan.MapStage, Name: root.String(), Site: root.Site.String()}
	for i, n := range t.SideReductions {
		f, err := foldOf(n)
		if err != nil {
			return err
		}
		if len(f.Axes) < len(root.Shape) || !slices.Equal(c.roots[1+i].Shape, root.Shape) {
			return fmt.Errorf("%s is not along all axes of an array of shape %s", n, grid.Format(root.Shape))
		}
		s.Folds = append(s.Folds, f)
	}
	roots := []*graph.Node{root}
	if t.SideReductions != nil {
		roots = c.roots
	}
	prog := c.program(roots...)
	s.Programs = []plan.Program{prog}
	natural, stored := chunksOf(p, &prog, root)
	out, err := c.output(k, stored)
	if err != nil {
		return err
	}
	s.Grid = grid.Grid{Shape: root.Shape, Chunks: natural}
	switch unit := out.Layout.Unit; {
	case unit != nil: // a chunk, or a shard of chunks
		s.StoreChunk = unit
		if out.Layout.Chunk != nil {
			s.StoreChunk = out.Layout.Chunk
		}
		s.Grid.Chunks = grid.Clip(unit, root.Shape)
		if t.Region != nil {
			s.Grid.Chunks, s.Grid.Offset = unit, phase(t.Region.Start, unit)
		}
	case t.Chunks != nil:
		s.Grid.Chunks = grid.Clip(t.Chunks, root.Shape)
	case out.Place == plan.InResult && len(s.Folds) == 0: // those with folds write tiles of them
		s.Grid.Chunks = wholeRows(p, &prog, natural, root.Shape, root.DType.Size())
	}
	if len(s.Folds) > 0 {
		foldOrder(p, &s)
	}
	c.outputs[k] = p.AddArray(out) // which no other stage can read
	s.Outputs = []int{c.outputs[k]}
	c.add(s)
	return nil
}

// chunksOf are the chunks of a map's tasks, and those that suit its result.
func chunksOf(p *plan.Plan, prog *plan.Program, n *graph.Node) (natural, stored []int) {
	size := n.DType.Size()
	if stored := shapes.Stored(p, prog); stored != nil {
		return shapes.Grow(stored, n.Shape, shapes.ChunkBytes/prog.ItemSize(size)), stored
	}
	natural = mapChunks(p, prog, n.Shape, size)
	return natural, natural
}

// wholeRows widens chunks whose rows would be short runs of a file in C order, because the
// inputs are chunked, to whole rows of it where that leaves enough tasks.
func wholeRows(p *plan.Plan, prog *plan.Program, chunks, shape []int, size int) []int {
	if shapes.Stored(p, prog) == nil || prog.HasBlocks() || shapes.ReadsRemote(p, prog.Arrays()) {
		return chunks
	}
	most := min(grid.Size(shape)*prog.ItemSize(size)/rowTasks, shapes.RowBytes)
	rows := slices.Clone(chunks)
	for d := len(rows) - 1; d >= 0 && grid.Run(rows, shape, size) < longRun; d-- {
		rows[d] = max(shape[d], 1)
		if grid.Size(rows)*prog.ItemSize(size) > most {
			break
		}
		chunks = slices.Clone(rows)
	}
	return chunks
}

// phase is each start's offset in its chunk.
func phase(start, chunks []int) []int {
	at := make([]int, len(start))
	for d := range at {
		at[d] = start[d] % chunks[d]
	}
	return at
}

func (c *compiler) reduceStage(nodes []*graph.Node) error {
	p := c.plan
	ins := make([]*graph.Node, len(nodes))
	name := ""
	for i, n := range nodes {
		ins[i] = n.In[0]
		if i > 0 {
			name += ", "
		}
		name += n.String()
	}
	prog := c.program(ins...)
	shape := ins[0].Shape
	s := plan.Stage{Kind: plan.ReduceStage, Name: name, Site: nodes[0].Site.String(), Programs: []plan.Program{prog}}
	for _, n := range nodes {
		f, err := foldOf(n)
		if err != nil {
			return err
		}
		s.Folds = append(s.Folds, f)
		out, err := c.result(n)
		if err != nil {
			return err
		}
		s.Outputs = append(s.Outputs, out)
	}
	s.Grid = grid.Grid{Shape: shape, Chunks: reduceChunks(&prog, shapes.Stored(p, &prog), shape, nodes[0].Fold.Axes)}
	if t, ok := takenTiles(&prog); ok {
		s.Grid.Chunks, s.FoldTile = t.Chunks(shape, nodes[0].Fold.Axes)
		s.FoldBlock = grid.Auto(s.FoldTile, 1, plan.BlockElems)
		s.Note = "the product's tiles are taken as they are made"
	} else if long := longChunks(p, &prog, s.Grid.Chunks); long != nil {
		s.Grid.Chunks, s.FoldTile, s.FoldBlock = long, long, grid.Auto(long, 1, plan.BlockElems)
	} else {
		foldOrder(p, &s)
	}
	c.add(s)
	return nil
}

// foldOrder decides the order of additions: by whole stored chunks, as many as are
// read at once.
func foldOrder(p *plan.Plan, s *plan.Stage) {
	prog := &s.Programs[0]
	s.FoldTile = s.Grid.Chunks
	if s.StoreChunk != nil {
		s.FoldTile = s.StoreChunk
	} else if stored := shapes.Stored(p, prog); stored != nil {
		s.FoldTile = shapes.Grow(grid.Clip(stored, s.Grid.Chunks), s.Grid.Chunks, shapes.TileBytes/prog.ItemSize(1))
	}
	s.FoldBlock = grid.Auto(s.FoldTile, 1, plan.BlockElems)
}

func foldOf(n *graph.Node) (plan.Fold, error) {
	in := n.In[0]
	if _, ok := kernel.NewFolder(n.Fold.Kind, in.DType); !ok {
		return plan.Fold{}, fmt.Errorf("%s of %s is not defined", n.Fold.Kind, in.DType)
	}
	f := plan.Fold{Kind: n.Fold.Kind, Axes: n.Fold.Axes, DDof: n.Fold.DDof, Count: 1}
	for _, a := range f.Axes {
		f.Count *= int64(in.Shape[a])
	}
	return f, nil
}
