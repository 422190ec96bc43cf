package slots

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// blockwiseReader computes what an operation of boxes gives for one load of a slot's program.
type blockwiseReader struct {
	slot    *Slot
	op      blockwise.Op
	size    int
	scratch []byte
	back    []byte // the box, where the load shows it backwards
	in      []blockwise.Input
	site    string    // the user's line that made the operation
	state   *boxState // between steps; nil where it is not saved
}

func newBlockwiseReader(s *Slot, l *plan.Load, d *size.LoadBuffers) (*blockwiseReader, error) {
	work, err := s.Alloc(d.Scratch, d.Reversed)
	if err != nil {
		return nil, err
	}
	_, keeps := l.Op.Op.(blockwise.Keeper)
	f := &blockwiseReader{slot: s, op: l.Op.Op, size: l.Type.Size(), site: l.Site, scratch: work[0], back: work[1]}
	for k := range d.Inputs {
		e, err := NewEvaluator(s, &l.Inputs[k], &d.Inputs[k])
		if err != nil {
			return nil, err
		}
		f.in = append(f.in, &input{eval: e, most: d.Inputs[k].Box, at: k, keeps: keeps || s.Stage.Slides(l)})
	}
	return f, nil
}

// Read fills dst with a region of the operation's result, whose steps are 1 or -1.
func (f *blockwiseReader) Read(ctx context.Context, dst []byte, region grid.Region) error {
	box := grid.Box{Start: slices.Clone(region.Start), Shape: region.Count}
	back := false
	for d, step := range region.Step {
		if step < 0 && region.Count[d] > 0 {
			box.Start[d] -= region.Count[d] - 1
			back = back || region.Count[d] > 1
		}
	}
	if !back {
		return f.fill(ctx, dst, box)
	}
	n := box.Size() * f.size
	if err := f.fill(ctx, f.back[:n], box); err != nil {
		return err
	}
	to := grid.Strides(box.Shape)
	from, at := slices.Clone(to), 0
	for d, step := range region.Step {
		if step < 0 {
			at += from[d] * (box.Shape[d] - 1)
			from[d] = -from[d]
		}
	}
	kernel.Copy(f.size, box.Shape, dst, 0, to, f.back[:n], at, from)
	return nil
}

// fill turns a panic of an operation, which may call a user's function, into an error:
// it is one chunk's failure, not the process's.
func (f *blockwiseReader) fill(ctx context.Context, dst []byte, box grid.Box) (err error) {
	if box.Size() == 0 {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Line: graph.Panicked().String(), Site: f.site, Stack: debug.Stack()}
		}
	}()
	t := &blockwise.Task{Box: box, Dst: dst, Scratch: f.scratch, In: f.in,
		Do: func(g func() error) error { return f.slot.Compute(ctx, g) }}
	if f.state != nil {
		f.state.reset()
		defer f.state.leave()
		t.Saver = f.state
	}
	return f.op.Fill(ctx, t)
}

// PanicError is the panic of an operation, most of all of a Go function that it calls. It
// wraps the panic's value where that is an error.
type PanicError struct {
	Value any
	Line  string // where it panicked: file:line
	Site  string // the user's line that made the operation; "" where that is not known
	Stack []byte
}

func (e *PanicError) Error() string {
	text := fmt.Sprintf("the function panicked: %v", e.Value)
	if e.Line != "" {
		text += " (" + e.Line + ")"
	}
	if e.Site != "" {
		text += ", in the operation of " + e.Site
	}
	return text
}

// Unwrap returns the panic's value where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// input reads an input of an operation.
type input struct {
	eval  *Evaluator
	most  []int
	at    int
	keeps bool      // what was read last is where it was read to
	last  *grid.Box // that; nil for nothing
	to    *byte
}

func (in *input) Read(ctx context.Context, box grid.Box, dst []byte) error {
	for d, n := range box.Shape {
		if n > in.most[d] || box.Start[d] < 0 || box.Start[d]+n > in.eval.prog.Domain[d] {
			return fmt.Errorf("an operation reads %s of its input %d of shape %s, and said that it needs boxes of %s",
				box, in.at, grid.Format(in.eval.prog.Domain), grid.Format(in.most))
		}
	}
	kept := 0 // rows that the box before had too
	if in.keeps && in.last != nil && len(dst) > 0 && in.to == &dst[0] {
		if slices.Equal(in.last.Start, box.Start) && slices.Equal(in.last.Shape, box.Shape) {
			return nil
		}
		kept = follows(*in.last, box, dst)
	}
	if in.last = nil; kept > 0 {
		axis := slices.IndexFunc(box.Shape, func(n int) bool { return n > 1 })
		rest := grid.Box{Start: slices.Clone(box.Start), Shape: slices.Clone(box.Shape)}
		rest.Start[axis] += kept
		rest.Shape[axis] -= kept
		if err := in.eval.Eval(ctx, rest, dst[len(dst)/box.Shape[axis]*kept:]); err != nil {
			return err
		}
	} else if err := in.eval.Eval(ctx, box, dst); err != nil {
		return err
	}
	if in.keeps && len(dst) > 0 {
		in.last, in.to = &grid.Box{Start: slices.Clone(box.Start), Shape: slices.Clone(box.Shape)}, &dst[0]
	}
	return nil
}

// follows moves the rows that a box of dst has in common with the one that was read to it before
// to its beginning, and returns how many: 0 unless the box follows that one along its first axis.
func follows(last, box grid.Box, dst []byte) int {
	axis := slices.IndexFunc(box.Shape, func(n int) bool { return n > 1 })
	for d := range box.Shape {
		if axis < 0 || d != axis && (last.Start[d] != box.Start[d] || last.Shape[d] != box.Shape[d]) {
			return 0
		}
	}
	end := last.Start[axis] + last.Shape[axis]
	kept := end - box.Start[axis]
	if box.Start[axis] < last.Start[axis] || kept <= 0 || kept >= box.Shape[axis] {
		return 0
	}
	row := len(dst) / box.Shape[axis]
	from := (last.Shape[axis] - kept) * row
	if from+kept*row > cap(dst) {
		return 0
	}
	copy(dst, dst[:cap(dst)][from:from+kept*row]) // the box before may have been longer
	return kept
}

// WillRead lets a store begin with a box.
func (in *input) WillRead(box grid.Box) {
	if e := in.eval; e.prog.Plain() {
		if from, ok := e.plain.(*source); ok {
			from.willRead(e.prog.Loads[e.prog.Out[0]].View.Region(box))
		}
	}
}
