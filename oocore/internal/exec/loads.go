package exec

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// loads are a slot's buffers for what a program loads from arrays.
type loads struct {
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

// newReader prepares to fill a load; nil for what is generated.
func newReader(s *slot, l *plan.Load, d *size.LoadBuffers) (reader, error) {
	switch l.Kind {
	case plan.LoadArray:
		return newSource(s, l.Array, d.Read)
	case plan.LoadBlocks:
		return newBlockwiseReader(s, l, d)
	}
	return nil, nil
}

func newLoads(s *slot, p *plan.Program, lane *size.Lane) (*loads, error) {
	in := &loads{slot: s, prog: p, from: make([]reader, len(p.Loads)), all: make([][]byte, len(p.Loads)), tile: make([][]byte, len(p.Loads))}
	for i := range p.Loads {
		d := &lane.Loads[i]
		elements, err := s.alloc(d.Elements)
		if err != nil {
			return nil, err
		}
		in.all[i] = elements[0]
		if in.from[i], err = newReader(s, &p.Loads[i], d); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// load reads what a tile needs.
func (in *loads) load(ctx context.Context, tile grid.Box) error {
	for i := range in.prog.Loads {
		l := &in.prog.Loads[i]
		if in.from[i] == nil {
			continue
		}
		region := l.Region(tile)
		in.tile[i] = in.all[i][:region.Size()*l.Type.Size()]
		if err := in.from[i].read(ctx, in.tile[i], region); err != nil {
			return err
		}
	}
	return nil
}
