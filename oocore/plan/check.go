package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/grid"
)

// What a decoded plan refers to has to be in it: a plan that was cut or edited is an
// error, and no panic of what runs it.

func (p *Plan) check() error {
	if p.Output < 0 || p.Output >= len(p.Arrays) {
		return errors.New("it has no output")
	}
	for i := range p.Arrays {
		a := &p.Arrays[i]
		if a.DType.Size() == 0 {
			return fmt.Errorf("array %d has no type", i)
		}
		if err := grid.Check(a.Shape, a.DType.Size()); err != nil {
			return fmt.Errorf("array %d: %w", i, err)
		}
	}
	for i := range p.Stages {
		if err := p.checkStage(&p.Stages[i]); err != nil {
			return fmt.Errorf("stage %d: %w", i, err)
		}
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
		if s.Unit != nil {
			boxes = append(boxes, s.Unit)
		}
	case ReduceStage:
		boxes = append(boxes, s.FoldTile, s.FoldBlock)
		outputs = len(s.Folds)
	case MatMulStage:
		programs = 2
		if m == nil || dims < 2 || min(m.TileM, m.TileN, m.TileK) < 1 {
			return errors.New("its product is not cut into tiles")
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
		if len(b) != dims || dims > 0 && slices.Min(b) < 1 {
			return fmt.Errorf("boxes of %s do not cut an array of shape %s", grid.Format(b), grid.Format(s.Grid.Shape))
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
	}
	for _, f := range s.Folds {
		if s.Kind == MapStage && len(f.Axes) != dims {
			return fmt.Errorf("it folds along %d of its %d axes beside what it writes", len(f.Axes), dims)
		}
	}
	if first := s.Programs[0].Out; s.Kind != ReduceStage && len(first) != 1+len(s.Folds) || s.Kind == ReduceStage && len(first) != len(s.Folds) {
		return fmt.Errorf("its program has %d values for %d reductions", len(first), len(s.Folds))
	}
	return nil
}

func (p *Plan) checkProgram(prog *Program) error {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		v := &l.View
		dims := len(l.Shape)
		if l.Kind == LoadBlocks {
			if err := p.checkOp(l); err != nil {
				return fmt.Errorf("load %d: %w", i, err)
			}
		}
		if l.Kind == LoadArray {
			if l.Array < 0 || l.Array >= len(p.Arrays) {
				return fmt.Errorf("there is no array %d to load", l.Array)
			}
			dims = len(p.Arrays[l.Array].Shape)
		}
		if l.Kind != LoadConst && (len(v.Axis) != dims || len(v.Start) != dims || len(v.Step) != dims || len(v.Shape) != len(prog.Domain)) ||
			slices.ContainsFunc(v.Axis, func(a int) bool { return a >= len(prog.Domain) }) {
			return fmt.Errorf("load %d has a view of another array", i)
		}
	}
	for i := range prog.Code {
		for _, v := range prog.Code[i].Args {
			if v < 0 || v >= len(prog.Loads)+i {
				return fmt.Errorf("instruction %d takes a value that comes later, %d", i, v)
			}
		}
	}
	for _, v := range prog.Out {
		if v < 0 || v >= len(prog.Loads)+len(prog.Code) {
			return fmt.Errorf("there is no value %d to write", v)
		}
	}
	if len(prog.Out) == 0 {
		return errors.New("a program has no result")
	}
	return nil
}
