// Command asm-reduce writes the vector loops of sums, variances, minima and
// maxima for amd64.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is what differs between the two vector extensions.
type isa struct {
	name   string
	bytes  int // of a vector
	many   int // vectors of accumulators in the wide column loops
	vector func() VecVirtual
}

var isas = []isa{
	{"AVX512", 64, 8, ZMM},
	{"AVX2", 32, 4, YMM},
}

// element is a floating-point type.
type element struct {
	name string
	size int
}

var elements = []element{{"32", 4}, {"64", 8}}

func main() {
	for _, v := range isas {
		for _, e := range elements {
			row(v, e, "sum", false)
			row(v, e, "dev", true)
			cols(v, e, "sumCols", false)
			cols(v, e, "devCols", true)
			extremeRow(v, e, "min")
			extremeRow(v, e, "max")
			extremeCols(v, e, "min")
			extremeCols(v, e, "max")
		}
	}
	Generate()
}

// load reads a vector of float64 from elements.
func load(e element, from Mem, to VecVirtual) {
	if e.size == 4 {
		VCVTPS2PD(from, to)
	} else {
		VMOVUPD(from, to)
	}
}

func zero(v isa, r VecVirtual) {
	if v.bytes == 64 {
		VPXORQ(r, r, r)
	} else {
		VXORPD(r, r, r)
	}
}

// accumulate adds the elements at from, or their squared deviations from mean.
func accumulate(v isa, e element, from Mem, mean Op, acc VecVirtual) {
	if mean == nil && e.size == 8 {
		VADDPD(from, acc, acc)
		return
	}
	x := v.vector()
	load(e, from, x)
	if mean == nil {
		VADDPD(x, acc, acc)
		return
	}
	VSUBPD(mean, x, x)
	VFMADD231PD(x, x, acc)
}

// row writes a loop over n elements, n a multiple of a vector's float64 lanes.
func row(v isa, e element, name string, squared bool) {
	signature, mean := "func(x *float%s, n int) float64", Op(nil)
	if squared {
		signature = "func(x *float%s, n int, mean float64) float64"
	}
	TEXT(name+e.name+v.name, NOSPLIT, fmt.Sprintf(signature, e.name))
	Pragma("noescape")
	lanes := v.bytes / 8
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	if squared {
		m := v.vector()
		addr, _ := Param("mean").Resolve()
		VBROADCASTSD(addr.Addr, m)
		mean = m
	}
	acc := make([]VecVirtual, 8)
	for i := range acc {
		acc[i] = v.vector()
		zero(v, acc[i])
	}
	loop(n, len(acc)*lanes, "wide", func() {
		for i := range acc {
			accumulate(v, e, Mem{Base: x, Disp: i * lanes * e.size}, mean, acc[i])
		}
		ADDQ(U32(uint32(len(acc)*lanes*e.size)), x)
	})
	loop(n, lanes, "narrow", func() {
		accumulate(v, e, Mem{Base: x}, mean, acc[0])
		ADDQ(U32(uint32(lanes*e.size)), x)
	})
	for h := len(acc) / 2; h > 0; h /= 2 {
		for i := range h {
			VADDPD(acc[i+h], acc[i], acc[i])
		}
	}
	y := acc[0].AsY()
	if v.bytes == 64 {
		high := YMM()
		VEXTRACTF64X4(Imm(1), acc[0], high)
		VADDPD(high, y, y)
	}
	high := XMM()
	VEXTRACTF128(Imm(1), y, high)
	s := acc[0].AsX()
	VADDPD(high, s, s)
	VPERMILPD(Imm(1), s, high)
	VADDSD(high, s, s)
	Store(s, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// loop runs body while n is at least step, taking step from it.
func loop(n Register, step int, label string, body func()) {
	Label(label)
	CMPQ(n, U32(uint32(step)))
	JLT(LabelRef(label + "End"))
	body()
	SUBQ(U32(uint32(step)), n)
	JMP(LabelRef(label))
	Label(label + "End")
}

// cols writes a loop down columns, a multiple of a vector's float64 lanes.
func cols(v isa, e element, name string, squared bool) {
	signature := "func(acc *float64, x *float%s, rows, cols, stride int)"
	if squared {
		signature = "func(acc, mean *float64, x *float%s, rows, cols, stride int)"
	}
	TEXT(name+e.name+v.name, NOSPLIT, fmt.Sprintf(signature, e.name))
	Pragma("noescape")
	lanes := v.bytes / 8
	sums, x := Load(Param("acc"), GP64()), Load(Param("x"), GP64())
	var means Register
	if squared {
		means = Load(Param("mean"), GP64())
	}
	rows, n, stride := Load(Param("rows"), GP64()), Load(Param("cols"), GP64()), Load(Param("stride"), GP64())
	SHLQ(U8(uint8(e.size/4+1)), stride)
	at, left := GP64(), GP64()
	for _, vectors := range []int{v.many, 1} {
		label := fmt.Sprint("cols", vectors)
		loop(n, vectors*lanes, label, func() {
			acc, mean := make([]VecVirtual, vectors), make([]Op, vectors)
			for i := range acc {
				acc[i] = v.vector()
				VMOVUPD(Mem{Base: sums, Disp: i * v.bytes}, acc[i])
				if squared {
					m := v.vector()
					VMOVUPD(Mem{Base: means, Disp: i * v.bytes}, m)
					mean[i] = m
				}
			}
			MOVQ(x, at)
			MOVQ(rows, left)
			loop(left, 1, label+"Rows", func() {
				for i := range acc {
					accumulate(v, e, Mem{Base: at, Disp: i * lanes * e.size}, mean[i], acc[i])
				}
				ADDQ(stride, at)
			})
			for i := range acc {
				VMOVUPD(acc[i], Mem{Base: sums, Disp: i * v.bytes})
			}
			ADDQ(U32(uint32(vectors*v.bytes)), sums)
			if squared {
				ADDQ(U32(uint32(vectors*v.bytes)), means)
			}
			ADDQ(U32(uint32(vectors*lanes*e.size)), x)
		})
	}
	VZEROUPPER()
	RET()
}

// extreme is a vector of extremes so far, and of where NaN was seen: of two
// operands the instructions give the second where either is NaN, so that NaN
// never enters the extremes themselves.
type extreme struct {
	v       isa
	e       element
	name    string
	best    VecVirtual
	unknown Op
}

func newExtreme(v isa, e element, name string) extreme {
	x := extreme{v: v, e: e, name: name, best: v.vector()}
	if v.bytes == 64 {
		k := K()
		KXORQ(k, k, k)
		x.unknown = k
	} else {
		m := v.vector()
		VXORPD(m, m, m)
		x.unknown = m
	}
	return x
}

const unordered = 3

// take folds the vector at from.
func (x extreme) take(from Mem) {
	r := x.v.vector()
	VMOVUPS(from, r)
	switch x.name + x.e.name {
	case "min32":
		VMINPS(x.best, r, x.best)
	case "max32":
		VMAXPS(x.best, r, x.best)
	case "min64":
		VMINPD(x.best, r, x.best)
	case "max64":
		VMAXPD(x.best, r, x.best)
	}
	compare := VCMPPS
	if x.e.size == 8 {
		compare = VCMPPD
	}
	if x.v.bytes == 64 {
		k := K()
		compare(Imm(unordered), r, r, k)
		KORQ(k, x.unknown, x.unknown)
	} else {
		compare(Imm(unordered), r, r, r)
		VORPD(r, x.unknown, x.unknown)
	}
}

// settle puts NaN, all bits set, where it was seen.
func (x extreme) settle() {
	if x.v.bytes == 64 {
		nan := x.v.vector()
		VPTERNLOGD(Imm(255), nan, nan, nan)
		if x.e.size == 4 {
			VMOVAPS(nan, x.unknown, x.best)
		} else {
			VMOVAPD(nan, x.unknown, x.best)
		}
	} else {
		VORPD(x.unknown, x.best, x.best)
	}
}

// extremeRow writes a loop over n elements, a multiple of a vector's, that
// folds them into the vector at best.
func extremeRow(v isa, e element, name string) {
	TEXT(name+"Row"+e.name+v.name, NOSPLIT, fmt.Sprintf("func(best, x *float%s, n int)", e.name))
	Pragma("noescape")
	out, x, n := Load(Param("best"), GP64()), Load(Param("x"), GP64()), Load(Param("n"), GP64())
	lanes := v.bytes / e.size
	acc := make([]extreme, 4)
	for i := range acc {
		acc[i] = newExtreme(v, e, name)
		VMOVUPS(Mem{Base: out}, acc[i].best)
	}
	loop(n, len(acc)*lanes, "wide", func() {
		for i := range acc {
			acc[i].take(Mem{Base: x, Disp: i * v.bytes})
		}
		ADDQ(U32(uint32(len(acc)*v.bytes)), x)
	})
	loop(n, lanes, "narrow", func() {
		acc[0].take(Mem{Base: x})
		ADDQ(U32(uint32(v.bytes)), x)
	})
	for i := range acc {
		acc[i].settle()
		VMOVUPS(acc[i].best, Mem{Base: out, Disp: i * v.bytes})
	}
	VZEROUPPER()
	RET()
}

// extremeCols writes a loop down columns, a multiple of a vector's elements.
func extremeCols(v isa, e element, name string) {
	TEXT(name+"Cols"+e.name+v.name, NOSPLIT, fmt.Sprintf("func(acc, x *float%s, rows, cols, stride int)", e.name))
	Pragma("noescape")
	out, x := Load(Param("acc"), GP64()), Load(Param("x"), GP64())
	rows, n, stride := Load(Param("rows"), GP64()), Load(Param("cols"), GP64()), Load(Param("stride"), GP64())
	SHLQ(U8(uint8(e.size/4+1)), stride)
	at, left := GP64(), GP64()
	for _, vectors := range []int{4, 1} {
		label := fmt.Sprint("cols", vectors)
		loop(n, vectors*v.bytes/e.size, label, func() {
			acc := make([]extreme, vectors)
			for i := range acc {
				acc[i] = newExtreme(v, e, name)
				VMOVUPS(Mem{Base: out, Disp: i * v.bytes}, acc[i].best)
			}
			MOVQ(x, at)
			MOVQ(rows, left)
			loop(left, 1, label+"Rows", func() {
				for i := range acc {
					acc[i].take(Mem{Base: at, Disp: i * v.bytes})
				}
				ADDQ(stride, at)
			})
			for i := range acc {
				acc[i].settle()
				VMOVUPS(acc[i].best, Mem{Base: out, Disp: i * v.bytes})
			}
			ADDQ(U32(uint32(vectors*v.bytes)), out)
			ADDQ(U32(uint32(vectors*v.bytes)), x)
		})
	}
	VZEROUPPER()
	RET()
}
