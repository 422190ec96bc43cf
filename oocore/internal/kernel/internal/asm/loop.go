package main

import (
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// loop is an elementwise loop: n elements of dst from its operands.
type loop struct {
	name   string // of the Go function, less its level
	keys   []key  // what Lookup or Cast finds it under
	in     []int  // bytes of each operand's element
	out    int    // bytes of the result's element
	lanes  func(bytes int) int
	body   func(m *machine, in []vec) vec
	wide   bool // for AVX-512 alone
	narrow bool // in vectors of AVX2, with AVX-512 too
	rare   bool // some operands are left to the loop in plain Go

	abreast [2]int // vectors that the loops of AVX2 and AVX-512 compute at a time, if above one, by
	many    func(m *machine, in [][]vec) []vec

	// AVX2 begins with usual, if there is one, so many vectors at a time, and goes on to the
	// others where an operand is not.
	usual        func(m *machine, in [][]vec) []vec
	abreastUsual int
}

// newLoop is a loop over as many elements at a time as a vector has of the largest.
func newLoop(name string, keys []key, in []int, out int, body func(m *machine, in []vec) vec) loop {
	return loop{name: "vec" + name, keys: keys, in: in, out: out, lanes: perElement(max(slices.Max(in), out)), body: body}
}

// level is the index of a level in tables of both.
func level(wide bool) int {
	if wide {
		return 1
	}
	return 0
}

func (l loop) supports(wide bool) bool { return wide && !l.narrow || !wide && !l.wide }

// fits says whether there are registers for the loop of a level.
func (l loop) fits(wide bool) bool {
	c := build.NewContext()
	c.ConstraintExpr("amd64")
	(&machine{Context: c, wide: wide, constants: map[string]constant{}}).emit(l)
	f, err := c.Result()
	if err != nil || pass.Compile.Execute(f) != nil {
		return false
	}
	for _, i := range f.Functions()[0].Instructions() {
		for _, r := range i.OutputRegisters() {
			p, vector := r.(reg.VecPhysical)
			if vector && !wide && p.PhysicalIndex() >= 16 { // of which AVX2 has no more
				return false
			}
		}
	}
	return true
}

func (l loop) function(wide bool) string {
	if wide {
		return l.name + "AVX512"
	}
	return l.name + "AVX2"
}

// perElement is as many lanes as a vector has elements of a size.
func perElement(size int) func(int) int { return func(bytes int) int { return bytes / size } }

// emit writes a loop of the kernel's Func signature: whole vectors, then the
// rest by the same instructions, so that an element's place does not show in
// its result. A loop that leaves rare operands to another returns how many
// elements it did before the first vector that has one.
func (m *machine) emit(l loop) {
	m.prefix, m.stack = l.function(m.wide), operand.Mem{}
	m.Function(m.prefix)
	m.Attributes(attr.NOSPLIT)
	if l.rare {
		m.SignatureExpr("func(n int, dst, a, b, c []byte) int")
	} else {
		m.SignatureExpr("func(n int, dst, a, b, c []byte)")
	}
	lanes := l.lanes(m.bytes())

	n := m.Load(m.Param("n"), m.GP64()).(reg.GPVirtual)
	dst := m.Load(m.Param("dst").Base(), m.GP64())
	src := make([]reg.Register, len(l.in))
	for i := range src {
		src[i] = m.Load(m.Param(string(rune('a'+i))).Base(), m.GP64())
	}
	at, last := m.GP64(), m.GP64()
	m.XORQ(at, at)

	vectors := func(count int, compute func(m *machine, in [][]vec) []vec) {
		in := make([][]vec, count)
		for k := range in {
			for i, s := range src {
				from := operand.Mem{Base: s, Index: at, Scale: uint8(l.in[i]), Disp: k * lanes * l.in[i]}
				in[k] = append(in[k], m.load(from, lanes*l.in[i]))
			}
		}
		for k, v := range compute(m, in) {
			m.store(v, operand.Mem{Base: dst, Index: at, Scale: uint8(l.out), Disp: k * lanes * l.out}, lanes*l.out)
		}
		m.ADDQ(operand.Imm(uint64(count*lanes)), at)
	}
	// Each of these goes on to the next where there are too few elements, or where one is not
	// of the kind that it computes: of several vectors the first may have none.
	type stage struct {
		label   string
		count   int
		compute func(m *machine, in [][]vec) []vec
		end     reg.Register // the last element at which one may begin
	}
	stages := []stage{{"one", 1, func(m *machine, in [][]vec) []vec { return []vec{l.body(m, in[0])} }, last}}
	if abreast := l.abreast[level(m.wide)]; abreast > 1 {
		stages = append([]stage{{"many", abreast, l.many, m.GP64()}}, stages...)
	}
	if l.usual != nil && !m.wide {
		stages = append([]stage{{"usual", l.abreastUsual, l.usual, m.GP64()}}, stages...)
	}
	for _, s := range stages {
		m.LEAQ(operand.Mem{Base: n, Disp: -s.count * lanes}, s.end)
	}
	stages[0].label = "vectors"
	for i, s := range stages {
		few := "rest"
		if m.rare = "rare"; i+1 < len(stages) {
			m.rare = stages[i+1].label
			few = m.rare
		}
		m.Label(s.label)
		m.CMPQ(at, s.end)
		m.JGT(operand.LabelRef(few))
		vectors(s.count, s.compute)
		m.JMP(operand.LabelRef("vectors"))
	}

	m.Label("rest")
	m.SUBQ(at, n)
	m.JZ(operand.LabelRef("done"))
	if m.wide {
		m.restMasked(l, n, at, dst, src)
	} else {
		m.restBuffered(l, n, at, dst, src, lanes)
	}
	m.Label("done")
	if l.rare {
		m.ADDQ(n, at)
		m.Label("rare")
		m.Store(at, m.ReturnIndex(0))
	}
	m.VZEROUPPER()
	m.RET()
}

// load reads so many bytes into a register that holds them.
func (m *machine) load(from operand.Mem, bytes int) vec {
	v := m.sized(bytes)
	m.emitTo(moves(bytes), from, v)
	return v
}

func (m *machine) store(v vec, to operand.Mem, bytes int) { m.emitTo(moves(bytes), v, to) }

// moves is the instruction that moves so many bytes between memory and a register.
func moves(bytes int) inst {
	switch bytes {
	case 4:
		return two(x86.VMOVD)
	case 8:
		return two(x86.VMOVQ)
	case 64:
		return x86.VMOVDQU64
	}
	return two(x86.VMOVDQU)
}

// masked are the instructions that read and write elements of a size under a mask.
var masked = map[int][2]inst{
	1: {three(x86.VMOVDQU8_Z), x86.VMOVDQU8}, 2: {three(x86.VMOVDQU16_Z), x86.VMOVDQU16},
	4: {three(x86.VMOVDQU32_Z), x86.VMOVDQU32}, 8: {three(x86.VMOVDQU64_Z), x86.VMOVDQU64},
}

// restMasked reads and writes n elements, less than a vector, under a mask,
// which keeps the processor from touching the others.
func (m *machine) restMasked(l loop, n, at, dst reg.Register, src []reg.Register) {
	ones := m.GP64()
	m.MOVQ(operand.I64(-1), ones)
	m.BZHIQ(n, ones, ones)
	k := m.K()
	m.KMOVQ(ones, k)
	in := make([]vec, len(src))
	for i, s := range src {
		from := operand.Mem{Base: s, Index: at, Scale: uint8(l.in[i])}
		in[i] = m.sized(l.lanes(m.bytes()) * l.in[i])
		m.emitTo(masked[l.in[i]][0], from, k, in[i])
	}
	v, to := l.body(m, in), operand.Mem{Base: dst, Index: at, Scale: uint8(l.out)}
	m.emitTo(masked[l.out][1], v, k, to)
}

// restBuffered carries n elements, less than a vector, through the stack.
func (m *machine) restBuffered(l loop, n, at, dst reg.Register, src []reg.Register, lanes int) {
	in := make([]vec, len(src))
	count := m.GP64()
	for i, s := range src {
		slot := m.AllocLocal(32)
		m.LEAQ(operand.Mem{Base: s, Index: at, Scale: uint8(l.in[i])}, s)
		m.copyBytes(count, n, l.in[i], s, slot, true)
		in[i] = m.load(slot, lanes*l.in[i])
	}
	slot := m.AllocLocal(32)
	m.store(l.body(m, in), slot, lanes*l.out)
	m.LEAQ(operand.Mem{Base: dst, Index: at, Scale: uint8(l.out)}, dst)
	m.copyBytes(count, n, l.out, dst, slot, false)
}

// copyBytes copies n elements between memory and the stack, last byte first.
func (m *machine) copyBytes(count, n reg.Register, size int, memory reg.Register, slot operand.Mem, in bool) {
	again := m.label("copy")
	b := m.GP8()
	m.MOVQ(n, count)
	for s := size; s > 1; s /= 2 {
		m.SHLQ(operand.Imm(1), count)
	}
	m.Label(again)
	there := operand.Mem{Base: memory, Index: count, Scale: 1, Disp: -1}
	here := slot
	here.Index, here.Scale = count, 1
	here.Disp--
	if in {
		m.MOVB(there, b)
		m.MOVB(b, here)
	} else {
		m.MOVB(here, b)
		m.MOVB(b, there)
	}
	m.DECQ(count)
	m.JNZ(operand.LabelRef(again))
}
