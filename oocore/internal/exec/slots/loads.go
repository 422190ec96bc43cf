package slots

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

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
