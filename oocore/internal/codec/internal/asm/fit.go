package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// broadcast is a vector of a number that stays.
func broadcast(name string, bits uint32) VecVirtual {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, U32(bits))
	v := YMM()
	VPBROADCASTD(m, v)
	return v
}

// param is a vector of a parameter.
func param(name string) VecVirtual {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := YMM()
	VBROADCASTSS(p.Addr, v)
	return v
}

// nearest makes of elements the levels of a try, as floats: (v-least)·inverse to the nearest integer from low to high.
func nearest(v, l, least, inverse, magic, mask, bias, low, high VecVirtual) {
	VSUBPS(least, v, l)
	VMULPS(l, inverse, l)
	VADDPS(magic, l, l)
	VPAND(mask, l, l)
	VPSUBD(bias, l, l)
	VPMINSD(high, l, l)
	VPMAXSD(low, l, l)
	VCVTDQ2PS(l, l)
}

// levels writes the sums of a try to fit eight parts at once, a part in each lane of a vector. Each lane does what the loop
// in Go does, operation by operation.
func levels() {
	TEXT("levels8AVX2", NOSPLIT, "func(rows int, x, w, xw, lane *float32, low, high int32)")
	Pragma("noescape")
	Doc("is the loop of tryLevels with sums of l·w and l·w·x; xw is nil.")
	n := Load(Param("rows"), GP64())
	x, w, xw, lane := Load(Param("x"), GP64()), Load(Param("w"), GP64()), Load(Param("xw"), GP64()), Load(Param("lane"), GP64())
	low, high := param("low"), param("high")
	magic, mask, bias := broadcast("fitMagic", 0x4b400000), broadcast("fitMask", 0x7fffff), broadcast("fitBias", 0x400000)
	inverse, least := YMM(), YMM()
	VMOVUPS(Mem{Base: lane}, inverse)
	VMOVUPS(Mem{Base: lane, Disp: 32}, least)
	sums := []VecVirtual{YMM(), YMM(), YMM()}
	for _, s := range sums {
		VXORPS(s, s, s)
	}
	v, l, t := YMM(), YMM(), YMM()
	Label("row")
	VMOVUPS(Mem{Base: x}, v)
	nearest(v, l, least, inverse, magic, mask, bias, low, high)
	VMULPS(Mem{Base: w}, l, t) // l·w
	VADDPS(t, sums[0], sums[0])
	TESTQ(xw, xw)
	JZ(LabelRef("fromProduct"))
	VMULPS(Mem{Base: xw}, l, v)
	VMULPS(l, t, t)
	ADDQ(U8(32), xw)
	JMP(LabelRef("add"))
	Label("fromProduct")
	VMULPS(v, t, v)
	VMULPS(l, t, t)
	Label("add")
	VADDPS(t, sums[1], sums[1])
	VADDPS(v, sums[2], sums[2])
	ADDQ(U8(32), x)
	ADDQ(U8(32), w)
	DECQ(n)
	JNZ(LabelRef("row"))
	for i, s := range sums {
		VMOVUPS(s, Mem{Base: lane, Disp: 64 + 32*i})
	}
	VZEROUPPER()
	RET()
}

// errors writes the weighted squares of what a scale and an offset make of the levels of a try.
func errors() {
	TEXT("errors8AVX2", NOSPLIT, "func(rows int, x, w, lane *float32, low, high int32)")
	Pragma("noescape")
	Doc("is the loop of tryErrors.")
	n := Load(Param("rows"), GP64())
	x, w, lane := Load(Param("x"), GP64()), Load(Param("w"), GP64()), Load(Param("lane"), GP64())
	low, high := param("low"), param("high")
	magic, mask, bias := broadcast("errMagic", 0x4b400000), broadcast("errMask", 0x7fffff), broadcast("errBias", 0x400000)
	inverse, least, scale, offset, sum := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: lane}, inverse)
	VMOVUPS(Mem{Base: lane, Disp: 32}, least)
	VMOVUPS(Mem{Base: lane, Disp: 160}, scale)
	VMOVUPS(Mem{Base: lane, Disp: 192}, offset)
	VXORPS(sum, sum, sum)
	v, l := YMM(), YMM()
	Label("row")
	VMOVUPS(Mem{Base: x}, v)
	nearest(v, l, least, inverse, magic, mask, bias, low, high)
	VMULPS(l, scale, l)
	VADDPS(offset, l, l)
	VSUBPS(v, l, l)
	VMULPS(l, l, l)
	VMULPS(Mem{Base: w}, l, l)
	VADDPS(l, sum, sum)
	ADDQ(U8(32), x)
	ADDQ(U8(32), w)
	DECQ(n)
	JNZ(LabelRef("row"))
	VMOVUPS(sum, Mem{Base: lane, Disp: 224})
	VZEROUPPER()
	RET()
}
