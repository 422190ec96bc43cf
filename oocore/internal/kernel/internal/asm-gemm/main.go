// Command asm-gemm writes the innermost loops of matrix products for amd64.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tile is a block of the result that stays in registers: rows by two vectors.
type tile struct {
	name   string
	bytes  int // of a vector
	rows   int
	vector func() VecVirtual
}

func main() {
	for _, t := range []tile{{"AVX512", 64, 12, ZMM}, {"AVX2", 32, 6, YMM}} {
		t.write("32", "float32", "float32", 4, VBROADCASTSS, fused(VFMADD231PS), VADDPS)
		t.write("64", "float64", "float64", 8, VBROADCASTSD, fused(VFMADD231PD), VADDPD)
		t.write("16", "uint32", "int32", 4, VPBROADCASTD, t.pairs, VPADDD)
	}
	vnni := tile{"VNNI", 64, 12, ZMM}
	vnni.write("16", "uint32", "int32", 4, VPBROADCASTD, fused(dotWords), VPADDD)
	Generate()
}

// fused multiplies and adds in one instruction.
func fused(f func(...Op)) func(row, col, acc VecVirtual) {
	return func(row, col, acc VecVirtual) { f(row, col, acc) }
}

// pairs multiplies 16-bit integers, and adds the products of two neighbours to an
// accumulator of 32 bits.
func (t tile) pairs(row, col, acc VecVirtual) {
	sum := t.vector()
	VPMADDWD(row, col, sum)
	VPADDD(sum, acc, acc)
}

// dotWords is pairs in one instruction, which avo has not.
func dotWords(ops ...Op) {
	Instruction(&ir.Instruction{Opcode: "VPDPWSSD", Operands: ops, Inputs: ops, Outputs: ops[2:], ISA: []string{"AVX512VNNI"}})
}

// unroll is how many steps along k the loop takes at once.
const unroll = 4

// write writes the loop c += a·b over k steps, where a has the tile's rows for
// each step, and b its two vectors of columns. Each element of the tile is
// added up from zero, in order of k, and added to c at the end. A step of 16-bit
// integers is two of them side by side. size is the bytes of an element of c.
func (t tile) write(name, from, to string, size int, broadcast func(...Op), multiply func(row, col, acc VecVirtual), add func(...Op)) {
	TEXT("gemm"+name+t.name, NOSPLIT, fmt.Sprintf("func(k int, a, b *%s, c *%s, ldc int)", from, to))
	Pragma("noescape")
	k, a, b := Load(Param("k"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	c, ldc := Load(Param("c"), GP64()), Load(Param("ldc"), GP64())
	SHLQ(U8(uint8(size/4+1)), ldc)
	acc := make([][2]VecVirtual, t.rows)
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = t.vector()
			if t.bytes == 64 {
				VPXORQ(acc[i][j], acc[i][j], acc[i][j])
			} else {
				VXORPS(acc[i][j], acc[i][j], acc[i][j])
			}
		}
	}
	for _, steps := range []int{unroll, 1} {
		label := fmt.Sprint("steps", steps)
		Label(label)
		CMPQ(k, U8(uint8(steps)))
		JLT(LabelRef(label + "End"))
		for s := range steps {
			var col [2]VecVirtual
			for j := range col {
				col[j] = t.vector()
				VMOVUPS(Mem{Base: b, Disp: (2*s + j) * t.bytes}, col[j])
			}
			for i := range acc {
				row := t.vector()
				broadcast(Mem{Base: a, Disp: (s*t.rows + i) * size}, row)
				multiply(row, col[0], acc[i][0])
				multiply(row, col[1], acc[i][1])
			}
		}
		ADDQ(U32(uint32(steps*t.rows*size)), a)
		ADDQ(U32(uint32(steps*2*t.bytes)), b)
		SUBQ(U8(uint8(steps)), k)
		JMP(LabelRef(label))
		Label(label + "End")
	}
	for i := range acc {
		for j := range acc[i] {
			at := Mem{Base: c, Disp: j * t.bytes}
			add(at, acc[i][j], acc[i][j])
			VMOVUPS(acc[i][j], at)
		}
		if i+1 < len(acc) {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}
