package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// perFormat is an operation on vectors of float64 and the same on those of float32.
type perFormat [2]op

var binary = map[action]perFormat{
	sum:        {{x86.VADDPD, nil, x86.VADDPD_BCST}, {x86.VADDPS, nil, x86.VADDPS_BCST}},
	difference: {{x86.VSUBPD, nil, x86.VSUBPD_BCST}, {x86.VSUBPS, nil, x86.VSUBPS_BCST}},
	product:    {{x86.VMULPD, nil, x86.VMULPD_BCST}, {x86.VMULPS, nil, x86.VMULPS_BCST}},
	quotient:   {{x86.VDIVPD, nil, x86.VDIVPD_BCST}, {x86.VDIVPS, nil, x86.VDIVPS_BCST}},
	least:      {{x86.VMINPD, nil, x86.VMINPD_BCST}, {x86.VMINPS, nil, x86.VMINPS_BCST}},
	greatest:   {{x86.VMAXPD, nil, x86.VMAXPD_BCST}, {x86.VMAXPS, nil, x86.VMAXPS_BCST}},
	bitAnd:     {and, {three(x86.VPAND), x86.VPANDD, x86.VPANDD_BCST}},
	bitOr:      {or, {three(x86.VPOR), x86.VPORD, x86.VPORD_BCST}},
	bitXor:     {xor, {three(x86.VPXOR), x86.VPXORD, x86.VPXORD_BCST}},
	bitAdd:     {{x86.VPADDQ, nil, x86.VPADDQ_BCST}, {x86.VPADDD, nil, x86.VPADDD_BCST}},
	bitSub:     {{x86.VPSUBQ, nil, x86.VPSUBQ_BCST}, {x86.VPSUBD, nil, x86.VPSUBD_BCST}},
}

// fusedOrders is a·b ± c in the processor's three orders: 213, dst·second + first, 231,
// dst + second·first, and 132, dst·first + second.
var fusedOrders = map[action][3]perFormat{
	multiplyAdd: {
		{{x86.VFMADD213PD, nil, x86.VFMADD213PD_BCST}, {x86.VFMADD213PS, nil, x86.VFMADD213PS_BCST}},
		{{x86.VFMADD231PD, nil, x86.VFMADD231PD_BCST}, {x86.VFMADD231PS, nil, x86.VFMADD231PS_BCST}},
		{{x86.VFMADD132PD, nil, x86.VFMADD132PD_BCST}, {x86.VFMADD132PS, nil, x86.VFMADD132PS_BCST}},
	},
	multiplySubtract: {
		{{x86.VFMSUB213PD, nil, x86.VFMSUB213PD_BCST}, {x86.VFMSUB213PS, nil, x86.VFMSUB213PS_BCST}},
		{{x86.VFMSUB231PD, nil, x86.VFMSUB231PD_BCST}, {x86.VFMSUB231PS, nil, x86.VFMSUB231PS_BCST}},
		{{x86.VFMSUB132PD, nil, x86.VFMSUB132PD_BCST}, {x86.VFMSUB132PS, nil, x86.VFMSUB132PS_BCST}},
	},
	subtractProduct: {
		{{x86.VFNMADD213PD, nil, x86.VFNMADD213PD_BCST}, {x86.VFNMADD213PS, nil, x86.VFNMADD213PS_BCST}},
		{{x86.VFNMADD231PD, nil, x86.VFNMADD231PD_BCST}, {x86.VFNMADD231PS, nil, x86.VFNMADD231PS_BCST}},
		{{x86.VFNMADD132PD, nil, x86.VFNMADD132PD_BCST}, {x86.VFNMADD132PS, nil, x86.VFNMADD132PS_BCST}},
	},
}

// of is the operation in the width of the formula that is being emitted.
func (m *machine) of(o perFormat) op { return o[m.index()] }

func (m *machine) index() int {
	if m.single {
		return 1
	}
	return 0
}

// emitted is an instruction on vectors of float64, or the same on those of float32.
func (m *machine) emitted(double, single inst, operands ...operand.Op) {
	if m.single {
		double = single
	}
	m.emitTo(double, operands...)
}

// bits and number are constants of the width.
func (m *machine) bits(b uint64) constant {
	if m.single {
		return m.d(uint32(b))
	}
	return m.q(b)
}

func (m *machine) number(f float64) constant { return m.bits(m.width().encode(f)) }

// loaded brings a constant into a register.
func (m *machine) loaded(c constant) vec {
	if !m.single {
		return m.load64(c)
	}
	v := m.vector()
	if m.wide {
		m.VBROADCASTSS(c.Mem, v)
	} else {
		m.VMOVUPS(c.Mem, v)
	}
	return v
}

// compared is the lanes in which predicate p holds between x and y: a mask register, or a
// vector of ones.
func (m *machine) compared(p uint8, y operand.Op, x vec) reg.Register {
	var mask reg.Register = m.YMM()
	if m.wide {
		mask = m.K()
	}
	o := m.of(perFormat{{x86.VCMPPD, nil, x86.VCMPPD_BCST}, {x86.VCMPPS, nil, x86.VCMPPS_BCST}})
	f := o.plain
	if c, ok := y.(constant); ok {
		y = c.Mem
		if m.wide {
			f = o.bcst
		}
	}
	m.emitTo(f, operand.U8(p), y, x, mask)
	return mask
}

// blended is y in the lanes of mask and x in the others. With AVX-512 the result is not among the
// operands, though it passes for one that is merged into: the register would be held from the
// loop's beginning on.
func (m *machine) blended(mask reg.Register, y operand.Op, x vec) vec {
	v := m.vector()
	o := m.of(perFormat{{four(x86.VBLENDVPD), x86.VBLENDMPD, x86.VBLENDMPD_BCST}, {four(x86.VBLENDVPS), x86.VBLENDMPS, x86.VBLENDMPS_BCST}})
	f := o.wide
	if c, ok := y.(constant); ok {
		y, f = c.Mem, o.bcst
	}
	if !m.wide {
		m.emitTo(o.plain, mask, y, x, v)
		return v
	}
	i, err := f(y, x, mask, v)
	if err != nil {
		panic(fmt.Sprint(m.prefix, ": ", err))
	}
	i.Inputs = slices.DeleteFunc(i.Inputs, func(o operand.Op) bool { return o == operand.Op(v) })
	m.Instruction(i)
	return v
}

// round rounds to a whole number: 0 to nearest even, 1 down, 2 up, 3 to zero.
func (m *machine) round(mode uint8, x vec) vec {
	v := m.vector()
	if m.wide {
		m.emitted(x86.VRNDSCALEPD, x86.VRNDSCALEPS, operand.U8(mode), x, v)
	} else {
		m.emitted(three(x86.VROUNDPD), three(x86.VROUNDPS), operand.U8(mode), x, v)
	}
	return v
}

// formula emits a formula's steps for several vectors in turn, so that the processor
// has the next one's at hand while one's wait for each other. Lanes of which it is not
// to decide make the loop stop.
func (m *machine) formula(p *formula, in [][]vec) (out []vec) {
	m.single, m.inTable = p.bytes == 4, constant{}
	pending, each := map[*value]int{}, make([]*formula, len(in))
	for i := range in {
		each[i] = p.copied()
		for _, v := range each[i].steps {
			pending[v] = v.pending
		}
		pending[each[i].result]++
		for j, v := range each[i].params {
			v.vec = in[i][j]
		}
	}
	slots := m.slots(p, len(each))
	for i, step := range p.steps {
		m.at, m.shared = i, nil
		if m.few() && len(each) > 2 {
			m.shared = map[[2]uint64]vec{}
		}
		for _, q := range each {
			v := q.steps[i]
			for _, a := range v.args {
				pending[a]--
			}
			m.step(v, pending)
			if kept, ok := p.kept[i]; ok && len(slots) > 0 {
				v.kept, v.slot, slots = kept, slots[0], slots[1:]
				m.VMOVUPD(v.vec, v.slot)
			}
			if v == q.rare {
				m.stopIf(m.condition(v))
			}
		}
		if step == p.apart {
			any := each[0].apart.vec
			for _, q := range each[1:] {
				any = m.to(or, q.apart.vec, any)
			}
			m.stopIf(any)
		}
	}
	m.at, m.shared = len(p.steps), nil
	for _, q := range each {
		var v vec
		if p.truth() {
			v = m.bools(m.condition(q.result), p.size, false)
		} else {
			v = m.held(q.result)
		}
		out = append(out, v)
	}
	return out
}

// stopIf leaves the loop where mask holds in a lane.
func (m *machine) stopIf(mask reg.Register) {
	if m.wide {
		m.emitted(two(x86.KORTESTB), two(x86.KORTESTW), mask, mask)
	} else {
		lanes := m.GP32()
		m.emitted(two(x86.VMOVMSKPD), two(x86.VMOVMSKPS), mask, lanes)
		m.TESTL(lanes, lanes)
	}
	m.JNZ(operand.LabelRef(m.rare))
}

// slots are places on the stack for what the vectors of a formula have no registers for, each
// within a line of the cache.
func (m *machine) slots(p *formula, vectors int) (all []operand.Mem) {
	if n := len(p.kept) * vectors; n > 0 && vectors > 1 && m.few() {
		if m.stack.Base == nil {
			m.stack = m.AllocLocal(mostKept + 32)
		}
		base := m.GP64()
		m.LEAQ(m.stack, base)
		m.ADDQ(operand.Imm(31), base)
		m.ANDQ(operand.I32(-32), base)
		for i := range n {
			all = append(all, operand.Mem{Base: base, Disp: 32 * i})
		}
	}
	return all
}

// few is whether a formula's vectors are short of registers, and wait for each other rather than for memory.
func (m *machine) few() bool { return !m.wide && !m.single }

// inMemory is whether a value is in no register.
func (m *machine) inMemory(v *value) bool {
	return v.action == constantBits || v.slot.Base != nil && m.at > v.kept
}

// held is a value in a register that is to be read.
func (m *machine) held(v *value) vec {
	if x, ok := m.source(v).(vec); ok {
		return x
	}
	return m.own(v)
}

// own is a value in a register that may be overwritten.
func (m *machine) own(v *value) vec {
	if v.action == constantBits && m.shared == nil {
		return m.loaded(m.bits(v.bits))
	}
	x := m.vector()
	m.emitTo(x86.VMOVUPD, m.source(v), x)
	return x
}

// source is a value in a register or in memory. Vectors that are computed side by side share the
// register that a constant is loaded into.
func (m *machine) source(v *value) operand.Op {
	switch {
	case v.action == constantBits && m.shared != nil:
		x, ok := m.shared[[2]uint64{v.bits, v.bits}]
		if !ok {
			x = m.loaded(m.bits(v.bits))
			m.shared[[2]uint64{v.bits, v.bits}] = x
		}
		return x
	case v.action == constantBits:
		return m.bits(v.bits)
	case m.inMemory(v):
		return v.slot
	}
	return v.vec
}

// condition is the lanes in which one holds.
func (m *machine) condition(v *value) reg.Register {
	if m.wide {
		return v.mask.(reg.Register)
	}
	if v.action == signSet {
		v = v.args[0]
	}
	return m.held(v)
}

func (m *machine) step(v *value, pending map[*value]int) {
	switch v.action {
	case parameter:
	case sum, product, bitAnd, bitOr, bitXor, bitAdd:
		a, b := v.args[0], v.args[1]
		if m.inMemory(a) {
			a, b = b, a
		}
		v.vec = m.to(m.of(binary[v.action]), m.source(b), m.held(a))
	case difference, quotient, least, greatest, bitSub:
		v.vec = m.to(m.of(binary[v.action]), m.source(v.args[1]), m.held(v.args[0]))
	case squareRoot:
		v.vec = m.to(m.of(perFormat{{plain: x86.VSQRTPD}, {plain: x86.VSQRTPS}}), m.held(v.args[0]))
	case multiplyAdd, multiplySubtract, subtractProduct:
		m.fused(v, pending)
	case rounding:
		v.vec = m.round(v.imm, m.held(v.args[0]))
	case scaling:
		v.vec = m.scaled(m.held(v.args[0]), m.held(v.args[1]))
	case fraction, exponent:
		m.takeApart(v)
	case shiftLeft:
		v.vec = m.vector()
		m.emitted(x86.VPSLLQ, x86.VPSLLD, operand.U8(v.imm), m.held(v.args[0]), v.vec)
	case shiftRight:
		v.vec = m.vector()
		m.emitted(x86.VPSRLQ, x86.VPSRLD, operand.U8(v.imm), m.held(v.args[0]), v.vec)
	case compare:
		v.mask = m.compared(v.imm, m.source(v.args[1]), m.held(v.args[0]))
		v.vec, _ = v.mask.(vec)
	case signSet:
		if m.wide {
			k := m.K()
			m.emitted(two(x86.VPMOVQ2M), two(x86.VPMOVD2M), v.args[0].vec, k)
			v.mask = k
		}
	case both, either:
		a, b := m.condition(v.args[0]), m.condition(v.args[1])
		switch {
		case m.wide:
			k := m.K()
			if v.action == both {
				m.emitted(three(x86.KANDB), three(x86.KANDW), a, b, k)
			} else {
				m.emitted(three(x86.KORB), three(x86.KORW), a, b, k)
			}
			v.mask = k
		case v.action == both:
			v.vec = m.to(and, a, b)
		default:
			v.vec = m.to(or, a, b)
		}
	case choice:
		v.vec = m.blended(m.condition(v.args[0]), m.source(v.args[1]), m.held(v.args[2]))
	case lookup:
		v.vec = m.lookup(v)
	case pick:
		v.vec = m.pick(v)
	default:
		panic(fmt.Sprint("no instruction for action ", v.action))
	}
}

// fused is a·b ± c in whichever order overwrites a register that is needed no
// more.
func (m *machine) fused(v *value, pending map[*value]int) {
	orders := fusedOrders[v.action]
	o213, o231, o132 := m.of(orders[0]), m.of(orders[1]), m.of(orders[2])
	a, b, c := v.args[0], v.args[1], v.args[2]
	free := func(x *value) bool { return !m.inMemory(x) && x.action != parameter && pending[x] == 0 }
	if m.inMemory(a) || !free(a) && free(b) {
		a, b = b, a
	}
	switch {
	case m.inMemory(a): // as is b
		v.vec = m.do(o132, m.own(a), m.source(b), m.held(c))
	case free(c) && m.inMemory(b):
		v.vec = m.do(o231, c.vec, m.source(b), a.vec)
	case free(a) && !m.inMemory(b):
		v.vec = m.do(o213, a.vec, m.source(c), b.vec)
	case free(a):
		v.vec = m.do(o132, a.vec, m.source(b), m.held(c))
	case free(c):
		v.vec = m.do(o231, c.vec, m.source(b), a.vec)
	case m.inMemory(b) && !m.inMemory(c):
		v.vec = m.do(o213, m.own(b), c.vec, a.vec)
	default:
		v.vec = m.do(o231, m.own(c), m.source(b), a.vec)
	}
}

// lookup is a permutation of the numbers, or with AVX2 of each half of them: bit three of
// the word, as a sign, says which.
func (m *machine) lookup(v *value) vec {
	if !m.single {
		panic("lookup in sixteen float64")
	}
	name := "t"
	var numbers []uint32
	for _, a := range v.args[1:] {
		numbers = append(numbers, uint32(a.bits))
		name += fmt.Sprintf("%08x", a.bits)
	}
	t, ok := m.constants[name]
	if !ok {
		t = constant{m.StaticGlobal(fmt.Sprint("table", len(m.constants)))}
		m.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, n := range numbers {
			m.AddDatum(4*i, operand.U32(n))
		}
		m.constants[name] = t
	}
	word, y := v.args[0].vec, m.vector()
	if m.wide {
		if m.inTable != t { // by the vector before
			m.inTable, m.table = t, m.vector()
			m.VMOVDQU64(t.Mem, m.table)
		}
		m.VPERMPS(m.table, word, y)
		return y
	}
	m.VPERMPS(t.Mem, word, y)
	upper, which := m.vector(), m.vector()
	m.VPERMPS(t.Mem.Offset(32), word, upper)
	m.VPSLLD(operand.U8(28), word, which)
	return m.blended(which, upper, y)
}

// pick is a permutation of two float64, which both halves of a vector hold.
func (m *machine) pick(v *value) vec {
	a, b := v.args[1].bits, v.args[2].bits
	name := fmt.Sprintf("p%016x%016x", a, b)
	of, ok := m.constants[name]
	if !ok {
		of = constant{m.StaticGlobal(name)}
		m.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, n := range []uint64{a, b, a, b} {
			m.AddDatum(8*i, operand.U64(n))
		}
		m.constants[name] = of
	}
	table, ok := m.shared[[2]uint64{a, b}]
	if !ok {
		table = m.load(of.Mem, 32)
		if m.shared != nil {
			m.shared[[2]uint64{a, b}] = table
		}
	}
	y := m.vector()
	m.VPERMILPD(m.source(v.args[0]), table, y)
	return y
}

// scaled is x·2ⁿ: by AVX-512's instruction for it, or by two powers of two, of
// which neither, nor the first product, leaves the range.
func (m *machine) scaled(x, n vec) vec {
	v := m.vector()
	if m.wide {
		m.emitted(x86.VSCALEFPD, x86.VSCALEFPS, n, x, v)
		return v
	}
	f := m.width()
	add, sub, mul := m.of(binary[sum]), m.of(binary[difference]), m.of(binary[product])
	power := func(n vec) vec {
		p := m.vector()
		m.emitted(x86.VPSLLQ, x86.VPSLLD, operand.U8(f.shift), m.to(add, m.number(f.magic), n), p)
		return m.to(m.of(binary[bitAdd]), m.number(1), p)
	}
	half := m.round(0, m.to(mul, m.number(0.5), n))
	return m.to(mul, power(m.to(sub, half, n)), m.to(mul, power(half), x))
}

func (m *machine) width() width { return []width{double, single}[m.index()] }

// takeApart is the two steps of frexp.
func (m *machine) takeApart(v *value) {
	x, f := v.args[0].vec, m.width()
	sub, addBits, subBits, or := m.of(binary[difference]), m.of(binary[bitAdd]), m.of(binary[bitSub]), m.of(binary[bitOr])
	lift := float64(f.shift + 2) // which makes subnormal numbers normal
	switch {
	case m.wide && v.action == fraction:
		v.vec = m.vector()
		m.emitted(x86.VGETMANTPD, x86.VGETMANTPS, operand.U8(15), x, v.vec) // from ¾ on, NaN below zero
	case m.wide:
		of, own := m.vector(), m.vector()
		m.emitted(x86.VGETEXPPD, x86.VGETEXPPS, x, of)
		m.emitted(x86.VGETEXPPD, x86.VGETEXPPS, v.args[1].vec, own)
		v.vec = m.to(sub, own, of)
	case v.action == fraction:
		// Subnormal numbers are scaled. The exponent of x/¾ is that which is to go.
		tiny := m.compared(cmpLT, m.bits(1<<f.shift), x)
		normal := m.blended(tiny, m.to(m.of(binary[product]), m.number(math.Ldexp(1, int(lift))), x), x)
		t := m.to(addBits, m.bits(f.one-f.encode(0.75)), normal)
		exponent := m.to(m.of(binary[bitAnd]), m.bits(f.sign<<1-1<<f.shift), t)
		v.vec = m.to(addBits, m.number(1), m.to(subBits, exponent, normal))
		v.mask = [2]reg.Register{tiny, t}
	default:
		apart, e := v.args[1].mask.([2]reg.Register), m.vector()
		m.emitted(x86.VPSRLQ, x86.VPSRLD, operand.U8(f.shift), apart[1], e)
		// A number of few bits in the low bits of 2⁵² or 2²³ is added to it.
		base := math.Ldexp(1, int(f.shift))
		bias := base + float64(f.one>>f.shift)
		e = m.to(sub, m.blended(apart[0], m.number(bias+lift), m.loaded(m.number(bias))), m.to(or, m.number(base), e))
		zero := m.vector()
		m.zero(zero)
		e = m.blended(m.compared(cmpNLT, m.number(inf), x), x, e)
		e = m.blended(m.compared(cmpLT, zero, x), m.number(nan), e)
		v.vec = m.blended(m.compared(cmpEQ, zero, x), m.number(-inf), e)
	}
}
