// Package vm runs a plan's programs: register machines whose registers hold
// blocks of elements and whose instructions are kernels.
//
// A Machine is given the elements that a tile of the domain needs and computes
// the tile block by block. It allocates nothing after New and does no I/O, so
// that any device can host one: what differs between them is whose memory the
// inputs and registers are.
package vm

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// Machine evaluates one program. It belongs to one goroutine.
type Machine struct {
	prog   *plan.Program
	direct bool
	reg    []int         // of each value, -1 for inputs and a direct result
	code   []kernel.Func // of each instruction
	regs   []byte
	width  int // bytes of a register
	fills  []fill
	late   []bool   // loads that are filled when they are first used
	starts [][]int  // of each instruction, the late loads that it is the first to use
	values [][]byte // of the present block
	tile   grid.Box
}

// New prepares a machine. regs is the memory of its registers, of at least
// Program.RegisterBytes(direct) bytes, aligned to 64. direct says that the result of a
// program that has only one goes to the place given to Block instead of a register.
func New(p *plan.Program, regs []byte, direct bool) (*Machine, error) {
	m := &Machine{prog: p, direct: direct, regs: regs, width: plan.BlockElems * p.Width(),
		code: make([]kernel.Func, len(p.Code)), fills: make([]fill, len(p.Loads)),
		values: make([][]byte, len(p.Loads)+len(p.Code)), late: make([]bool, len(p.Loads)), starts: make([][]int, len(p.Code))}
	m.reg, _ = p.Registers(direct)
	for i, in := range p.Code {
		var ok bool
		if in.Op == kernel.Invalid {
			m.code[i], ok = kernel.Cast(in.Type, in.To)
		} else {
			m.code[i], ok = kernel.Lookup(in.Op, in.Type)
		}
		if !ok {
			return nil, fmt.Errorf("%s of %s is not defined", in.Op, in.Type)
		}
	}
	for i, at := range p.FilledAt() {
		if at >= 0 {
			m.late[i], m.starts[at] = true, append(m.starts[at], i)
		}
		m.fills[i].init(&p.Loads[i])
		if p.Loads[i].Kind == plan.LoadConst && at < 0 {
			kernel.Fill(plan.BlockElems, m.register(i), p.Loads[i].Value)
		}
	}
	return m, nil
}

func (m *Machine) register(value int) []byte {
	r := m.reg[value]
	return m.regs[r*m.width : (r+1)*m.width : (r+1)*m.width]
}

// Tile gives the machine the elements for a tile of the domain: for each load of
// an array or an operation what its view needs, in the array's own order and without gaps; nil
// for the others.
func (m *Machine) Tile(box grid.Box, inputs [][]byte) {
	m.tile = box
	for i := range m.fills {
		switch l := &m.prog.Loads[i]; l.Kind {
		case plan.LoadArray, plan.LoadBlocks:
			m.fills[i].tile(l, box, inputs[i])
		case plan.LoadTap:
			m.fills[i].window(l, &m.prog.Loads[l.Base], box, inputs[l.Base])
		}
	}
}

// Block computes the values for a block of the tile, whose elements follow each
// other from the at-th of the tile on, in C order. place receives the first result, unless
// it is nil. The results are valid until the next call.
func (m *Machine) Block(b grid.Box, at int, place []byte) {
	n := b.Size()
	for i := range m.prog.Loads {
		if !m.late[i] && m.prog.Loads[i].Extent == nil {
			m.values[i] = m.loadBlock(i, b, at, n, place)
		}
	}
	loads := len(m.prog.Loads)
	for i := range m.prog.Code {
		in := &m.prog.Code[i]
		for _, l := range m.starts[i] {
			m.values[l] = m.loadBlock(l, b, at, n, place)
		}
		v := loads + i
		dst := place
		if m.reg[v] >= 0 {
			dst = m.register(v)
		}
		m.values[v] = dst
		var x, y, z []byte
		x = m.values[in.Args[0]]
		if len(in.Args) > 1 {
			y = m.values[in.Args[1]]
		}
		if len(in.Args) > 2 {
			z = m.values[in.Args[2]]
		}
		m.code[i](n, dst, x, y, z)
	}
	if out := m.prog.Out[0]; n > 0 && place != nil && &m.values[out][0] != &place[0] {
		copy(place, m.values[out][:n*m.prog.Type(out).Size()])
	}
}

// Result is the k-th of the program's results for the block computed last.
func (m *Machine) Result(k int) []byte { return m.values[m.prog.Out[k]] }

// Fails reports whether a check is true for one of the n elements of the block computed
// last.
func (m *Machine) Fails(n int) bool {
	return slices.ContainsFunc(m.prog.Checks, func(v int) bool { return slices.Contains(m.values[v][:n], 1) })
}

// loadBlock returns where a load's elements for the block are. A program that
// only loads has them put to their place at once.
func (m *Machine) loadBlock(i int, b grid.Box, at, n int, place []byte) []byte {
	l, f := &m.prog.Loads[i], &m.fills[i]
	if m.reg[i] < 0 {
		size := l.Type.Size()
		return f.data[at*size : (at+n)*size]
	}
	dst := m.register(i)
	if m.late[i] {
		f.last = span{} // others have had the register
	}
	switch l.Kind {
	case plan.LoadConst:
		if m.late[i] {
			kernel.Fill(n, dst, l.Value)
		}
	case plan.LoadArray, plan.LoadBlocks, plan.LoadTap:
		if m.direct && len(m.prog.Code) == 0 && len(m.prog.Out) == 1 {
			dst = place
			f.last = span{}
		}
		f.array(dst, m.tile, b)
	default:
		f.generate(l, dst, b)
	}
	return dst
}
