// Command asm writes the loops over rows of float64 for amd64.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, l := range []level{{"AVX512", 64, ZMM}, {"AVX2", 32, YMM}} {
		l.dot()
		l.axpy()
		l.rotate()
	}
	Generate()
}

// level is a set of instructions, with its vectors.
type level struct {
	name   string
	bytes  int
	vector func() VecVirtual
}

const vectors = 4 // in a group

// groups is a loop with its counter in the parameter groups.
func groups(body func()) {
	n := Load(Param("groups"), GP64())
	Label("group")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	body()
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
}

func (l level) dot() {
	TEXT("dot"+l.name, NOSPLIT, "func(groups int, x, y *float64) float64")
	Pragma("noescape")
	Doc("Sums products over groups of four vectors.")
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	var sum [vectors]VecVirtual
	for i := range sum {
		sum[i] = l.vector()
		if l.bytes == 64 {
			VPXORQ(sum[i], sum[i], sum[i])
		} else {
			VXORPD(sum[i], sum[i], sum[i])
		}
	}
	groups(func() {
		for i := range sum {
			v := l.vector()
			VMOVUPD(Mem{Base: x, Disp: i * l.bytes}, v)
			VFMADD231PD(Mem{Base: y, Disp: i * l.bytes}, v, sum[i])
		}
		ADDQ(U32(uint32(vectors*l.bytes)), x)
		ADDQ(U32(uint32(vectors*l.bytes)), y)
	})
	VADDPD(sum[1], sum[0], sum[0])
	VADDPD(sum[3], sum[2], sum[2])
	VADDPD(sum[2], sum[0], sum[0])
	half := sum[0]
	if l.bytes == 64 {
		half = YMM()
		VEXTRACTF64X4(U8(1), sum[0], half)
		VADDPD(sum[0].AsY(), half, half)
	}
	low := XMM()
	VEXTRACTF128(U8(1), half, low)
	VADDPD(half.AsX(), low, low)
	last := XMM()
	VPERMILPD(U8(1), low, last)
	VADDSD(last, low, low)
	Store(low, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func (l level) axpy() {
	TEXT("axpy"+l.name, NOSPLIT, "func(groups int, s float64, x, y *float64)")
	Pragma("noescape")
	Doc("Adds s times x to y over groups of four vectors.")
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	s := l.vector()
	VBROADCASTSD(Load(Param("s"), XMM()), s)
	groups(func() {
		for i := range vectors {
			v := l.vector()
			VMOVUPD(Mem{Base: y, Disp: i * l.bytes}, v)
			VFMADD231PD(Mem{Base: x, Disp: i * l.bytes}, s, v)
			VMOVUPD(v, Mem{Base: y, Disp: i * l.bytes})
		}
		ADDQ(U32(uint32(vectors*l.bytes)), x)
		ADDQ(U32(uint32(vectors*l.bytes)), y)
	})
	VZEROUPPER()
	RET()
}

func (l level) rotate() {
	TEXT("rotate"+l.name, NOSPLIT, "func(groups int, x, y *float64, cos, sin float64)")
	Pragma("noescape")
	Doc("Turns x to cos·x - sin·y and y to sin·x + cos·y over groups of four vectors.")
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	cos, sin := l.vector(), l.vector()
	VBROADCASTSD(Load(Param("cos"), XMM()), cos)
	VBROADCASTSD(Load(Param("sin"), XMM()), sin)
	groups(func() {
		for i := range vectors {
			a, b, c, d := l.vector(), l.vector(), l.vector(), l.vector()
			VMOVUPD(Mem{Base: x, Disp: i * l.bytes}, a)
			VMOVUPD(Mem{Base: y, Disp: i * l.bytes}, b)
			VMULPD(sin, b, c)
			VMULPD(cos, b, d)
			VFMSUB231PD(cos, a, c)
			VFMADD231PD(sin, a, d)
			VMOVUPD(c, Mem{Base: x, Disp: i * l.bytes})
			VMOVUPD(d, Mem{Base: y, Disp: i * l.bytes})
		}
		ADDQ(U32(uint32(vectors*l.bytes)), x)
		ADDQ(U32(uint32(vectors*l.bytes)), y)
	})
	VZEROUPPER()
	RET()
}
