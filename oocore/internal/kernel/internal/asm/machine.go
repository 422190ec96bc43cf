package main

import (
	"fmt"
	"math"

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
	rare      string            // the label to go to where an operand is rare, or not usual
	prefix    string            // of labels, which share a name space within a file
	at        int               // the formula's step that is being emitted
	shared    map[[2]uint64]vec // constants in registers that several vectors read, by the two numbers that they repeat
	stack     operand.Mem       // what the stages of a loop keep on it
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
func (m *machine) f64(v float64) constant { return m.q(math.Float64bits(v)) }
func (m *machine) f32(v float32) constant { return m.d(math.Float32bits(v)) }
func (m *machine) q(v uint64) constant {
	return m.constant(fmt.Sprintf("q%016x", v), 8, operand.U64(v))
}
func (m *machine) d(v uint32) constant {
	return m.constant(fmt.Sprintf("d%08x", v), 4, operand.U32(v))
}
func (m *machine) w(v uint16) constant {
	return m.constant(fmt.Sprintf("w%04x", v), 2, operand.U16(v))
}
func (m *machine) b(v uint8) constant { return m.constant(fmt.Sprintf("b%02x", v), 1, operand.U8(v)) }

// inst is one of avo's constructors of an instruction.
type inst func(...operand.Op) (*ir.Instruction, error)

// op is an operation with the form that broadcasts its first operand, which is
// of AVX-512 alone, as is wide, the operation's own name there, if it has one.
type op struct{ plain, wide, bcst inst }

// four, three and two adapt constructors of exactly so many operands.
func three(f func(a, b, c operand.Op) (*ir.Instruction, error)) inst {
	return func(o ...operand.Op) (*ir.Instruction, error) { return f(o[0], o[1], o[2]) }
}

func four(f func(a, b, c, d operand.Op) (*ir.Instruction, error)) inst {
	return func(o ...operand.Op) (*ir.Instruction, error) { return f(o[0], o[1], o[2], o[3]) }
}

func two(f func(a, b operand.Op) (*ir.Instruction, error)) inst {
	return func(o ...operand.Op) (*ir.Instruction, error) { return f(o[0], o[1]) }
}

// The logic of bits serves every type.
var (
	and    = op{three(x86.VPAND), x86.VPANDQ, x86.VPANDQ_BCST}
	or     = op{three(x86.VPOR), x86.VPORQ, x86.VPORQ_BCST}
	xor    = op{three(x86.VPXOR), x86.VPXORQ, x86.VPXORQ_BCST}
	andnot = op{three(x86.VPANDN), x86.VPANDNQ, x86.VPANDNQ_BCST} // first &^ second
)

// emitTo emits what the machine has no name for.
func (m *machine) emitTo(f inst, operands ...operand.Op) {
	i, err := f(operands...)
	if err != nil {
		panic(fmt.Sprint(m.prefix, ": ", err))
	}
	m.Instruction(i)
}

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
	m.emitTo(f, append(append([]operand.Op{first}, rest...), dst)...)
	return dst
}

// to emits an operation into a new register.
func (m *machine) to(o op, first operand.Op, rest ...operand.Op) vec {
	return m.do(o, m.vector(), first, rest...)
}

// load64 brings a constant into a register.
func (m *machine) load64(c constant) vec {
	v := m.vector()
	if m.wide {
		m.VBROADCASTSD(c.Mem, v)
	} else {
		m.VMOVUPD(c.Mem, v)
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
