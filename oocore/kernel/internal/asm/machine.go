package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// machine emits instructions for one level: AVX-512 (wide) or AVX2. A body is
// written once against it; only what the levels name differently is here.
type machine struct {
	*build.Context
	wide      bool
	single    bool // the formula that is being emitted is of float32
	constants map[string]constant
	labels    int
	rare      string // the label to go to where an operand is rare
	prefix    string // of labels, which share a name space within a file
	inTable   constant
	table     vec // that inTable was loaded into
}

// vec is a vector register.
type vec = reg.VecVirtual

// bytes is the size of a whole vector.
func (m *machine) bytes() int {
	if m.wide {
		return 64
	}
	return 32
}

// vector is a new register of a whole vector.
func (m *machine) vector() vec { return m.sized(m.bytes()) }

// sized is a new register for so many bytes.
func (m *machine) sized(bytes int) vec {
	switch {
	case bytes > 32:
		return m.ZMM()
	case bytes > 16:
		return m.YMM()
	}
	return m.XMM()
}

// label is a name that no other place in the file has.
func (m *machine) label(what string) string {
	m.labels++
	return fmt.Sprintf("%s%d", what, m.labels)
}

// constant is a number in memory, repeated over 32 bytes: AVX2 reads them all,
// AVX-512 the first and broadcasts it.
type constant struct{ operand.Mem }

func (m *machine) constant(name string, size int, v operand.Constant) constant {
	if c, ok := m.constants[name]; ok {
		return c
	}
	mem := m.StaticGlobal(name)
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for at := 0; at < 32; at += size {
		m.AddDatum(at, v)
	}
	c := constant{mem}
	m.constants[name] = c
	return c
}

// f64 and the like are constants by the value and by the bits.
func (m *machine) f64(v float64) constant { return m.q(float64bits(v)) }
func (m *machine) f32(v float32) constant { return m.d(float32bits(v)) }
func (m *machine) q(v uint64) constant {
	return m.constant(fmt.Sprintf("q%016x", v), 8, operand.U64(v))
}
func (m *machine) d(v uint32) constant {
	return m.constant(fmt.Sprintf("d%08x", v), 4, operand.U32(v))
}
func (m *machine) b(v uint8) constant { return m.constant(fmt.Sprintf("b%02x", v), 1, operand.U8(v)) }

// inst is one of avo's constructors of an instruction.
type inst func(...operand.Op) (*ir.Instruction, error)

// op is an operation with the form that broadcasts its first operand, which is
// of AVX-512 alone, as is wide, the operation's own name there, if it has one.
type op struct{ plain, wide, bcst inst }

// do emits an operation, whose first operand may be a constant, into dst.
func (m *machine) do(o op, dst vec, first operand.Op, rest ...operand.Op) vec {
	f := o.plain
	if m.wide && o.wide != nil {
		f = o.wide
	}
	if c, ok := first.(constant); ok {
		first = c.Mem
		if m.wide {
			f = o.bcst
		}
	}
	i, err := f(append(append([]operand.Op{first}, rest...), dst)...)
	if err != nil {
		panic(fmt.Sprint(m.prefix, ": ", err))
	}
	m.Instruction(i)
	return dst
}

// to emits an operation into a new register.
func (m *machine) to(o op, first operand.Op, rest ...operand.Op) vec {
	return m.do(o, m.vector(), first, rest...)
}

// load64 and load32 bring a constant into a register.
func (m *machine) load64(c constant) vec {
	v := m.vector()
	if m.wide {
		m.VBROADCASTSD(c.Mem, v)
	} else {
		m.VMOVUPD(c.Mem, v)
	}
	return v
}

func (m *machine) load32(c constant) vec {
	v := m.vector()
	if m.wide {
		m.VBROADCASTSS(c.Mem, v)
	} else {
		m.VMOVUPS(c.Mem, v)
	}
	return v
}

// compare64 is the lanes of float64 in which predicate p holds between x and y:
// a mask register, or a vector of ones.
func (m *machine) compare64(p uint8, y operand.Op, x vec) reg.Register {
	return m.compareLanes(op{x86.VCMPPD, nil, x86.VCMPPD_BCST}, p, y, x)
}

// compare32 is the same for float32.
func (m *machine) compare32(p uint8, y operand.Op, x vec) reg.Register {
	return m.compareLanes(op{x86.VCMPPS, nil, x86.VCMPPS_BCST}, p, y, x)
}

func (m *machine) compareLanes(o op, p uint8, y operand.Op, x vec) reg.Register {
	var mask reg.Register = m.YMM()
	if m.wide {
		mask = m.K()
	}
	f := o.plain
	if c, ok := y.(constant); ok {
		y = c.Mem
		if m.wide {
			f = o.bcst
		}
	}
	i, err := f(operand.U8(p), y, x, mask)
	if err != nil {
		panic(fmt.Sprint(m.prefix, ": ", err))
	}
	m.Instruction(i)
	return mask
}

// blend64 is y in the lanes of mask and x in the others.
func (m *machine) blend64(mask reg.Register, y operand.Op, x vec) vec {
	v := m.vector()
	c, isConstant := y.(constant)
	switch {
	case m.wide && isConstant:
		m.writes(x86.VBLENDMPD_BCST, c.Mem, x, mask, v)
	case m.wide:
		m.writes(x86.VBLENDMPD, y, x, mask, v)
	case isConstant:
		m.VBLENDVPD(mask, c.Mem, x, v)
	default:
		m.VBLENDVPD(mask, y, x, v)
	}
	return v
}

// writes emits a blend, whose result is not among its operands, though it passes for one
// that is merged into it: the register would be held from the loop's beginning on.
func (m *machine) writes(blend inst, y operand.Op, x vec, mask reg.Register, v vec) {
	i, err := blend(y, x, mask, v)
	if err != nil {
		panic(fmt.Sprint(m.prefix, ": ", err))
	}
	i.Inputs = slices.DeleteFunc(i.Inputs, func(o operand.Op) bool { return o == operand.Op(v) })
	m.Instruction(i)
}

// blend32 is the same for float32.
func (m *machine) blend32(mask reg.Register, y operand.Op, x vec) vec {
	v := m.vector()
	c, isConstant := y.(constant)
	switch {
	case m.wide && isConstant:
		m.writes(x86.VBLENDMPS_BCST, c.Mem, x, mask, v)
	case m.wide:
		m.writes(x86.VBLENDMPS, y, x, mask, v)
	case isConstant:
		m.VBLENDVPS(mask, c.Mem, x, v)
	default:
		m.VBLENDVPS(mask, y, x, v)
	}
	return v
}

// Predicates of floating-point comparison that signal no quiet NaN.
const (
	cmpEQ    = 0x00 // equal, false for NaN
	cmpUNORD = 0x03
	cmpNEQ   = 0x04 // true for NaN
	cmpNLT   = 0x15
	cmpLT    = 0x11
	cmpLE    = 0x12
	cmpGE    = 0x1d
	cmpGT    = 0x1e

	cmpEQOrNaN = 0x08
)

func (m *machine) zero(v vec) {
	if m.wide {
		m.VPXORQ(v, v, v)
	} else {
		m.VPXOR(v, v, v)
	}
}
