package vm

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

func init() { plan.FillRows = fillRows }

// rowFiller fills a box of what a plan.Rows computes.
type rowFiller struct {
	plan.Rows
	plan.RowBuffers
	task  *blockwise.Task
	whole grid.Box // the rows of the box
	steps []rowStep
}

// rowStep is a stage of the plan.
type rowStep struct {
	*plan.Stage
	machine        *Machine
	inputs         [][]byte // of the machine
	folders        []kernel.Folder
	layouts        []Layout
	states, totals [][]byte
}

func fillRows(ctx context.Context, r plan.Rows, t *blockwise.Task) error {
	f := &rowFiller{Rows: r, RowBuffers: r.Buffers(t.ScratchLayout(), t.Box.Shape), task: t, whole: r.Whole(t.Box)}
	folds := 0
	for i := range r.Plan.Stages {
		s := rowStep{Stage: &r.Plan.Stages[i]}
		prog := &s.Programs[0]
		var err error
		if s.machine, err = New(prog, f.Registers[i], s.Kind == plan.MapStage); err != nil {
			return err
		}
		s.inputs = make([][]byte, len(prog.Loads))
		for k := range s.Folds {
			s.folders, s.layouts = append(s.folders, s.Folder(k)), append(s.layouts, NewLayout(s.Stage, k))
		}
		s.states, s.totals = f.States[folds:][:len(s.Folds)], f.Totals[folds:][:len(s.Folds)]
		folds += len(s.Folds)
		f.steps = append(f.steps, s)
	}
	for i := range r.Inputs() {
		if err := t.In[i].Read(ctx, r.HeldBox(i, f.whole), f.Arrays[i]); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		for group := range f.whole.Split(r.Group(f.whole.Shape)) {
			for i := range f.steps {
				if s := &f.steps[i]; s.Kind == plan.ReduceStage {
					f.reduce(s, group)
				} else {
					f.result(s, group)
				}
			}
		}
		return nil
	})
}

// reduce makes the values of a group's rows, in the order of additions of a stage: chunk by chunk, tile by
// tile and block by block of each row.
func (f *rowFiller) reduce(s *rowStep, group grid.Box) {
	along := func(lengths []int) []int {
		return append(append([]int{}, group.Shape[:f.First]...), lengths[f.First:]...)
	}
	n := grid.Size(group.Shape[:f.First])
	for i := range s.layouts {
		s.layouts[i].Chunk(group)
		if s.totals[i] != nil {
			s.folders[i].Init(s.totals[i], n)
		}
	}
	for part := range group.Split(along(s.Grid.Chunks)) {
		for i, folder := range s.folders {
			folder.Init(s.states[i], n)
		}
		for tile := range part.Split(along(s.FoldTile)) {
			for b := range tile.Split(f.Rows.Block(s.Stage, group.Shape)) {
				f.block(s, group, b, nil)
				for i, folder := range s.folders {
					s.layouts[i].Fold(folder, s.states[i], n, s.machine.Result(s.FoldOut(i)), b)
				}
			}
		}
		for i, folder := range s.folders {
			if s.totals[i] != nil {
				folder.Merge(s.totals[i], s.states[i], n)
			}
		}
	}
	for i, folder := range s.folders {
		state := s.states[i]
		if s.totals[i] != nil {
			state = s.totals[i]
		}
		a := s.Outputs[i]
		folder.Finish(f.Arrays[a][:n*f.Plan.Arrays[a].DType.Size()], state, n, s.Folds[i].Count, s.Folds[i].DDof)
	}
}

// result computes the part of the box that is in a group.
func (f *rowFiller) result(s *rowStep, group grid.Box) {
	size := f.Plan.Arrays[f.Plan.Output].DType.Size()
	box := f.task.Box
	for b := range group.Split(f.Rows.Block(s.Stage, group.Shape)) {
		in := grid.Meet(b, box)
		if in.Size() == 0 {
			continue
		}
		if in.Size() == b.Size() && grid.Dense(b.Shape, box.Shape) {
			f.block(s, group, b, f.task.Dst[grid.Offset(in.Start, box)*size:][:b.Size()*size])
			continue
		}
		f.block(s, group, b, f.RowBuffers.Block[:b.Size()*size])
		strided.Copy(size, in, f.task.Dst, box, f.RowBuffers.Block, b)
	}
}

// block computes a block of a group.
func (f *rowFiller) block(s *rowStep, group, b grid.Box, place []byte) {
	for k := range s.Programs[0].Loads {
		l := &s.Programs[0].Loads[k]
		if l.Kind != plan.LoadArray {
			continue
		}
		held := group
		if l.Array < f.Inputs() {
			held = f.whole
		}
		held = f.HeldBox(l.Array, held)
		need := f.HeldBox(l.Array, b)
		size := l.Type.Size()
		if grid.Dense(need.Shape, held.Shape) {
			s.inputs[k] = f.Arrays[l.Array][grid.Offset(need.Start, held)*size:][:need.Size()*size]
			continue
		}
		s.inputs[k] = f.Parts[l.Array][:need.Size()*size]
		strided.Copy(size, need, s.inputs[k], need, f.Arrays[l.Array], held)
	}
	s.machine.Tile(b, s.inputs)
	s.machine.Block(b, 0, place)
}
