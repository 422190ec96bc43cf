package exec

import (
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/vm"
)

// cpuLane computes tiles of a program block by block.
type cpuLane struct {
	machine *vm.Machine
	block   []int
	size    int              // of a result
	each    func(b grid.Box) // takes what else the machine has computed for a block; nil where that is nothing
}

func newCPULane(p *plan.Program, tile []int, regs []byte) (*cpuLane, error) {
	m, err := vm.New(p, regs, true)
	return &cpuLane{machine: m, block: grid.Auto(tile, 1, plan.BlockElems), size: p.Type(p.Out[0]).Size()}, err
}

// compute evaluates the program for a tile from each load's elements into dst, dense in
// C order.
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
