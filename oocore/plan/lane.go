package plan

import (
	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/record"
)

// A lane evaluates a program for one task at a time. What it reserves is said
// here and allocated by the executor to the byte.

// InputBytes is what reading a tile of the domain takes for a load: its elements
// in the array's own order.
func (l *Load) InputBytes(tile []int) int64 {
	if !l.reads() {
		return 0
	}
	n := int64(l.Type.Size())
	for _, a := range l.View.Axis {
		if a >= 0 {
			n *= int64(tile[a])
		}
	}
	return arena.Reserved(n)
}

// RegisterBytes is what a program's registers take.
func (p *Program) RegisterBytes(direct bool) int64 {
	_, n := p.Registers(direct)
	if n == 0 {
		return 0
	}
	return arena.Reserved(int64(n) * BlockElems * int64(p.Width()))
}

// LaneBytes is what a lane reserves for tiles of at most the given lengths.
func LaneBytes(p *Program, tile []int, direct bool) (b record.Bytes) {
	for i := range p.Loads {
		b[record.Input] += p.Loads[i].InputBytes(tile)
	}
	b[record.Scratch] += p.RegisterBytes(direct)
	return b
}

// BoxTile is the tile by which a lane evaluates a program for boxes of at most
// the given lengths.
func (p *Plan) BoxTile(prog *Program, box []int) []int {
	if crossing(prog) >= 0 || p.align(prog) != nil || prog.blocks() {
		return box
	}
	return within(box, max(tileBytes/prog.itemSize(1), BlockElems), grid.Auto(box, 1, BlockElems))
}

// addLane adds what a lane for boxes of a program takes. A plain one's array is read
// straight to its place.
func (p *Plan) addLane(b *record.Bytes, prog *Program, box []int) {
	if prog.Plain() {
		p.addOps(b, prog, box)
		return
	}
	tile := p.BoxTile(prog, box)
	add(b, LaneBytes(prog, tile, true), 1)
	p.addOps(b, prog, tile)
}

func add(b *record.Bytes, more record.Bytes, times int) {
	for c := range more {
		b[c] += int64(times) * more[c]
	}
}
