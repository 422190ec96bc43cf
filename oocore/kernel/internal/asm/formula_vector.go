package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

var (
	fma132  = op{x86.VFMADD132PD, nil, x86.VFMADD132PD_BCST} // dst = dst·first + second
	fms213  = op{x86.VFMSUB213PD, nil, x86.VFMSUB213PD_BCST}
	fms231  = op{x86.VFMSUB231PD, nil, x86.VFMSUB231PD_BCST}
	fms132  = op{x86.VFMSUB132PD, nil, x86.VFMSUB132PD_BCST}
	fnma213 = op{x86.VFNMADD213PD, nil, x86.VFNMADD213PD_BCST}
	fnma132 = op{x86.VFNMADD132PD, nil, x86.VFNMADD132PD_BCST}
)

// formula emits a formula's steps. Lanes of which it is not to decide make the
// loop stop.
func (m *machine) formula(p *formula, in []vec) vec {
	pending := map[*value]int{}
	for _, v := range p.steps {
		pending[v], v.vec, v.mask = v.pending, nil, nil
	}
	pending[p.result]++
	for i, v := range p.params {
		v.vec = in[i]
	}
	for _, v := range p.steps {
		for _, a := range v.args {
			pending[a]--
		}
		m.step(v, pending)
		if v == p.rare {
			m.stopIf(v.mask.(reg.Register))
		}
	}
	return p.result.vec
}

// stopIf leaves the loop where mask holds in a lane.
func (m *machine) stopIf(mask reg.Register) {
	if m.wide {
		m.KORTESTB(mask, mask)
	} else {
		lanes := m.GP32()
		m.VMOVMSKPD(mask, lanes)
		m.TESTL(lanes, lanes)
	}
	m.JNZ(operand.LabelRef("rare"))
}

// held is a value in a register.
func (m *machine) held(v *value) vec {
	if v.action == constantBits {
		return m.load64(m.q(v.bits))
	}
	return v.vec
}

// source is a value in a register or in memory.
func (m *machine) source(v *value) operand.Op {
	if v.action == constantBits {
		return m.q(v.bits)
	}
	return v.vec
}

// binary is the operations of two operands.
var binary = map[action]op{
	sum: add64, difference: sub64, product: mul64, quotient: div64, least: min64, greatest: max64,
	bitAnd: and, bitOr: or, bitXor: xor, bitAdd: addq, bitSub: subq,
}

func (m *machine) step(v *value, pending map[*value]int) {
	switch v.action {
	case parameter:
	case sum, product, bitAnd, bitOr, bitXor, bitAdd:
		a, b := v.args[0], v.args[1]
		if a.action == constantBits {
			a, b = b, a
		}
		v.vec = m.to(binary[v.action], m.source(b), m.held(a))
	case difference, quotient, least, greatest, bitSub:
		v.vec = m.to(binary[v.action], m.source(v.args[1]), m.held(v.args[0]))
	case squareRoot:
		v.vec = m.to(sqrt64, m.held(v.args[0]))
	case multiplyAdd:
		m.fused(v, pending, fma213, fma231, fma132)
	case multiplySubtract:
		m.fused(v, pending, fms213, fms231, fms132)
	case subtractProduct:
		m.fused(v, pending, fnma213, fnma231, fnma132)
	case rounding:
		v.vec = m.round(floatTypes[1], v.imm, m.held(v.args[0]))
	case scaling:
		v.vec = m.scaled(v.args[0].vec, v.args[1].vec)
	case fraction, exponent:
		m.takeApart(v)
	case shiftLeft:
		v.vec = m.vector()
		m.VPSLLQ(operand.U8(v.imm), v.args[0].vec, v.vec)
	case shiftRight:
		v.vec = m.vector()
		m.VPSRLQ(operand.U8(v.imm), v.args[0].vec, v.vec)
	case compare:
		v.mask = m.compare64(v.imm, m.source(v.args[1]), m.held(v.args[0]))
	case signSet:
		v.mask = v.args[0].vec
		if m.wide {
			k := m.K()
			m.VPMOVQ2M(v.args[0].vec, k)
			v.mask = k
		}
	case both, either:
		a, b := v.args[0].mask.(reg.Register), v.args[1].mask.(reg.Register)
		switch {
		case m.wide:
			k := m.K()
			if v.action == both {
				m.KANDB(a, b, k)
			} else {
				m.KORB(a, b, k)
			}
			v.mask = k
		case v.action == both:
			v.mask = m.to(and, a, b)
		default:
			v.mask = m.to(or, a, b)
		}
	case choice:
		v.vec = m.blend64(v.args[0].mask.(reg.Register), m.source(v.args[1]), m.held(v.args[2]))
	default:
		panic(fmt.Sprint("no instruction for action ", v.action))
	}
}

// fused is a·b ± c in whichever order overwrites a register that is needed no
// more.
func (m *machine) fused(v *value, pending map[*value]int, o213, o231, o132 op) {
	a, b, c := v.args[0], v.args[1], v.args[2]
	free := func(x *value) bool { return x.action != constantBits && x.action != parameter && pending[x] == 0 }
	if a.action == constantBits || !free(a) && free(b) {
		a, b = b, a
	}
	switch {
	case free(c) && b.action == constantBits:
		v.vec = m.do(o231, c.vec, m.source(b), a.vec)
	case free(a) && b.action != constantBits:
		v.vec = m.do(o213, a.vec, m.source(c), b.vec)
	case free(a):
		v.vec = m.do(o132, a.vec, m.source(b), m.held(c))
	case free(c):
		v.vec = m.do(o231, c.vec, m.source(b), a.vec)
	case c.action == constantBits && b.action != constantBits:
		v.vec = m.do(o231, m.held(c), b.vec, a.vec)
	case b.action == constantBits && c.action != constantBits:
		v.vec = m.do(o213, m.held(b), c.vec, a.vec)
	default:
		copied := m.held(c)
		if c.action != constantBits {
			copied = m.vector()
			m.VMOVUPD(c.vec, copied)
		}
		v.vec = m.do(o231, copied, m.source(b), a.vec)
	}
}

// scaled is x·2ⁿ: by AVX-512's instruction for it, or by two powers of two, of
// which neither, nor the first product, leaves the range.
func (m *machine) scaled(x, n vec) vec {
	v := m.vector()
	if m.wide {
		m.VSCALEFPD(n, x, v)
		return v
	}
	power := func(n vec) vec {
		p := m.vector()
		m.VPSLLQ(operand.U8(52), m.to(add64, m.f64(magic), n), p)
		return m.to(addq, m.f64(1), p)
	}
	half := m.round(floatTypes[1], 0, m.to(mul64, m.f64(0.5), n))
	return m.to(mul64, power(m.to(sub64, half, n)), m.to(mul64, power(half), x))
}

// takeApart is the two steps of frexp.
func (m *machine) takeApart(v *value) {
	x := v.args[0].vec
	switch {
	case m.wide && v.action == fraction:
		v.vec = m.vector()
		m.VGETMANTPD(operand.U8(15), x, v.vec) // from ¾ on, NaN below zero
	case m.wide:
		of, own := m.vector(), m.vector()
		m.VGETEXPPD(x, of)
		m.VGETEXPPD(v.args[1].vec, own)
		v.vec = m.to(sub64, own, of)
	case v.action == fraction:
		// Subnormal numbers are scaled. The exponent of x/¾ is that which is to go.
		tiny := m.compare64(cmpLT, m.f64(0x1p-1022), x)
		normal := m.blend64(tiny, m.to(mul64, m.f64(0x1p54), x), x)
		t := m.to(addq, m.q(float64bits(1)-float64bits(0.75)), normal)
		v.vec = m.to(addq, m.f64(1), m.to(subq, m.to(and, m.q(0xfff<<52), t), normal))
		v.mask = [2]reg.Register{tiny, t}
	default:
		apart, e := v.args[1].mask.([2]reg.Register), m.vector()
		m.VPSRLQ(operand.U8(52), apart[1], e)
		bias := m.blend64(apart[0], m.f64(1<<52+1023+54), m.load64(m.f64(1<<52+1023)))
		e = m.to(sub64, bias, m.to(or, m.f64(1<<52), e))
		zero := m.vector()
		m.zero(zero)
		e = m.blend64(m.compare64(cmpNLT, m.f64(inf), x), x, e)
		e = m.blend64(m.compare64(cmpLT, zero, x), m.f64(nan), e)
		v.vec = m.blend64(m.compare64(cmpEQ, zero, x), m.f64(-inf), e)
	}
}
