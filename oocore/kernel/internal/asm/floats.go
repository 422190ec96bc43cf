package main

import (
	"math"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"
)

func float64bits(v float64) uint64 { return math.Float64bits(v) }
func float32bits(v float32) uint32 { return math.Float32bits(v) }

// three adapts a constructor of exactly three operands.
func three(f func(a, b, c operand.Op) (*ir.Instruction, error)) inst {
	return func(o ...operand.Op) (*ir.Instruction, error) { return f(o[0], o[1], o[2]) }
}

// two adapts a constructor of exactly two operands.
func two(f func(a, b operand.Op) (*ir.Instruction, error)) inst {
	return func(o ...operand.Op) (*ir.Instruction, error) { return f(o[0], o[1]) }
}

// Operations on vectors of float64. Logical ones serve every type.
var (
	add64   = op{x86.VADDPD, nil, x86.VADDPD_BCST}
	sub64   = op{x86.VSUBPD, nil, x86.VSUBPD_BCST}
	mul64   = op{x86.VMULPD, nil, x86.VMULPD_BCST}
	div64   = op{x86.VDIVPD, nil, x86.VDIVPD_BCST}
	min64   = op{x86.VMINPD, nil, x86.VMINPD_BCST}
	max64   = op{x86.VMAXPD, nil, x86.VMAXPD_BCST}
	sqrt64  = op{x86.VSQRTPD, nil, nil}
	fma213  = op{x86.VFMADD213PD, nil, x86.VFMADD213PD_BCST}   // dst = dst·second + first
	fma231  = op{x86.VFMADD231PD, nil, x86.VFMADD231PD_BCST}   // dst += second·first
	fnma231 = op{x86.VFNMADD231PD, nil, x86.VFNMADD231PD_BCST} // dst -= second·first
	and     = op{three(x86.VPAND), x86.VPANDQ, x86.VPANDQ_BCST}
	or      = op{three(x86.VPOR), x86.VPORQ, x86.VPORQ_BCST}
	xor     = op{three(x86.VPXOR), x86.VPXORQ, x86.VPXORQ_BCST}
	andnot  = op{three(x86.VPANDN), x86.VPANDNQ, x86.VPANDNQ_BCST} // first &^ second
	addq    = op{x86.VPADDQ, nil, x86.VPADDQ_BCST}
	subq    = op{x86.VPSUBQ, nil, x86.VPSUBQ_BCST}
)

// Operations on vectors of float32.
var (
	add32  = op{x86.VADDPS, nil, x86.VADDPS_BCST}
	sub32  = op{x86.VSUBPS, nil, x86.VSUBPS_BCST}
	mul32  = op{x86.VMULPS, nil, x86.VMULPS_BCST}
	div32  = op{x86.VDIVPS, nil, x86.VDIVPS_BCST}
	min32  = op{x86.VMINPS, nil, x86.VMINPS_BCST}
	max32  = op{x86.VMAXPS, nil, x86.VMAXPS_BCST}
	sqrt32 = op{x86.VSQRTPS, nil, nil}
	and32  = op{three(x86.VPAND), x86.VPANDD, x86.VPANDD_BCST}
	or32   = op{three(x86.VPOR), x86.VPORD, x86.VPORD_BCST}
	xor32  = op{three(x86.VPXOR), x86.VPXORD, x86.VPXORD_BCST}
	addd   = op{x86.VPADDD, nil, x86.VPADDD_BCST}
	subd   = op{x86.VPSUBD, nil, x86.VPSUBD_BCST}
)

// floatType is what differs between the two widths of arithmetic.
type floatType struct {
	name                               string
	size                               int
	add, sub, mul, div, min, max, sqrt op
	sign, infinity                     func(m *machine) constant
	one                                func(m *machine) vec
}

var floatTypes = []floatType{
	{"Float32", 4, add32, sub32, mul32, div32, min32, max32, sqrt32,
		func(m *machine) constant { return m.constant("sign32", 8, operand.U64(1<<63|1<<31)) },
		func(m *machine) constant { return m.f32(float32(math.Inf(1))) },
		func(m *machine) vec { return m.load32(m.f32(1)) }},
	{"Float64", 8, add64, sub64, mul64, div64, min64, max64, sqrt64,
		func(m *machine) constant { return m.q(1 << 63) },
		func(m *machine) constant { return m.f64(math.Inf(1)) },
		func(m *machine) vec { return m.load64(m.f64(1)) }},
}

// floatLoops is IEEE 754 arithmetic, where each loop is exact to the last bit.
func floatLoops() (all []loop) {
	for _, t := range floatTypes {
		loop := func(name string, operands int, body func(m *machine, in []vec) vec) {
			in := make([]int, operands)
			for i := range in {
				in[i] = t.size
			}
			all = append(all, loop{
				name: "vec" + name + t.name, keys: []key{{op: name, from: t.name}},
				in: in, out: t.size, lanes: perElement(t.size), body: body,
			})
		}
		pair := func(name string, o op) {
			loop(name, 2, func(m *machine, in []vec) vec { return m.to(o, in[1], in[0]) })
		}
		pair("Add", t.add)
		pair("Subtract", t.sub)
		pair("Multiply", t.mul)
		pair("Divide", t.div)
		// The processor's minimum is its second operand where one is NaN: that
		// operand is put right by a NaN of the one to win, or of the one to lose.
		extreme := func(name string, o op, nanWins bool) {
			loop(name, 2, func(m *machine, in []vec) vec {
				v := m.to(o, in[1], in[0])
				test := in[0]
				if !nanWins {
					test = in[1]
				}
				return m.replaceNaN(t, test, v, in[0])
			})
		}
		extreme("Minimum", t.min, true)
		extreme("Maximum", t.max, true)
		extreme("Fmin", t.min, false)
		extreme("Fmax", t.max, false)
		loop("Sqrt", 1, func(m *machine, in []vec) vec { return m.to(t.sqrt, in[0]) })
		loop("Square", 1, func(m *machine, in []vec) vec { return m.to(t.mul, in[0], in[0]) })
		loop("Reciprocal", 1, func(m *machine, in []vec) vec { return m.to(t.div, in[0], t.one(m)) })
		loop("Negative", 1, func(m *machine, in []vec) vec { return m.to(xor, t.sign(m), in[0]) })
		loop("Absolute", 1, func(m *machine, in []vec) vec {
			return m.to(andnot, in[0], m.load64(t.sign(m)))
		})
		loop("Copysign", 2, func(m *machine, in []vec) vec {
			magnitude := m.to(andnot, in[0], m.load64(t.sign(m)))
			return m.to(or, magnitude, m.to(and, t.sign(m), in[1]))
		})
		for i, name := range []string{"Rint", "Floor", "Ceil", "Trunc"} {
			loop(name, 1, func(m *machine, in []vec) vec { return m.round(t, uint8(i), in[0]) })
		}
	}
	return all
}

// round rounds to a whole number: 0 to nearest even, 1 down, 2 up, 3 to zero.
func (m *machine) round(t floatType, mode uint8, x vec) vec {
	v := m.vector()
	switch {
	case m.wide && t.size == 4:
		m.VRNDSCALEPS(operand.U8(mode), x, v)
	case m.wide:
		m.VRNDSCALEPD(operand.U8(mode), x, v)
	case t.size == 4:
		m.VROUNDPS(operand.U8(mode), x, v)
	default:
		m.VROUNDPD(operand.U8(mode), x, v)
	}
	return v
}

// replaceNaN is y in the lanes where test is NaN and x in the others.
func (m *machine) replaceNaN(t floatType, test, x, y vec) vec {
	mask := m.compareFloat(t, cmpUNORD, test, test)
	if t.size == 8 {
		return m.blend64(mask, y, x)
	}
	return m.blend32(mask, y, x)
}
