package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// emitQ8 writes the loop of EncodeQ8 over whole blocks, which AVX2 does as fast as memory takes them.
func (m *machine) emitQ8() {
	if m.wide {
		return
	}
	m.prefix, m.single = "vecQ8AVX2", true
	m.Function(m.prefix)
	m.Attributes(attr.NOSPLIT)
	m.SignatureExpr("func(blocks int, dst []byte, src []float32)")
	m.Pragma("noescape")
	count := m.Load(m.Param("blocks"), m.GP64())
	dst := m.Load(m.Param("dst").Base(), m.GP64())
	src := m.Load(m.Param("src").Base(), m.GP64())
	order, zero, one := m.load(m.inOrder(), 32), m.XMM(), m.XMM()
	m.VPXOR(zero, zero, zero)
	m.VMOVUPS(m.f32(1).Mem, one)

	m.Label("blocks")
	m.TESTQ(count, count)
	m.JZ(operand.LabelRef("done"))
	// The bits of magnitudes rise with them, up to NaN.
	var x [4]vec
	greatest := op{plain: x86.VPMAXSD}
	var most vec
	for i := range x {
		x[i] = m.load(operand.Mem{Base: src, Disp: 32 * i}, 32)
		magnitude := m.to(and, m.d(1<<31-1), x[i])
		if most == nil {
			most = magnitude
		} else {
			most = m.do(greatest, most, magnitude, most)
		}
	}
	var all, other reg.VecVirtual = m.XMM(), m.XMM()
	m.VEXTRACTI128(operand.U8(0), most, all)
	m.VEXTRACTI128(operand.U8(1), most, other)
	m.do(greatest, all, other, all)
	for _, across := range []uint8{0x4e, 0xb1} {
		m.VPSHUFD(operand.U8(across), all, other)
		m.do(greatest, all, other, all)
	}
	m.VDIVPS(m.f32(127).Mem, all, all)
	m.VDIVPS(all, one, other)
	some, inverse := m.XMM(), m.vector()
	m.VCMPPS(operand.U8(cmpNEQ), zero, all, some)
	m.VANDPS(some, other, other)
	m.VBROADCASTSS(other, inverse)
	m.VCVTPS2PH(operand.U8(0), all, all)
	m.VPEXTRW(operand.U8(0), all, operand.Mem{Base: dst})
	// In halves, without what is less than one, which words hold; no number is the least of them.
	for i, v := range x {
		m.VMULPS(inverse, v, v)
		m.VADDPS(v, v, v)
		m.VCVTTPS2DQ(v, x[i])
	}
	for i := 0; i < len(x); i += 2 {
		v, halves := x[i], m.vector()
		m.VPACKSSDW(x[i+1], v, halves)
		m.VPABSW(halves, v)
		m.VPADDW(m.w(1).Mem, v, v)
		m.VPSRAW(operand.U8(1), v, v)
		m.VPSIGNW(halves, v, v)
		m.VPAND(m.w(0xff).Mem, v, v)
	}
	m.VPACKUSWB(x[2], x[0], x[0])
	m.VPERMD(x[0], order, x[0])
	m.store(x[0], operand.Mem{Base: dst, Disp: 2}, 32)
	m.ADDQ(operand.Imm(kernel.Q8Bytes), dst)
	m.ADDQ(operand.Imm(4*kernel.Q8Floats), src)
	m.DECQ(count)
	m.JMP(operand.LabelRef("blocks"))
	m.Label("done")
	m.VZEROUPPER()
	m.RET()
}

// inOrder is where the double words are that packing by halves of vectors has left apart.
func (m *machine) inOrder() operand.Mem {
	mem := m.StaticGlobal("inOrder")
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		m.AppendDatum(operand.U32(v))
	}
	return mem
}
