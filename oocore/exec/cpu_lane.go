package exec

import (
	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/vm"
)

// cpuLane computes tiles of a program on the CPU, one at a time.
type cpuLane struct {
	machine *vm.Machine
	regs    *arena.Buffer
	block   []int
	size    int              // of a result
	each    func(b grid.Box) // takes what else the machine has computed for a block; nil where that is nothing
}

// newCPULane allocates a machine's registers from the run's arena, for tiles of at most
// the given lengths.
func newCPULane(p *plan.Program, tile []int, a *arena.Arena, stage int) (*cpuLane, error) {
	l := &cpuLane{block: grid.Auto(tile, 1, plan.BlockElems)}
	if n := p.RegisterBytes(true); n > 0 {
		var err error
		if l.regs, err = a.Alloc(arena.Tag{Stage: stage, Chunk: -1, Class: record.Scratch}, n); err != nil {
			return nil, err
		}
	}
	var err error
	if l.machine, err = vm.New(p, l.regs.Bytes(), true); err != nil {
		l.regs.Free()
		return nil, err
	}
	l.size = p.Type(p.Out[0]).Size()
	return l, nil
}

// compute evaluates the program for a tile from each load's elements into dst, dense in C
// order.
func (l *cpuLane) compute(tile grid.Box, inputs [][]byte, dst []byte) {
	l.machine.Tile(tile, inputs)
	at := 0
	for b := range tile.Split(l.block) {
		n := b.Size()
		place := dst[at*l.size : (at+n)*l.size]
		l.machine.Block(b, at, place)
		if l.each != nil {
			copy(place, l.machine.Result(0))
			l.each(b)
		}
		at += n
	}
}

func (l *cpuLane) close() error {
	l.regs.Free()
	return nil
}
