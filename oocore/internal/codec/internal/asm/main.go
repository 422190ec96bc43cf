// Command asm writes the loops that shuffle bytes and bits for amd64.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, size := range []int{2, 4, 8, 16} {
		shuffle(size)
		unshuffle(size)
	}
	shuffleBits()
	unshuffleBits()
	levels()
	errors()
	Generate()
}

// rotate interleaves the bytes of the lower half of the registers with those of the
// upper half. In each lane of 16 bytes, a byte's place is a number of which the upper
// bits are its register: this rotates the number's bits left by one.
func rotate(r []VecVirtual) []VecVirtual {
	half := len(r) / 2
	out := make([]VecVirtual, len(r))
	for i := range half {
		out[2*i], out[2*i+1] = YMM(), r[i]
		VPUNPCKLBW(r[i+half], r[i], out[2*i])
		VPUNPCKHBW(r[i+half], r[i], out[2*i+1])
	}
	return out
}

// loop is a function over groups of elements. planes is the distance between the rows
// of one side.
func loop(name, doc string, each func(dst, src, plane Register)) {
	TEXT(name, NOSPLIT, "func(dst, src *byte, plane, groups int)")
	Pragma("noescape")
	Doc(doc)
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	plane, groups := Load(Param("plane"), GP64()), Load(Param("groups"), GP64())
	Label("group")
	TESTQ(groups, groups)
	JZ(LabelRef("done"))
	each(dst, src, plane)
	DECQ(groups)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// cursor walks over rows.
type cursor struct{ at, step Register }

func rows(base, step Register) cursor {
	at := GP64()
	MOVQ(base, at)
	return cursor{at, step}
}

func (c cursor) next() { ADDQ(c.step, c.at) }

// elements loads 32 elements so that the two lanes are 16 elements each: register i has
// the i-th 16 bytes of both. Of 16 bytes it loads 16 elements: the lanes are their lower
// and upper halves.
func elements(size int, src Register) []VecVirtual {
	r := make([]VecVirtual, min(size, 8))
	for i := range r {
		r[i] = YMM()
		if size == 16 {
			VPERMQ(Imm(0b11011000), Mem{Base: src, Disp: 32 * i}, r[i])
			continue
		}
		VMOVDQU(Mem{Base: src, Disp: 16 * i}, r[i].AsX())
		VINSERTI128(Imm(1), Mem{Base: src, Disp: 16*size + 16*i}, r[i], r[i])
	}
	return r
}

func putElements(size int, r []VecVirtual, dst Register) {
	for i := range r {
		if size == 16 {
			VPERMQ(Imm(0b11011000), r[i], r[i])
			VMOVDQU(r[i], Mem{Base: dst, Disp: 32 * i})
			continue
		}
		VMOVDQU(r[i].AsX(), Mem{Base: dst, Disp: 16 * i})
		VEXTRACTI128(Imm(1), r[i], Mem{Base: dst, Disp: 16*size + 16*i})
	}
}

// toPlanes and toElements transpose; see rotate.
func toPlanes(r []VecVirtual) []VecVirtual {
	for range 4 {
		r = rotate(r)
	}
	return r
}

func toElements(r []VecVirtual) []VecVirtual {
	for n := 1; n < len(r); n *= 2 {
		r = rotate(r)
	}
	return r
}

func shuffle(size int) {
	name := fmt.Sprintf("shuffle%dAVX2", size)
	loop(name, name+" shuffles bytes: groups of 32 elements, or 16 of 16 bytes.", func(dst, src, plane Register) {
		r := toPlanes(elements(size, src))
		row := rows(dst, plane)
		for i := range r {
			if size == 16 {
				VMOVDQU(r[i].AsX(), Mem{Base: row.at})
			} else {
				VMOVDQU(r[i], Mem{Base: row.at})
			}
			row.next()
		}
		if size == 16 {
			for i := range r {
				VEXTRACTI128(Imm(1), r[i], Mem{Base: row.at})
				if i < len(r)-1 {
					row.next()
				}
			}
		}
		ADDQ(U32(uint32(size*count(size))), src)
		ADDQ(U32(uint32(count(size))), dst)
	})
}

// count is the number of elements in a group.
func count(size int) int {
	if size == 16 {
		return 16
	}
	return 32
}

func unshuffle(size int) {
	name := fmt.Sprintf("unshuffle%dAVX2", size)
	loop(name, name+" undoes shuffle.", func(dst, src, plane Register) {
		r := make([]VecVirtual, min(size, 8))
		row := rows(src, plane)
		for i := range r {
			r[i] = YMM()
			if size == 16 {
				VMOVDQU(Mem{Base: row.at}, r[i].AsX())
			} else {
				VMOVDQU(Mem{Base: row.at}, r[i])
			}
			row.next()
		}
		if size == 16 {
			for i := range r {
				VINSERTI128(Imm(1), Mem{Base: row.at}, r[i], r[i])
				if i < len(r)-1 {
					row.next()
				}
			}
		}
		putElements(size, toElements(r), dst)
		ADDQ(U32(uint32(count(size))), src)
		ADDQ(U32(uint32(size*count(size))), dst)
	})
}

// steps are the three that transpose 8 by 8 bits, as in transposeBits.
var steps = []struct {
	shift uint64
	mask  Mem
}{
	{7, quad("bits7", 0x00aa00aa00aa00aa)},
	{14, quad("bits14", 0x0000cccc0000cccc)},
	{28, quad("bits28", 0x00000000f0f0f0f0)},
}

func quad(name string, v uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(v))
	}
	return m
}

// transpose transposes the bits of each 8 bytes.
func transpose(r []VecVirtual) {
	t, u := YMM(), YMM()
	for _, x := range r {
		for _, s := range steps {
			VPSRLQ(Imm(s.shift), x, t)
			VPXOR(x, t, t)
			VPAND(s.mask, t, t)
			VPSLLQ(Imm(s.shift), t, u)
			VPXOR(t, x, x)
			VPXOR(u, x, x)
		}
	}
}

func shuffleBits() {
	loop("shuffleBitsAVX2", "shuffleBitsAVX2 puts the bits of groups of 256 bytes into eight rows.", func(dst, src, plane Register) {
		r := elements(8, src)
		transpose(r)
		row := rows(dst, plane)
		for i, x := range toPlanes(r) {
			VMOVDQU(x, Mem{Base: row.at})
			if i < 7 {
				row.next()
			}
		}
		ADDQ(U32(256), src)
		ADDQ(Imm(32), dst)
	})
}

func unshuffleBits() {
	loop("unshuffleBitsAVX2", "unshuffleBitsAVX2 undoes shuffleBitsAVX2.", func(dst, src, plane Register) {
		r := make([]VecVirtual, 8)
		row := rows(src, plane)
		for i := range r {
			r[i] = YMM()
			VMOVDQU(Mem{Base: row.at}, r[i])
			if i < 7 {
				row.next()
			}
		}
		r = toElements(r)
		transpose(r)
		putElements(8, r, dst)
		ADDQ(Imm(32), src)
		ADDQ(U32(256), dst)
	})
}
