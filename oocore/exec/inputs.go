package exec

import (
	"context"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// inputs are a slot's buffers for what a program loads from arrays.
type inputs struct {
	slot *slot
	prog *plan.Program
	from []reader // of each load; nil for generators
	all  [][]byte
	tile [][]byte // the part of them that the present tile fills
}

// reader reads a load's elements.
type reader interface {
	read(ctx context.Context, dst []byte, region grid.Region) error
}

// newReader prepares for what tiles of at most the given lengths need; nil for what is
// generated.
func newReader(s *slot, l *plan.Load, tile []int) (reader, error) {
	switch l.Kind {
	case plan.LoadArray:
		return newSource(s, l)
	case plan.LoadBlocks:
		return newBlockwiseReader(s, l, tile)
	}
	return nil, nil
}

// newInputs allocates for tiles of at most the given lengths.
func newInputs(s *slot, p *plan.Program, tile []int, class record.Class) (*inputs, error) {
	in := &inputs{slot: s, prog: p, from: make([]reader, len(p.Loads)), all: make([][]byte, len(p.Loads)), tile: make([][]byte, len(p.Loads))}
	for i := range p.Loads {
		var err error
		if in.from[i], err = newReader(s, &p.Loads[i], tile); err != nil {
			return nil, err
		}
		if n := p.Loads[i].InputBytes(tile); n > 0 {
			if in.all[i], err = s.alloc(class, n); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}

// load reads what a tile needs.
func (in *inputs) load(ctx context.Context, tile grid.Box) error {
	for i := range in.prog.Loads {
		l := &in.prog.Loads[i]
		if in.from[i] == nil {
			continue
		}
		region := l.View.Region(tile)
		in.tile[i] = in.all[i][:region.Size()*l.Type.Size()]
		if err := in.from[i].read(ctx, in.tile[i], region); err != nil {
			return err
		}
	}
	return nil
}

// evaluator fills dense buffers with a program's values for boxes of its domain.
type evaluator struct {
	slot   *slot
	prog   *plan.Program
	tile   []int
	inputs *inputs
	lane   *cpuLane
	plain  reader // of a program that only reads
}

// newEvaluator prepares for boxes of at most the given lengths.
func newEvaluator(s *slot, p *plan.Program, box []int) (*evaluator, error) {
	e := &evaluator{slot: s, prog: p}
	var err error
	if p.Plain() {
		e.plain, err = newReader(s, &p.Loads[p.Out[0]], box)
		return e, err
	}
	e.tile = s.run.plan.BoxTile(p, box)
	if e.inputs, err = newInputs(s, p, e.tile, record.Input); err != nil {
		return nil, err
	}
	return e, e.onCPU()
}

func (e *evaluator) onCPU() (err error) {
	if e.lane, err = newCPULane(e.prog, e.tile, e.slot.run.arena, int(e.slot.row.Stage)); err == nil {
		n := e.prog.RegisterBytes(true)
		e.slot.row.Requested[record.Scratch] += n
		e.slot.row.Reserved[record.Scratch] += n
		e.slot.close = append(e.slot.close, e.lane.close)
	}
	return err
}

// eval fills dst with the values for a box.
func (e *evaluator) eval(ctx context.Context, box grid.Box, dst []byte) error {
	size := e.prog.Type(e.prog.Out[0]).Size()
	if e.prog.Plain() {
		l := &e.prog.Loads[e.prog.Out[0]]
		return e.plain.read(ctx, dst[:box.Size()*size], l.View.Region(box))
	}
	at := 0
	for tile := range box.Split(e.tile) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := e.inputs.load(ctx, tile); err != nil {
			return err
		}
		n := tile.Size() * size
		if err := e.slot.compute(ctx, func() error {
			e.lane.compute(tile, e.inputs.tile, dst[at:at+n])
			return nil
		}); err != nil {
			return err
		}
		at += n
	}
	return nil
}
