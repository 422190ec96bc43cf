// Command asm writes the loops that add up weighted neighbours for amd64.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, l := range []level{{"AVX512", 64, 4, ZMM}, {"AVX2", 32, 2, YMM}} {
		l.write(8)
		l.write(1)
		l.writeRows()
	}
	Generate()
}

// level is a set of instructions, with its vectors.
type level struct {
	name   string
	bytes  int
	across int // vectors of each row of writeRows
	vector func() VecVirtual
}

// write writes the loop over groups of so many vectors of sums, which stay in
// registers while the neighbours are added in their order.
func (l level) write(vectors int) {
	TEXT(fmt.Sprintf("weigh%d%s", vectors, l.name), NOSPLIT, "func(groups int, dst, src *float64, taps int, offsets *int, weights *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("Adds to groups of %d elements of dst weights times elements of src at offsets.", vectors*l.bytes/8))
	groups, taps := Load(Param("groups"), GP64()), Load(Param("taps"), GP64())
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	offsets, weights := Load(Param("offsets"), GP64()), Load(Param("weights"), GP64())
	Label("group")
	TESTQ(groups, groups)
	JZ(LabelRef("done"))
	sum := make([]VecVirtual, vectors)
	for i := range sum {
		sum[i] = l.vector()
		VMOVUPD(Mem{Base: dst, Disp: i * l.bytes}, sum[i])
	}
	k, at := GP64(), GP64()
	XORQ(k, k)
	Label("tap")
	CMPQ(k, taps)
	JGE(LabelRef("store"))
	weight := l.vector()
	MOVQ(Mem{Base: offsets, Index: k, Scale: 8}, at)
	VBROADCASTSD(Mem{Base: weights, Index: k, Scale: 8}, weight)
	for i := range sum {
		VFMADD231PD(Mem{Base: src, Index: at, Scale: 8, Disp: i * l.bytes}, weight, sum[i])
	}
	INCQ(k)
	JMP(LabelRef("tap"))
	Label("store")
	for i := range sum {
		VMOVUPD(sum[i], Mem{Base: dst, Disp: i * l.bytes})
	}
	ADDQ(U32(uint32(vectors*l.bytes)), dst)
	ADDQ(U32(uint32(vectors*l.bytes)), src)
	DECQ(groups)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// rows is how many rows of results writeRows computes at once.
const rows = 4

// writeRows writes the loop over groups of sums in rows that share their neighbours: each
// is read once for all rows, and has a weight for each.
func (l level) writeRows() {
	TEXT("weighRows"+l.name, NOSPLIT, "func(groups int, dst *float64, step int, src *float64, taps int, offsets *int, weights *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("Adds to groups of %d elements of %d rows of dst, step elements apart, weights times elements of src at offsets, with a weight for each row.", l.across*l.bytes/8, rows))
	groups, taps := Load(Param("groups"), GP64()), Load(Param("taps"), GP64())
	dst, src, step := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("step"), GP64())
	offsets, weights := Load(Param("offsets"), GP64()), Load(Param("weights"), GP64())
	SHLQ(U8(3), step)
	step3 := GP64()
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
	at := func(row, i int) Mem {
		m := Mem{Base: dst, Disp: i * l.bytes}
		switch row {
		case 1:
			m.Index, m.Scale = step, 1
		case 2:
			m.Index, m.Scale = step, 2
		case 3:
			m.Index, m.Scale = step3, 1
		}
		return m
	}
	Label("group")
	TESTQ(groups, groups)
	JZ(LabelRef("done"))
	var sum [rows][]VecVirtual
	for r := range sum {
		for i := range l.across {
			sum[r] = append(sum[r], l.vector())
			VMOVUPD(at(r, i), sum[r][i])
		}
	}
	k, off, own := GP64(), GP64(), GP64()
	XORQ(k, k)
	MOVQ(weights, own)
	Label("tap")
	CMPQ(k, taps)
	JGE(LabelRef("store"))
	MOVQ(Mem{Base: offsets, Index: k, Scale: 8}, off)
	x := make([]VecVirtual, l.across)
	for i := range x {
		x[i] = l.vector()
		VMOVUPD(Mem{Base: src, Index: off, Scale: 8, Disp: i * l.bytes}, x[i])
	}
	for r := range sum {
		weight := l.vector()
		VBROADCASTSD(Mem{Base: own, Disp: 8 * r}, weight)
		for i := range x {
			VFMADD231PD(x[i], weight, sum[r][i])
		}
	}
	ADDQ(U8(8*rows), own)
	INCQ(k)
	JMP(LabelRef("tap"))
	Label("store")
	for r := range sum {
		for i := range sum[r] {
			VMOVUPD(sum[r][i], at(r, i))
		}
	}
	ADDQ(U32(uint32(l.across*l.bytes)), dst)
	ADDQ(U32(uint32(l.across*l.bytes)), src)
	DECQ(groups)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}
