package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
)

func init() { blockwise.Register("rows", Rows{}) }

// Rows is an operation that computes an expression with reductions along the last axes, such as a
// softmax of each row, of what it reads once. It is a plan for the rows of a box: the arrays in its
// files are the operation's inputs, stages that reduce along all axes from First on make a value of each
// row, and the last stage makes the result. Each reduction adds up in the order that its stage says, so that it has
// the bits that the stage by itself would give.
type Rows struct {
	First int   `json:"first"`
	Plan  *Plan `json:"plan"`
}

// FillRows fills a box of the result. Package vm sets it.
var FillRows func(ctx context.Context, r Rows, t *blockwise.Task) error

// Fill computes the elements of t.Box into t.Dst.
func (r Rows) Fill(ctx context.Context, t *blockwise.Task) error { return FillRows(ctx, r, t) }

// Requirements is what filling a box takes: all of its rows are read.
func (r Rows) Requirements(box []int) blockwise.Requirements {
	rows := r.RowsOf(box)
	var scratch blockwise.ScratchLayout
	r.Buffers(&scratch, box)
	need := blockwise.Requirements{Scratch: scratch.Size(), DisjointReads: slices.Equal(rows, box), Work: int64(float64(grid.Size(rows)) * r.nanos())}
	for i := range r.Inputs() {
		need.Reads = append(need.Reads, grid.Clip(rows, r.Plan.Arrays[i].Shape))
	}
	return need
}

// Inputs is the number of inputs, which are the first arrays of the plan.
func (r Rows) Inputs() int {
	n := slices.IndexFunc(r.Plan.Arrays, func(a Array) bool { return a.Place != InFile })
	return max(n, 0)
}

// shape is that of the result.
func (r Rows) shape() []int { return r.Plan.Arrays[r.Plan.Output].Shape }

// RowsOf are the lengths of a box of the rows of one.
func (r Rows) RowsOf(box []int) []int {
	return append(slices.Clone(box[:r.First]), r.shape()[r.First:]...)
}

// Whole is the box of the rows of one.
func (r Rows) Whole(b grid.Box) grid.Box {
	start := slices.Clone(b.Start)
	clear(start[r.First:])
	return grid.Box{Start: start, Shape: r.RowsOf(b.Shape)}
}

// HeldBox is what a box of the domain needs of an array of the plan, along whose axes of length one it is
// broadcast.
func (r Rows) HeldBox(array int, b grid.Box) grid.Box {
	shape := r.Plan.Arrays[array].Shape
	held := grid.Box{Start: slices.Clone(b.Start[:len(shape)]), Shape: grid.Clip(b.Shape, shape)}
	for d, n := range shape {
		if n == 1 {
			held.Start[d] = 0
		}
	}
	return held
}

// nanos is what an element takes.
func (r Rows) nanos() (sum float64) {
	for i := range r.Plan.Stages {
		s := &r.Plan.Stages[i]
		prog := &s.Programs[0]
		for _, in := range prog.Code {
			if in.Op == kernel.Invalid {
				sum += cost.Cast(in.Type, in.To)
			} else {
				sum += cost.Elementwise(in.Op, in.Type)
			}
		}
		for k, f := range s.Folds {
			sum += f.Kind.Row().Cost(prog.Type(prog.Out[s.FoldOut(k)]))
		}
	}
	return sum
}

// groupElems is about how many elements are computed from beginning to end before the next ones: whole
// rows that stay in a core's cache.
const groupElems = 4 * BlockElems

// Group are the lengths of the rows of a box that are computed together.
func (r Rows) Group(rows []int) []int {
	return grid.Auto(rows, 1, max(grid.Size(rows[r.First:]), groupElems))
}

// Block are the lengths of the blocks by which a stage computes a group: along the rows those of its
// order of additions.
func (r Rows) Block(s *Stage, group []int) []int {
	if s.Kind == MapStage {
		return grid.Auto(group, 1, BlockElems)
	}
	along := grid.Clip(s.FoldBlock, s.Grid.Shape)[r.First:]
	return append(grid.Auto(group[:r.First], grid.Size(along), BlockElems), along...)
}

// RowBuffers are what filling a box works in.
type RowBuffers struct {
	Arrays         [][]byte // of each array of the plan: the box of an input, and of a reduction the values of a group
	Parts          [][]byte // of each input: a block that does not lie together
	Registers      [][]byte // of each stage
	States, Totals [][]byte // of each reduction: of a part of the rows, and of what is merged
	Block          []byte   // of the result
}

// Buffers takes what filling a box works in.
func (r Rows) Buffers(from *blockwise.ScratchLayout, box []int) (b RowBuffers) {
	rows := r.RowsOf(box)
	group := r.Group(rows)
	values := grid.Size(group[:r.First])
	cut := false
	for i := range r.Plan.Stages {
		s := &r.Plan.Stages[i]
		cut = cut || s.Kind == ReduceStage && !slices.Equal(r.Block(s, group)[r.First:], group[r.First:])
		b.Registers = append(b.Registers, from.Take(int(s.Programs[0].RegisterBytes(s.Kind == MapStage))))
		for k := range s.Folds {
			size := s.Folder(k).Size() * values
			b.States = append(b.States, from.Take(size))
			if s.ChunksPerResult() > 1 {
				b.Totals = append(b.Totals, from.Take(size))
			} else {
				b.Totals = append(b.Totals, nil)
			}
		}
	}
	for i := range r.Plan.Arrays[:r.Plan.Output] {
		a := &r.Plan.Arrays[i]
		if a.Place != InFile {
			b.Arrays = append(b.Arrays, from.Take(values*a.DType.Size()))
			continue
		}
		b.Arrays = append(b.Arrays, from.Take(grid.Size(grid.Clip(rows, a.Shape))*a.DType.Size()))
		part := 0
		if cut {
			part = BlockElems * a.DType.Size()
		}
		b.Parts = append(b.Parts, from.Take(part))
	}
	b.Block = from.Take(BlockElems * r.Plan.Arrays[r.Plan.Output].DType.Size())
	return b
}

// Rows is the load's operation of rows, if it is one.
func (l *Load) Rows() (r Rows, ok bool) {
	if l.Op != nil {
		r, ok = l.Op.Op.(Rows)
	}
	return r, ok
}

// checkLoad returns an error for what is no operation of rows, or not that of a load.
func (r Rows) checkLoad(l *Load) error {
	if r.Plan == nil {
		return errors.New("it has no plan for rows")
	}
	if err := r.Plan.check(); err != nil {
		return fmt.Errorf("its plan for rows: %w", err)
	}
	if out := r.Plan.Arrays[r.Plan.Output]; !slices.Equal(out.Shape, l.Shape) || out.DType != l.Type || len(l.Inputs) != r.Inputs() {
		return errors.New("its plan for rows makes another array")
	}
	for i := range l.Inputs {
		in := &l.Inputs[i]
		if a := &r.Plan.Arrays[i]; !slices.Equal(in.Domain, a.Shape) || len(in.Out) == 0 || in.checkCode() != nil || in.Type(in.Out[0]) != a.DType {
			return fmt.Errorf("input %d is not that of its plan for rows", i)
		}
	}
	shape, last := r.shape(), len(r.Plan.Stages)-1
	if r.Plan.Others != nil || r.First < 1 || r.First >= len(shape) || r.Plan.Output != len(r.Plan.Arrays)-1 || grid.Size(shape) == 0 {
		return errors.New("it has no rows")
	}
	for i := range r.Plan.Arrays[:r.Plan.Output] {
		a := &r.Plan.Arrays[i]
		if a.Place == InFile && (i >= r.Inputs() || len(a.Shape) != len(shape)) || a.Place != InFile && (a.Place != InTemp || !slices.Equal(a.Shape, shape[:r.First])) {
			return fmt.Errorf("array %d of its plan is no input and no value of its rows", i)
		}
	}
	for i := range r.Plan.Stages {
		s := &r.Plan.Stages[i]
		if s.Kind == MatMulStage || s.Factors != nil || (s.Kind == MapStage) != (i == last) || s.Kind == MapStage && len(s.Folds) > 0 ||
			!slices.Equal(s.Grid.Shape, shape) || s.Kind == ReduceStage && !s.ReducesRows(r.First) || grid.Size(r.Block(s, shape)) > BlockElems {
			return fmt.Errorf("stage %d of its plan is no reduction of rows", i)
		}
		for l := range s.Arrays() {
			if !l.AlongRows(r.Plan.Arrays[l.Array].Shape) {
				return fmt.Errorf("stage %d of its plan reads other rows", i)
			}
		}
		for k := range s.Programs[0].Loads {
			if s.Programs[0].Loads[k].Kind == LoadBlocks {
				return fmt.Errorf("stage %d of its plan has an operation", i)
			}
		}
	}
	return nil
}

// AlongRows reports a load whose first axes are those of the domain, in order, all of them or of length one.
func (l *Load) AlongRows(shape []int) bool {
	for d, n := range shape {
		if a := l.View.Axis[d]; l.View.Start[d] != 0 || n != 1 && (a != d || n != l.View.Shape[d] || l.View.Step[d] != 1) || a >= 0 && a != d {
			return false
		}
	}
	return true
}

// ReducesRows reports a reduction along all axes from one on. The bits of such a one do not depend on
// which rows are folded together, unless a block has one element of each: then rows are its columns.
func (s *Stage) ReducesRows(first int) bool {
	last := len(s.Grid.Shape) - 1
	return s.Kind == ReduceStage && last >= first && len(s.Folds[0].Axes) == last+1-first && s.Folds[0].Axes[0] == first && s.Grid.Shape[last] > 1 &&
		s.FoldTile[last] > 1 && s.Grid.Shape[last]%s.FoldTile[last] != 1 && s.FoldBlock[last] > 1
}
