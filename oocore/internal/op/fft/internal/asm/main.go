// Command asm writes the passes of radix 2, 3, 4 and 5 for amd64.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, l := range []*level{{name: "AVX512", bytes: 64, vector: ZMM}, {name: "AVX2", bytes: 32, vector: YMM}} {
		l.pass(2, two)
		l.pass(3, three)
		l.pass(4, four)
		l.pass(5, five)
	}
	Generate()
}

// level is a set of instructions, with its vectors of complex numbers.
type level struct {
	name   string
	bytes  int
	vector func() VecVirtual

	constants Register
}

// constant is a number of the table that a pass is given, in each place.
func (l *level) constant(i int) VecVirtual {
	v := l.vector()
	VBROADCASTSD(Mem{Base: l.constants, Disp: 8 * i}, v)
	return v
}

// The table of constants.
const (
	one = iota
	half
	sin3 // of a third of a turn
	cos1 // of a fifth
	sin1
	cos2 // of two fifths
	sin2
)

func (l *level) add(a, b VecVirtual) VecVirtual {
	v := l.vector()
	VADDPD(b, a, v)
	return v
}

func (l *level) sub(a, b VecVirtual) VecVirtual {
	v := l.vector()
	VSUBPD(b, a, v)
	return v
}

// swapped has the parts of each number exchanged.
func (l *level) swapped(a VecVirtual) VecVirtual {
	v := l.vector()
	if l.bytes == 64 {
		VPERMILPD(U8(0x55), a, v)
	} else {
		VPERMILPD(U8(5), a, v)
	}
	return v
}

// turns are a - i·b and a + i·b.
func (l *level) turns(a, b VecVirtual) (minus, plus VecVirtual) {
	s, o := l.swapped(b), l.constant(one)
	minus, plus = l.vector(), l.vector()
	VMOVAPD(a, minus)
	VMOVAPD(a, plus)
	VFMSUBADD213PD(s, o, minus)
	VFMADDSUB213PD(s, o, plus)
	return minus, plus
}

func two(l *level, x []VecVirtual) []VecVirtual {
	return []VecVirtual{l.add(x[0], x[1]), l.sub(x[0], x[1])}
}

func three(l *level, x []VecVirtual) []VecVirtual {
	sum, d := l.add(x[1], x[2]), l.sub(x[1], x[2])
	mid := l.vector()
	VMOVAPD(x[0], mid)
	VFNMADD231PD(l.constant(half), sum, mid)
	VMULPD(l.constant(sin3), d, d)
	minus, plus := l.turns(mid, d)
	return []VecVirtual{l.add(x[0], sum), minus, plus}
}

func four(l *level, x []VecVirtual) []VecVirtual {
	even, odd := l.add(x[0], x[2]), l.sub(x[0], x[2])
	sum, e := l.add(x[1], x[3]), l.sub(x[1], x[3])
	minus, plus := l.turns(odd, e)
	return []VecVirtual{l.add(even, sum), minus, l.sub(even, sum), plus}
}

func five(l *level, x []VecVirtual) []VecVirtual {
	outer, o := l.add(x[1], x[4]), l.sub(x[1], x[4])
	inner, i := l.add(x[2], x[3]), l.sub(x[2], x[3])
	mid := func(outerBy, innerBy int) VecVirtual {
		v := l.vector()
		VMOVAPD(x[0], v)
		VFMADD231PD(l.constant(outerBy), outer, v)
		VFMADD231PD(l.constant(innerBy), inner, v)
		return v
	}
	mid1, mid2 := mid(cos1, cos2), mid(cos2, cos1)
	total := l.add(x[0], l.add(outer, inner))
	odd1, odd2 := l.vector(), l.vector()
	VMULPD(l.constant(sin1), o, odd1)
	VFMADD231PD(l.constant(sin2), i, odd1)
	VMULPD(l.constant(sin2), o, odd2)
	VFNMADD231PD(l.constant(sin1), i, odd2)
	a, d := l.turns(mid1, odd1)
	b, c := l.turns(mid2, odd2)
	return []VecVirtual{total, a, b, c, d}
}

// pass writes the pass of a radix: see pass4 in Go.
func (l *level) pass(radix int, butterfly func(l *level, x []VecVirtual) []VecVirtual) {
	TEXT(fmt.Sprintf("pass%d%s", radix, l.name), NOSPLIT, "func(m, groups int, x, y, roots *complex128, step int, constants *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("Is a pass of radix %d for groups of %d transforms side by side.", radix, l.bytes/16))
	m := Load(Param("m"), GP64())
	x, y, roots := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("roots"), GP64())
	step := Load(Param("step"), GP64())
	SHLQ(U8(4), step)
	l.constants = Load(Param("constants"), GP64())
	side := Load(Param("groups"), GP64()) // bytes of a row of y
	SHLQ(U8(map[int]uint8{64: 6, 32: 5}[l.bytes]), side)
	apart := GP64() // bytes between the rows of x
	MOVQ(side, apart)
	IMULQ(m, apart)
	at := GP64() // of the root
	XORQ(at, at)
	side3, apart3, at3 := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: side, Index: side, Scale: 2}, side3)
	LEAQ(Mem{Base: apart, Index: apart, Scale: 2}, apart3)
	row := func(base, by, by3 Register, k, disp int) Mem {
		mem := Mem{Base: base, Disp: disp}
		switch k {
		case 1, 2, 4:
			mem.Index, mem.Scale = by, uint8(k)
		case 3:
			mem.Index, mem.Scale = by3, 1
		}
		return mem
	}
	Label("root")
	LEAQ(Mem{Base: at, Index: at, Scale: 2}, at3)
	var kept [5][2]VecVirtual
	weight := func(k, part int) VecVirtual {
		w := l.vector()
		VBROADCASTSD(row(roots, at, at3, k, 8*part), w)
		return w
	}
	if l.bytes == 64 {
		for k := 1; k < radix; k++ {
			kept[k] = [2]VecVirtual{weight(k, 0), weight(k, 1)}
		}
	}
	q := GP64()
	MOVQ(side, q)
	Label("group")
	in := make([]VecVirtual, radix)
	for j := range in {
		in[j] = l.vector()
		VMOVUPD(row(x, apart, apart3, j, 0), in[j])
	}
	for k, v := range butterfly(l, in) {
		if k > 0 {
			re, im := kept[k][0], kept[k][1]
			if re == nil {
				re, im = weight(k, 0), weight(k, 1)
			}
			s := l.swapped(v)
			VMULPD(im, s, s)
			VFMADDSUB213PD(s, re, v)
		}
		VMOVUPD(v, row(y, side, side3, k, 0))
	}
	ADDQ(U8(l.bytes), x)
	ADDQ(U8(l.bytes), y)
	SUBQ(U8(l.bytes), q)
	JNZ(LabelRef("group"))
	for range radix - 1 {
		ADDQ(side, y)
	}
	ADDQ(step, at)
	DECQ(m)
	JNZ(LabelRef("root"))
	VZEROUPPER()
	RET()
}
