package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"
)

// emitRandom writes the loops of Random: groups of blocks of Philox4x32-10, as
// many at once as a vector has 64-bit lanes, from a counter on. Each word of a
// block is the lower half of a lane; what the upper half holds does not matter.
func (m *machine) emitRandom() {
	m.random("Float32", (*machine).uniform32)
	m.random("Float64", (*machine).uniform64)
}

func (m *machine) random(name string, uniform func(m *machine, bits vec) vec) {
	l := loop{name: "vecRandom" + name}
	m.prefix = l.function(m.wide)
	m.Function(m.prefix)
	m.Attributes(attr.NOSPLIT)
	m.SignatureExpr("func(groups int, dst []byte, seed, counter uint64)")
	m.Pragma("noescape")
	groups := m.Load(m.Param("groups"), m.GP64())
	dst := m.Load(m.Param("dst").Base(), m.GP64())
	broadcast := func(param string) vec {
		x, v := m.XMM(), m.vector()
		m.VMOVQ(m.Load(m.Param(param), m.GP64()), x)
		m.VPBROADCASTQ(x, v)
		return v
	}
	seed, counter := broadcast("seed"), broadcast("counter")
	counter = m.do(binary[bitAdd][0], counter, counter, m.load(m.lanes(), m.bytes()))

	m.Label("groups")
	m.TESTQ(groups, groups)
	m.JZ(operand.LabelRef("done"))
	first, second := m.philox(seed, counter)
	m.store(uniform(m, first), operand.Mem{Base: dst}, m.bytes())
	m.store(uniform(m, second), operand.Mem{Base: dst, Disp: m.bytes()}, m.bytes())
	m.do(binary[bitAdd][0], counter, m.q(uint64(m.bytes()/8)), counter)
	m.ADDQ(operand.Imm(uint64(2*m.bytes())), dst)
	m.DECQ(groups)
	m.JMP(operand.LabelRef("groups"))
	m.Label("done")
	m.VZEROUPPER()
	m.RET()
}

// lanes is what each lane adds to the counter: such that interleaving the halves
// of blocks, which goes by pairs of lanes, puts the blocks in order.
func (m *machine) lanes() operand.Mem {
	name, order := "lanes2", []uint64{0, 2, 1, 3}
	if m.wide {
		name, order = "lanes512", []uint64{0, 4, 1, 5, 2, 6, 3, 7}
	}
	if c, ok := m.constants[name]; ok {
		return c.Mem
	}
	mem := m.StaticGlobal(name)
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range order {
		m.AppendDatum(operand.U64(v))
	}
	m.constants[name] = constant{mem}
	return mem
}

// philox is the blocks of a vector of counters, in two vectors.
func (m *machine) philox(seed, counter vec) (first, second vec) {
	multiply := op{x86.VPMULUDQ, nil, x86.VPMULUDQ_BCST}
	addWords := op{x86.VPADDD, nil, x86.VPADDD_BCST}
	upper := func(v vec) vec {
		u := m.vector()
		m.VPSRLQ(operand.U8(32), v, u)
		return u
	}
	move := func(v vec) vec {
		u := m.vector()
		m.VMOVUPD(v, u)
		return u
	}
	k0, k1 := move(seed), upper(seed)
	c0, c1, c2, c3 := move(counter), upper(counter), m.vector(), m.vector()
	m.zero(c2)
	m.zero(c3)
	for round := range 10 {
		if round > 0 {
			m.do(addWords, k0, m.d(0x9E3779B9), k0)
			m.do(addWords, k1, m.d(0xBB67AE85), k1)
		}
		p0 := m.to(multiply, m.q(0xD2511F53), c0)
		p1 := m.to(multiply, m.q(0xCD9E8D57), c2)
		c0 = m.exclusive(upper(p1), c1, k0)
		c2 = m.exclusive(upper(p0), c3, k1)
		c1, c3 = p1, p0
	}
	// Words 0 and 1 of each block in one vector, 2 and 3 in another.
	low := m.q(1<<32 - 1)
	pair := func(x, y vec) vec {
		shifted := m.vector()
		m.VPSLLQ(operand.U8(32), y, shifted)
		return m.to(or, shifted, m.to(and, low, x))
	}
	a, b := pair(c0, c1), pair(c2, c3)
	first, second = m.vector(), m.vector()
	m.VPUNPCKLQDQ(b, a, first)
	m.VPUNPCKHQDQ(b, a, second)
	return first, second
}

// exclusive is x ^ y ^ z.
func (m *machine) exclusive(x, y, z vec) vec {
	if m.wide {
		m.VPTERNLOGQ(operand.U8(0x96), z, y, x)
		return x
	}
	return m.do(xor, x, z, m.do(xor, x, y, x))
}

// uniform32 scales the upper 24 bits of each word.
func (m *machine) uniform32(bits vec) vec {
	v := m.vector()
	m.VPSRLD(operand.U8(8), bits, v)
	m.VCVTDQ2PS(v, v)
	return m.do(binary[product][1], v, m.f32(0x1p-24), v)
}

// uniform64 scales the upper 53 bits of each pair of words. A whole number of 53
// bits is converted in halves, each under the exponent of its last place.
func (m *machine) uniform64(bits vec) vec {
	v, high := m.vector(), m.vector()
	m.VPSRLQ(operand.U8(11), bits, v)
	m.VPSRLQ(operand.U8(32), v, high)
	high = m.to(binary[difference][0], m.f64(0x1p84+0x1p52), m.to(or, m.f64(0x1p84), high))
	low := m.to(or, m.f64(0x1p52), m.to(and, m.q(1<<32-1), v))
	return m.to(binary[product][0], m.f64(0x1p-53), m.to(binary[sum][0], low, high))
}
