package size

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// inOrder is an operation that reads boxes of its input one after the other in C order, each once.
type inOrder interface{ InOrder() }

// Streams reports whether the run reads each byte of an input once, and in the order in which they lie, so that it may
// come through a pipe.
func (p *Plan) Streams(input int) bool {
	if p.Device.Memory > 0 || p.Each.Workers > 0 {
		return false // a tile is tried again, or another process reads it
	}
	times := 0
	var stage *Stage
	for i := range p.Stages {
		for l := range p.Stages[i].Arrays() {
			if l.Array == input {
				times, stage = times+1, &p.Stages[i]
			}
		}
	}
	if times != 1 || stage.Kind == plan.MatMulStage || stage.Factors != nil || stage.Grid.Offset != nil {
		return false
	}
	if stage.Kind == plan.ReduceStage { // whose tasks go along axes that it keeps at last
		folded := false
		for d := range stage.Grid.Shape {
			if stage.Grid.Count(d) > 1 {
				if folded && !stage.Folds[0].Folds(d) {
					return false
				}
				folded = folded || stage.Folds[0].Folds(d)
			}
		}
	}
	return p.ordered(&stage.Programs[0], input, stage.Grid.Chunks, stage.Chunk, stage.WriteTile, stage.Tile)
}

// ordered reports whether boxes of a program, and what they read of an array, are runs of its elements.
func (p *Plan) ordered(prog *plan.Program, input int, boxes ...[]int) bool {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		switch {
		case l.Kind == plan.LoadArray && l.Array == input:
			shape := p.Arrays[input].Shape
			return l.View.Plain(shape) && !slices.ContainsFunc(boxes, func(box []int) bool {
				box = grid.Clip(box, shape)
				return !grid.Dense(box, shape)
			})
		case l.Kind == plan.LoadBlocks:
			if _, ok := l.Op.Op.(inOrder); ok {
				return p.ordered(&l.Inputs[0], input, l.Op.Requirements(nil).Reads[0])
			}
			if _, ok := l.Rows(); ok { // boxes are whole rows
				return slices.ContainsFunc(l.Inputs, func(in plan.Program) bool { return p.ordered(&in, input, boxes...) })
			}
		}
	}
	return false
}
