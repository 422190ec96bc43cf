package plan

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// What a decoded plan refers to has to be in it: a plan that was cut or edited is an
// error, and no panic of what runs it.

func (p *Plan) check() error {
	for i := range p.Outputs() {
		if i < 0 || i >= len(p.Arrays) {
			return errors.New("it has no output")
		}
	}
	for i := range p.Arrays {
		a := &p.Arrays[i]
		if a.DType.Size() == 0 {
			return fmt.Errorf("array %d has no type", i)
		}
		if err := grid.Check(a.Shape, a.DType.Size()); err != nil {
			return fmt.Errorf("array %d: %w", i, err)
		}
		if err := a.check(); err != nil {
			return fmt.Errorf("array %d: %w", i, err)
		}
	}
	filled := make([]bool, len(p.Arrays))
	for i := range p.Arrays {
		filled[i] = p.Arrays[i].Place == InFile || p.Arrays[i].Place == InData
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		if err := p.checkStage(s); err != nil {
			return fmt.Errorf("stage %d: %w", i, err)
		}
		for l := range s.Arrays() {
			if !filled[l.Array] {
				return fmt.Errorf("stage %d reads array %d before it is filled", i, l.Array)
			}
		}
		for _, a := range s.Outputs {
			if filled[a] {
				return fmt.Errorf("stage %d fills array %d, which is full", i, a)
			}
			filled[a] = true
		}
	}
	for i := range p.Outputs() {
		if c := p.Arrays[i].Collection; c < 0 || c > len(p.Collections) {
			return fmt.Errorf("its output is in collection %d of %d", c, len(p.Collections))
		}
		if place := p.Arrays[i].Place; !filled[i] || place != InResult && (place != InCollect || len(p.Others) > 0) {
			return errors.New("no stage fills its output")
		}
	}
	return nil
}

func (a *Array) check() error {
	switch a.Place {
	case InFile, InTemp, InResult, InCollect:
	case InData:
		if int64(len(a.Data)) != a.Bytes() {
			return fmt.Errorf("it has %d bytes of data for %d", len(a.Data), a.Bytes())
		}
	default:
		return fmt.Errorf("its place %q is unknown", a.Place)
	}
	for _, boxes := range [][]int{a.Chunks, a.Shards, a.Blocks, a.Layout.Unit, a.Layout.Chunk} {
		if boxes == nil {
			continue
		}
		if err := checkBoxes(boxes, a.Shape); err != nil {
			return err
		}
	}
	for _, n := range []int64{a.Work.Whole, a.Work.Stream, a.Work.Heap, a.Work.StreamHeap, a.Work.Open, a.Layout.Work.Whole, a.Layout.Work.Stream, a.Layout.Work.Heap, a.Layout.Work.StreamHeap} {
		if n < 0 || n > maxWork {
			return fmt.Errorf("decoding it takes %d bytes", n)
		}
	}
	return nil
}

// checkBoxes returns an error for boxes that do not cut an array.
func checkBoxes(boxes, shape []int) error {
	if len(boxes) != len(shape) || len(boxes) > 0 && slices.Min(boxes) < 1 {
		return fmt.Errorf("boxes of %s do not cut an array of shape %s", grid.Format(boxes), grid.Format(shape))
	}
	return nil
}

func (p *Plan) checkStage(s *Stage) error {
	if err := grid.Check(s.Grid.Shape, 1); err != nil {
		return err
	}
	dims := len(s.Grid.Shape)
	boxes := [][]int{s.Grid.Chunks}
	programs, outputs := 1, 1
	switch m := s.MatMul; s.Kind {
	case MapStage:
		if s.StoreChunk != nil {
			boxes = append(boxes, s.StoreChunk)
		}
		if s.Factors != nil {
			programs, outputs = 1+len(s.Factors), len(s.Outputs)
		}
	case ReduceStage:
		boxes = append(boxes, s.FoldTile, s.FoldBlock)
		outputs = len(s.Folds)
	case MatMulStage:
		programs = 2
		if m == nil || dims < 2 || m.Type.Size() == 0 || min(m.M, m.N, m.K) < 0 {
			return errors.New("it has no product")
		}
		again := *m
		again.Cut()
		if m.TileM != again.TileM || m.TileN != again.TileN || m.TileK != again.TileK || m.M != s.Grid.Shape[dims-2] || m.N != s.Grid.Shape[dims-1] {
			return errors.New("its product is cut into other tiles than its lengths ask for")
		}
		for i := range s.Programs {
			domain := s.Programs[i].Domain
			if first := len(domain) - 2 - len(m.Summed); first < 0 || !slices.Equal(domain[first:len(domain)-2], m.Summed) {
				return fmt.Errorf("its product sums along axes of %s in an operand of shape %s", grid.Format(m.Summed), grid.Format(domain))
			}
		}
	default:
		return fmt.Errorf("its kind %q is unknown", s.Kind)
	}
	for _, b := range boxes {
		if err := checkBoxes(b, s.Grid.Shape); err != nil {
			return err
		}
	}
	if s.Grid.Offset != nil && len(s.Grid.Offset) != dims {
		return fmt.Errorf("its first chunk begins at %s in an array of shape %s", grid.Format(s.Grid.Offset), grid.Format(s.Grid.Shape))
	}
	if len(s.Programs) != programs || len(s.Outputs) != outputs || outputs == 0 {
		return fmt.Errorf("it has %d programs and %d results", len(s.Programs), len(s.Outputs))
	}
	for _, a := range s.Outputs {
		if a < 0 || a >= len(p.Arrays) {
			return fmt.Errorf("there is no array %d for its result", a)
		}
	}
	for i := range s.Programs {
		if err := p.checkProgram(&s.Programs[i]); err != nil {
			return err
		}
		if domain := s.Programs[i].Domain; s.Kind != MatMulStage && s.Factors == nil && !slices.Equal(domain, s.Grid.Shape) {
			return fmt.Errorf("its program runs over %s, its grid over %s", grid.Format(domain), grid.Format(s.Grid.Shape))
		}
	}
	if s.Factors != nil {
		if s.Kind != MapStage {
			return fmt.Errorf("a stage of kind %q has levels", s.Kind)
		}
		if err := p.checkPyramid(s); err != nil {
			return err
		}
	}
	if prog := &s.Programs[0]; s.Kind != ReduceStage && (!slices.Equal(p.Arrays[s.Outputs[0]].Shape, s.Grid.Shape) ||
		s.Kind == MapStage && prog.Type(prog.Out[0]) != p.Arrays[s.Outputs[0]].DType) {
		return fmt.Errorf("it writes %s into an array of shape %s and other elements", grid.Format(s.Grid.Shape), grid.Format(p.Arrays[s.Outputs[0]].Shape))
	}
	for i, f := range s.Folds {
		for k, a := range f.Axes {
			if a < 0 || a >= dims || k > 0 && a <= f.Axes[k-1] {
				return fmt.Errorf("reduction %d is along axis %d of %d", i, a, dims)
			}
		}
		switch {
		case s.Kind == ReduceStage && !slices.Equal(f.Axes, s.Folds[0].Axes):
			return errors.New("its reductions are along different axes")
		case s.Kind == MapStage && len(f.Axes) != dims:
			return fmt.Errorf("its side reduction is along %d of %d axes", len(f.Axes), dims)
		}
	}
	values, prog := len(s.Folds), &s.Programs[0]
	if s.Kind != ReduceStage {
		values++
	}
	if len(prog.Out) != values {
		return fmt.Errorf("its program has %d values for %d reductions", len(prog.Out), len(s.Folds))
	}
	for i, f := range s.Folds {
		if _, ok := kernel.NewFolder(f.Kind, prog.Type(prog.Out[s.FoldOut(i)])); !ok {
			return fmt.Errorf("reduction %d is not defined for its elements", i)
		}
	}
	return s.checkFormulas()
}

// checkPyramid makes sure that each level is made of the one before alone.
func (p *Plan) checkPyramid(s *Stage) error {
	levels := len(s.Factors) + 1
	if len(s.Programs) != levels || len(s.Outputs) < levels || len(s.Outputs) > levels+1 || s.StoreChunk == nil || s.Grid.Offset != nil || s.Folds != nil || s.FixedChunks {
		return fmt.Errorf("it has %d levels of %d programs", levels, len(s.Programs))
	}
	shape, chunk := s.Grid.Shape, s.StoreChunk
	for k, a := range s.Outputs {
		if a < 0 || a >= len(p.Arrays) {
			return fmt.Errorf("there is no array %d for its result", a)
		}
		out, prog := &p.Arrays[a], &s.Programs[min(k, levels-1)]
		if k > 0 && k < levels {
			by := s.Factors[k-1]
			if err := checkBoxes(by, shape); err != nil {
				return err
			}
			for d, f := range by {
				if chunk[d]%f != 0 && chunk[d] < shape[d] {
					return fmt.Errorf("%d elements of its chunks of %s make one", f, grid.Format(chunk))
				}
			}
			shape, chunk = s.LevelBox(k, grid.Entire(s.Grid.Shape)).Shape, out.Layout.Unit
			for l := range prog.Arrays() {
				if l.Array != s.Outputs[k-1] {
					return fmt.Errorf("level %d is made of array %d", k, l.Array)
				}
			}
		}
		if k < levels && !slices.Equal(chunk, out.Layout.Unit) || len(chunk) != len(shape) || !slices.Equal(out.Shape, shape) || !slices.Equal(prog.Domain, shape) || len(prog.Out) != 1 || prog.Type(prog.Out[0]) != out.DType {
			return fmt.Errorf("it writes %s into an array of shape %s and other elements", grid.Format(prog.Domain), grid.Format(out.Shape))
		}
	}
	return nil
}

func (p *Plan) checkProgram(prog *Program) error {
	if err := grid.Check(prog.Domain, 1); err != nil {
		return err
	}
	for i := range prog.Loads {
		l := &prog.Loads[i]
		v := &l.View
		dims := len(l.Shape)
		if l.Kind == LoadBlocks {
			if err := p.checkOp(l); err != nil {
				return fmt.Errorf("load %d: %w", i, err)
			}
		}
		if l.Type.Size() == 0 {
			return fmt.Errorf("load %d has no type", i)
		}
		switch l.Kind {
		case LoadArray, LoadConst, LoadIota, LoadRandom, LoadBlocks:
		default:
			return fmt.Errorf("load %d is of an unknown kind %q", i, l.Kind)
		}
		shape := l.Shape
		if l.Kind == LoadArray {
			if l.Array < 0 || l.Array >= len(p.Arrays) {
				return fmt.Errorf("there is no array %d to load", l.Array)
			}
			shape = p.Arrays[l.Array].Shape
			dims = len(shape)
			if l.Type != p.Arrays[l.Array].DType {
				return fmt.Errorf("load %d takes %s for %s", i, p.Arrays[l.Array].DType, l.Type)
			}
		}
		if l.Kind != LoadConst && (len(v.Axis) != dims || len(v.Start) != dims || len(v.Step) != dims || len(v.Shape) != len(prog.Domain)) ||
			slices.ContainsFunc(v.Axis, func(a int) bool { return a >= len(prog.Domain) }) {
			return fmt.Errorf("load %d has a view of another array", i)
		}
		if l.Kind != LoadConst && !inside(v, shape, prog.Domain) {
			return fmt.Errorf("load %d reads outside of an array of shape %s", i, grid.Format(shape))
		}
	}
	return prog.checkCode()
}

// checkCode makes sure of a program's instructions and results.
func (p *Program) checkCode() error {
	for i := range p.Code {
		in := &p.Code[i]
		arity := 1
		if in.Op != kernel.Invalid {
			arity = in.Op.Arity()
		}
		if in.To.Size() == 0 || in.Type.Size() == 0 || len(in.Args) != arity {
			return fmt.Errorf("instruction %d takes %d values", i, len(in.Args))
		}
		ok := false
		if in.Op == kernel.Invalid {
			_, ok = kernel.Cast(in.Type, in.To)
		} else if _, ok = kernel.Lookup(in.Op, in.Type); ok {
			ok = in.Op.Result(in.Type) == in.To
		}
		if !ok {
			return fmt.Errorf("instruction %d is not defined for %s", i, in.Type)
		}
		for _, v := range in.Args {
			if v < 0 || v >= len(p.Loads)+i {
				return fmt.Errorf("instruction %d takes a value that comes later, %d", i, v)
			}
		}
	}
	for _, v := range p.Out {
		if v < 0 || v >= len(p.Loads)+len(p.Code) {
			return fmt.Errorf("there is no value %d to write", v)
		}
	}
	if len(p.Out) == 0 {
		return errors.New("a program has no result")
	}
	return nil
}

// checkOp makes sure that a load's operation fits its result and its inputs. One whose
// fields were changed may panic: it is called here with boxes of every form, so that later
// calls do not.
func (p *Plan) checkOp(l *Load) (err error) {
	if l.Op == nil || l.Op.Op == nil {
		return errors.New("it has no operation")
	}
	name := blockwise.Name(l.Op.Op)
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("operation %s is not for a result of shape %s", name, grid.Format(l.Shape))
		}
	}()
	if r, ok := l.Rows(); ok {
		if err := r.checkLoad(l); err != nil {
			return err
		}
	}
	for box := range forms(l.Shape) {
		need := l.Op.Requirements(box)
		if len(need.Reads) != len(l.Inputs) {
			return fmt.Errorf("operation %s has %d inputs, not %d", name, len(l.Inputs), len(need.Reads))
		}
		if need.Scratch < 0 || need.Scratch > maxWork {
			return fmt.Errorf("operation %s works in %d bytes", name, need.Scratch)
		}
		for k, reads := range need.Reads {
			if len(reads) != len(l.Inputs[k].Domain) {
				return fmt.Errorf("input %d of operation %s has another shape", k, name)
			}
		}
	}
	for k := range l.Inputs {
		if err := p.checkProgram(&l.Inputs[k]); err != nil {
			return err
		}
	}
	return nil
}

// checkFormulas makes sure of what a device would compute of a stage: the formulas of operations
// whose fields were changed may panic, too.
func (s *Stage) checkFormulas() (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("an operation of its program has a formula for other arrays")
		}
	}()
	x := s.WithFormulas()
	if x == s {
		return nil
	}
	prog := &x.Programs[0]
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Extent == nil {
			continue
		}
		for box := range forms(prog.Domain) {
			need := l.Op.Requirements(l.Held(box))
			if len(need.Reads) != len(l.Inputs) || need.Scratch < 0 || need.Scratch > maxWork {
				return fmt.Errorf("a window of load %d works in %d bytes", i, need.Scratch)
			}
			for k, reads := range need.Reads {
				if len(reads) != len(l.Inputs[k].Domain) {
					return fmt.Errorf("a window of load %d is of another shape", i)
				}
			}
		}
	}
	return prog.checkCode()
}

// maxWork bounds the bytes that a plan may ask for in addition to its arrays, so that no sum
// of them overflows.
const maxWork = 1 << 50

// forms are boxes of a shape: the whole of it, one element, and for each axis those that
// are long, short, or cut along it alone.
func forms(shape []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		whole, one := grid.Clip(shape, shape), grid.Clip(make([]int, len(shape)), shape)
		if !yield(whole) || !yield(one) {
			return
		}
		for d := range shape {
			long, short, cut := slices.Clone(one), slices.Clone(whole), slices.Clone(whole)
			long[d], short[d], cut[d] = whole[d], 1, (whole[d]+1)/2
			if !yield(long) || !yield(short) || !yield(cut) {
				return
			}
		}
	}
}

// inside reports a view of the domain that stays inside an array of the shape.
func inside(v *grid.View, shape, domain []int) bool {
	if !slices.Equal(v.Shape, domain) || slices.Contains(v.Step, 0) {
		return false
	}
	if grid.Size(domain) == 0 {
		return true
	}
	for d, a := range v.Axis {
		last := v.Start[d]
		if a >= 0 && domain[a] > 1 {
			if v.Stride(d) > shape[d] || domain[a] > shape[d] {
				return false
			}
			last += (domain[a] - 1) * v.Step[d]
		}
		if v.Start[d] < 0 || v.Start[d] >= shape[d] || last < 0 || last >= shape[d] {
			return false
		}
	}
	return true
}
