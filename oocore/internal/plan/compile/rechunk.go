package compile

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
)

// Where each output chunk would read or decode most input chunks, as in a transpose, the input
// would be read many times over. The output is then written a part of a chunk at a time, in the
// order of the input, if its chunks are not encoded. Otherwise the input is first copied to a
// temporary array, whose chunks are along each axis the smaller of what is read and what is
// written (Rechunker's scheme). The first takes one pass, the second two. A file in C order that
// would be written a few columns at a time is written by whole rows, of parts of chunks that lie
// open or of such a copy.

const (
	// passRun is how many bytes together such a pass reads of a file in C order.
	passRun = 16 << 10
	// rowTasks is how many tasks there are at the least that are widened to whole rows of a file, and longRun
	// what they are widened for.
	rowTasks, longRun = 8, 1 << 20
)

// readAmplified reports that reading a load by boxes of the domain reads its bytes many
// times over.
func readAmplified(p *plan.Plan, l *plan.Load, box []int) bool {
	if l.Kind != plan.LoadArray {
		return false
	}
	a := &p.Arrays[l.Array]
	if a.Place != plan.InFile && a.Place != plan.InTemp || a.Bytes() == 0 {
		return false
	}
	times := shapes.ReadAmplification(p, l, box)
	bytes := float64(l.Type.Size())
	for _, axis := range l.View.Axis {
		if axis >= 0 {
			bytes *= float64(l.View.Shape[axis])
		}
	}
	return times > acrossTimes && times*bytes > shapes.AcrossBytes
}

// passChunks are what each task of a pass over a load reads, in the domain, where chunks of the
// given lengths are written: long runs or whole stored chunks, and then as much as possible
// along the axes where the chunks that are written are long.
func passChunks(p *plan.Plan, l *plan.Load, written []int) []int {
	a := &p.Arrays[l.Array]
	size := l.Type.Size()
	lengths := slices.Repeat([]int{1}, len(l.View.Shape))
	stored := a.SmallestRead()
	switch {
	case stored == nil:
		stored = grid.Auto(a.Shape, size, passRun)
	case a.ReadInParts():
		stored = grid.Auto(grid.Clip(stored, a.Shape), size, passRun)
	}
	for d, axis := range l.View.Axis {
		if axis >= 0 {
			lengths[axis] = stored[d] / l.View.Stride(d)
		}
	}
	lengths, written = grid.Clip(lengths, l.View.Shape), grid.Clip(written, l.View.Shape)
	first := slices.Clone(lengths)
	for {
		best := shortest(lengths, written)
		if best < 0 || 2*grid.Size(lengths)*size > shapes.PassBytes {
			return lengths
		}
		lengths[best] = min(2*lengths[best], (l.View.Shape[best]+first[best]-1)/first[best]*first[best])
		lengths[best] = min(lengths[best], l.View.Shape[best])
	}
}

// rearrange makes a load that boxes of the domain lie across fit for them: a temporary
// array lies in smaller blocks, a stored one is rechunked.
func (c *compiler) rearrange(l *plan.Load, written []int, site string) {
	p := c.plan
	a := &p.Arrays[l.Array]
	if a.Place != plan.InTemp {
		c.rechunk(l, written, site)
		return
	}
	if a.Blocks == nil {
		a.Blocks = grid.Clip(writtenChunks(p, l.Array), a.Shape)
	}
	blocks := slices.Clone(a.Blocks)
	for d, axis := range l.View.Axis {
		if axis >= 0 {
			blocks[d] = min(blocks[d], written[axis]*l.View.Stride(d))
		}
	}
	a.Blocks = grid.Clip(blocks, a.Shape)
}

// rechunk copies what a load reads to a temporary array of blocks, and makes the load
// read that.
func (c *compiler) rechunk(l *plan.Load, written []int, site string) {
	p := c.plan
	key := fmt.Sprint(l.Array, l.View, written)
	if copied, ok := c.copies[key]; ok {
		l.Array, l.View = copied.Array, copied.View
		return
	}
	lengths := passChunks(p, l, written)
	from := *l
	from.View = grid.View{Axis: make([]int, len(l.View.Axis)), Start: l.View.Start, Step: l.View.Step}
	to := grid.View{Shape: l.View.Shape}
	var chunks, blocks []int
	for d, axis := range l.View.Axis {
		from.View.Axis[d] = -1
		if axis < 0 {
			continue
		}
		from.View.Axis[d] = len(from.View.Shape)
		from.View.Shape = append(from.View.Shape, l.View.Shape[axis])
		to.Axis, to.Start, to.Step = append(to.Axis, axis), append(to.Start, 0), append(to.Step, 1)
		chunks = append(chunks, lengths[axis])
		blocks = append(blocks, min(lengths[axis], written[axis]))
	}
	prog := plan.Program{Domain: from.View.Shape, Loads: []plan.Load{from}, Out: []int{0}}
	name := "rechunk " + p.Arrays[l.Array].Name
	copied := temporary(name, prog.Domain, l.Type)
	copied.Blocks = grid.Clip(blocks, prog.Domain)
	i := p.AddArray(copied)
	s := plan.Stage{Kind: plan.MapStage, Name: name, Site: site, Programs: []plan.Program{prog}, Outputs: []int{i},
		Grid: grid.Grid{Shape: prog.Domain, Chunks: grid.Clip(chunks, prog.Domain)},
		Note: fmt.Sprintf("a pass of its own, by blocks of %s: what is written lies across what is read", grid.Format(p.Arrays[i].Blocks))}
	p.Stages = append(p.Stages, s)
	l.Array, l.View = i, to
	c.copies[key] = *l
}

// insertRechunks adds the passes that bring inputs into another order, or decode them,
// before the stages that would read them many times over.
func (c *compiler) insertRechunks() error {
	stages := c.plan.Stages
	c.plan.Stages = make([]plan.Stage, 0, len(stages))
	for _, s := range stages {
		if s.Kind == plan.MatMulStage {
			for i := range s.Programs {
				c.decodeOperand(&s.Programs[i], s.Site)
			}
		} else {
			switch {
			case s.FixedChunks:
			case s.StoreChunk != nil:
				c.acrossUnits(&s)
			case s.Kind == plan.MapStage:
				c.acrossRows(&s)
				if l := shortTransposed(c.plan, &s.Programs[0], s.Grid.Chunks); l != nil {
					c.rearrange(l, s.Grid.Chunks, s.Site)
				}
				c.acrossInputs(&s, s.Grid.Chunks)
			default:
				c.acrossInputs(&s, s.FoldTile)
			}
			c.insertRechunk(&s.Programs[0], s.Grid.Chunks, s.Site)
		}
		c.plan.Stages = append(c.plan.Stages, s)
	}
	return nil
}

// acrossUnits adapts a stage whose chunks lie across what its program reads: in one
// pass over the first such input where chunks of the output can be written a part at a time, else
// each such input is rechunked first.
func (c *compiler) acrossUnits(s *plan.Stage) {
	written, layout := grid.Clip(s.StoreChunk, s.Grid.Shape), c.plan.Arrays[s.Outputs[0]].Layout
	for i := range s.Programs[0].Loads {
		l := &s.Programs[0].Loads[i]
		if !readAmplified(c.plan, l, written) {
			continue
		}
		if !layout.Sessions() && s.Grid.Offset == nil {
			s.Grid.Chunks, s.StoreChunk = passChunks(c.plan, l, written), nil
			c.acrossInputs(s, s.Grid.Chunks)
			return
		}
		c.rearrange(l, written, s.Site)
	}
}

// acrossRows adapts a stage that would write stored chunks to a file in C order as short runs, such
// as a few columns at a time: its tasks write whole rows. Of inputs that lie open they read a part
// of each chunk; others are rechunked first.
func (c *compiler) acrossRows(s *plan.Stage) {
	p, prog, out := c.plan, &s.Programs[0], &c.plan.Arrays[s.Outputs[0]]
	if out.Place != plan.InResult || out.Layout.Unit != nil || len(s.Folds) > 0 || prog.HasBlocks() || shapes.Stored(p, prog) == nil ||
		out.Bytes() <= shapes.AcrossBytes || grid.Run(s.Grid.Chunks, s.Grid.Shape, out.DType.Size()) >= crossRun {
		return
	}
	s.Grid.Chunks = grid.Auto(s.Grid.Shape, prog.ItemSize(out.DType.Size()), shapes.PassBytes)
	alignRows(s.Grid.Chunks, s.Grid.Shape, out.DType.Size())
}

// acrossInputs rechunks the inputs that a stage would read many times over, because its boxes follow the
// chunks of another input.
func (c *compiler) acrossInputs(s *plan.Stage, box []int) {
	prog := &s.Programs[0]
	if shapes.Stored(c.plan, prog) == nil {
		return
	}
	for i := range prog.Loads {
		if l := &prog.Loads[i]; readAmplified(c.plan, l, box) {
			c.rearrange(l, box, s.Site)
		}
	}
}

// insertRechunk rechunks what operations would read many times over for boxes of a program's
// domain, because those lie across it.
func (c *compiler) insertRechunk(prog *plan.Program, box []int, site string) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind != plan.LoadBlocks {
			continue
		}
		if _, ok := l.Op.Op.(contract.Tiles); ok {
			for k := range l.Inputs {
				c.decodeOperand(&l.Inputs[k], site)
			}
			continue
		}
		need := l.Op.Requirements(l.Box(box))
		for k := range need.Reads {
			in := &l.Inputs[k]
			reads := grid.Clip(need.Span(k), in.Domain)
			for j := range in.Loads {
				if !need.Gather && readAmplified(c.plan, &in.Loads[j], reads) {
					c.rearrange(&in.Loads[j], reads, site)
				}
			}
			c.insertRechunk(in, reads, site)
		}
	}
}
