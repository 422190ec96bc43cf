package slots

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/internal/vm"
)

// lane evaluates a program for boxes of its domain: it reads what a tile needs, and computes
// the tile block by block.
type lane struct {
	slot        *Slot
	prog        *plan.Program
	tile, block []int
	loads       *Loads
	machine     *vm.Machine
	part        []byte           // a block's results, where tiles of a box are not contiguous in it
	each        func(b grid.Box) // takes all results of a block; nil where there is only the first
}

// newLane prepares a slot's lane. direct says that the result goes to where eval is told, and
// not to a register.
func newLane(s *Slot, p *plan.Program, d *size.Lane, direct bool) (*lane, error) {
	l := &lane{slot: s, prog: p, tile: d.Tile, block: grid.Auto(d.Tile, 1, plan.BlockElems)}
	var err error
	if l.loads, err = newLoads(s, p, d); err != nil {
		return nil, err
	}
	buffers, err := s.Alloc(d.Registers, d.Block)
	if err != nil {
		return nil, err
	}
	l.part = buffers[1]
	l.machine, err = vm.New(p, buffers[0], direct)
	return l, err
}

// eval evaluates a box. dst receives the values of the first result, unless it is nil.
func (l *lane) eval(ctx context.Context, box grid.Box, dst []byte) error {
	size := l.prog.Type(l.prog.Out[0]).Size()
	for tile := range box.Split(l.tile) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := l.loads.Load(ctx, tile); err != nil {
			return err
		}
		err := l.slot.Compute(ctx, func() error {
			l.compute(tile, size, dst, box)
			return nil
		})
		if err != nil {
			return err
		}
		if dst != nil && l.part == nil {
			dst = dst[tile.Size()*size:]
		}
	}
	return nil
}

// compute evaluates a tile block by block: into dst, or by way of a part into the tile's place
// in a box that dst has the values of.
func (l *lane) compute(tile grid.Box, size int, dst []byte, box grid.Box) {
	l.machine.Tile(tile, l.loads.Tile)
	at := 0
	for b := range tile.Split(l.block) {
		n := b.Size()
		var place []byte
		switch {
		case l.part != nil:
			place = l.part[:n*size]
		case dst != nil:
			place = dst[at*size : (at+n)*size]
		}
		l.machine.Block(b, at, place)
		if l.part != nil {
			strided.Copy(size, b, dst, box, place, b)
		}
		if l.each != nil {
			l.each(b)
		}
		at += n
	}
}

// Evaluator fills dense buffers with a program's values for boxes of its domain.
type Evaluator struct {
	prog  *plan.Program
	plain Reader // of a program that only reads; others have a lane
	lane  *lane
}

// NewEvaluator allocates what a slot evaluates a program with.
func NewEvaluator(s *Slot, p *plan.Program, d *size.Lane) (e *Evaluator, err error) {
	e = &Evaluator{prog: p}
	if out := p.Out[0]; p.Plain() {
		e.plain, err = NewReader(s, &p.Loads[out], &d.Loads[out])
	} else {
		e.lane, err = newLane(s, p, d, true)
	}
	return e, err
}

// source is that of a load of an array.
func (e *Evaluator) source(load int) *source {
	if e.lane != nil {
		return e.lane.loads.from[load].(*source)
	}
	return e.plain.(*source)
}

// Eval fills dst with the values for a box.
func (e *Evaluator) Eval(ctx context.Context, box grid.Box, dst []byte) error {
	if e.lane != nil {
		return e.lane.eval(ctx, box, dst)
	}
	l := &e.prog.Loads[e.prog.Out[0]]
	return e.plain.Read(ctx, dst[:box.Size()*l.Type.Size()], l.View.Region(box))
}

// Loads are a slot's buffers for what a program loads from arrays.
type Loads struct {
	slot *Slot
	prog *plan.Program
	from []Reader // of each load; nil for generators
	all  [][]byte
	Tile [][]byte // the part of them that the present tile fills
}

// Reader reads a load's elements.
type Reader interface {
	Read(ctx context.Context, dst []byte, region grid.Region) error
}

// NewReader prepares to fill a load; nil for what is generated.
func NewReader(s *Slot, l *plan.Load, d *size.LoadBuffers) (Reader, error) {
	switch l.Kind {
	case plan.LoadArray:
		return newSource(s, l.Array, d.Read)
	case plan.LoadBlocks:
		return newBlockwiseReader(s, l, d)
	}
	return nil, nil
}

// NewLoads fills the loads of a program from readers into buffers.
func NewLoads(s *Slot, p *plan.Program, from []Reader, into [][]byte) *Loads {
	return &Loads{slot: s, prog: p, from: from, all: into, Tile: make([][]byte, len(into))}
}

func newLoads(s *Slot, p *plan.Program, lane *size.Lane) (*Loads, error) {
	in := NewLoads(s, p, make([]Reader, len(p.Loads)), make([][]byte, len(p.Loads)))
	for i := range p.Loads {
		d := &lane.Loads[i]
		elements, err := s.Alloc(d.Elements)
		if err != nil {
			return nil, err
		}
		in.all[i] = elements[0]
		if in.from[i], err = NewReader(s, &p.Loads[i], d); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Load reads what a tile needs.
func (in *Loads) Load(ctx context.Context, tile grid.Box) error {
	for i := range in.prog.Loads {
		l := &in.prog.Loads[i]
		if in.from[i] == nil {
			continue
		}
		region := l.Region(tile)
		in.Tile[i] = in.all[i][:region.Size()*l.Type.Size()]
		if err := in.from[i].Read(ctx, in.Tile[i], region); err != nil {
			return err
		}
	}
	return nil
}
