package ptx

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Product returns the kernel "product", which adds a·b to c: matrices of elements of type
// in whose products add up in type sum, in which c is. Its parameters are the addresses of
// c, a and b, dense and row-major, and m, n and k: a is m × k, b is k × n.
//
// An element's products are added up one after the other along k, in stretches that are
// then added to c: the order depends on k alone.
func Product(in, sum dtype.Type) (Module, error) {
	wide := sum
	switch {
	case sum == dtype.Float64 && in == sum, sum == dtype.Float32 && (in == sum || in.Short()):
	case sum.Integer() && in.Integer() && in.Size() <= sum.Size():
		if sum.Size() < 4 {
			wide = dtype.Int32 // whose low bits are those of the sum
		}
	default:
		return Module{}, fmt.Errorf("has no products of %s in %s", in, sum)
	}
	p := product{emitter: newEmitter("product"), in: in, sum: sum, wide: wide, side: 128 / wide.Size() * 4}
	p.each = p.side / 16
	p.write()
	side := p.side
	return newModule([]Kernel{p.kernel(func(lengths ...[]int) (blocks, block [3]uint32) {
		m, n := lengths[0][0], lengths[0][1]
		return [3]uint32{uint32(max((n+side-1)/side, 1)), uint32(max((m+side-1)/side, 1)), 1}, [3]uint32{threads, 1, 1}
	})}, p.text()), nil
}

const (
	// depth is the steps along k whose elements a block has in shared memory.
	depth = 8
	// stretch is the steps along k that are added up before c is added to: a multiple of
	// depth, short enough for few errors of rounding.
	stretch = 512
)

// product writes the kernel. A block computes a square of side × side elements of c, each
// of its 16 × 16 threads each × each of them, in registers.
type product struct {
	*emitter
	in, sum, wide dtype.Type
	side, each    int

	c, a, b, m, n, k string
	row, col         string // of the block's first element
	tx, ty           string
	sums             []string
	toA, toB         string // shared memory
}

func (p *product) write() {
	e := p.emitter
	p.c, p.a, p.b = e.pointer("c"), e.pointer("a"), e.pointer("b")
	p.m, p.n, p.k = e.length("m"), e.length("n"), e.length("k")
	size := p.wide.Size()
	e.shared = 2 * depth * p.side * size
	p.col = e.word("mul.lo.u32", e.word("mov.u32", "%ctaid.x"), p.side)
	p.row = e.word("mul.lo.u32", e.word("mov.u32", "%ctaid.y"), p.side)
	thread := e.word("mov.u32", "%tid.x")
	p.tx, p.ty = e.word("and.b32", thread, 15), e.word("shr.u32", thread, 4)
	p.toA = e.word("mov.u32", "shared")
	p.toB = e.word("add.u32", p.toA, depth*p.side*size)
	for range p.each * p.each {
		p.sums = append(p.sums, e.register(prefixOf(p.wide)))
	}
	from := e.word("mov.u32", 0)
	next, end := e.label(), e.label()
	e.at(next)
	e.under(e.is("ge.u32", from, p.k), "bra %s", end)
	for _, s := range p.sums {
		e.do("mov.b%d %s, 0", bits(p.wide), s)
	}
	until := e.word("min.u32", e.word("add.u32", from, stretch), p.k)
	p.stretch(from, until, thread)
	p.addToC()
	e.do("bra %s", next)
	e.at(end)
}

// stretch adds up products along k until a limit, depth of them at a time.
func (p *product) stretch(from, until, thread string) {
	e, size := p.emitter, p.wide.Size()
	again := e.label()
	e.at(again)
	e.do("bar.sync 0") // the elements before have been read
	// Threads next to each other load elements of a along k, and of b along a row.
	for i := range depth * p.side / threads {
		index := e.word("add.u32", thread, i*threads)
		step, line := e.word("and.b32", index, depth-1), e.word("shr.u32", index, log2(depth))
		p.fetch(p.a, e.word("add.u32", p.row, line), p.m, e.word("add.u32", from, step), until, p.k,
			p.toA, e.word("mad.lo.u32", step, p.side, line))
		line, step = e.word("and.b32", index, p.side-1), e.word("shr.u32", index, log2(p.side))
		p.fetch(p.b, e.word("add.u32", from, step), until, e.word("add.u32", p.col, line), p.n, p.n,
			p.toB, index)
	}
	e.do("bar.sync 0")
	left := e.word("mad.lo.u32", p.ty, p.each/2*size, p.toA)
	above := e.word("mad.lo.u32", p.tx, p.each/2*size, p.toB)
	for step := range depth {
		x, y := p.fragment(left, step), p.fragment(above, step)
		for i := range p.each {
			for j := range p.each {
				p.multiplyAdd(p.sums[i*p.each+j], x[i], y[j])
			}
		}
	}
	e.do("add.u32 %s, %s, %d", from, from, depth)
	e.under(e.is("lt.u32", from, until), "bra %s", again)
}

func log2(n int) (bits int) {
	for ; n > 1; n /= 2 {
		bits++
	}
	return bits
}

// fetch copies an element to shared memory, zero where there is none.
func (p *product) fetch(matrix, row, rows, col, cols, length, to, index string) {
	e := p.emitter
	x := e.constant(p.wide, 0)
	skip := e.label()
	inside := e.and(e.is("lt.u32", row, rows), e.is("lt.u32", col, cols))
	e.under(e.not(inside), "bra %s", skip)
	at := e.double("mad.lo.s64", e.double("cvt.u64.u32", row), e.double("cvt.u64.u32", length), e.double("cvt.u64.u32", col))
	at = e.double("add.s64", matrix, e.double("mul.lo.s64", at, p.in.Size()))
	e.do("mov.b%d %s, %s", bits(p.wide), x, e.cast(p.in, p.wide, e.load(p.in, at)))
	e.at(skip)
	e.do("st.shared.b%d [%s], %s", bits(p.wide), e.word("mad.lo.u32", index, p.wide.Size(), to), x)
}

// fragment is what a thread needs of a column of a, or a row of b: two runs of elements,
// half a side apart, so that threads next to each other read what lies side by side.
func (p *product) fragment(base string, step int) []string {
	e, size := p.emitter, p.wide.Size()
	lanes := 16 / size // of one access
	var all []string
	for half := range 2 {
		for i := 0; i < p.each/2; i += lanes {
			var some []string
			for range lanes {
				some = append(some, e.register(prefixOf(p.wide)))
			}
			offset := (step*p.side + half*p.side/2 + i) * size
			list := some[0]
			for _, r := range some[1:] {
				list += ", " + r
			}
			e.do("ld.shared.v%d.b%d {%s}, [%s+%d]", lanes, bits(p.wide), list, base, offset)
			all = append(all, some...)
		}
	}
	return all
}

func (p *product) multiplyAdd(sum, x, y string) {
	instruction := "mad.lo." + arithmetic(p.wide)
	if p.wide.Kind() == dtype.KindFloat {
		instruction = "fma.rn." + arithmetic(p.wide)
	}
	p.do("%s %s, %s, %s, %s", instruction, sum, x, y, sum)
}

// addToC adds the sums to the elements of c that there are.
func (p *product) addToC() {
	e := p.emitter
	place := func(first, lane string, i int) string {
		offset := i
		if i >= p.each/2 {
			offset += p.side/2 - p.each/2
		}
		return e.word("add.u32", e.word("mad.lo.u32", lane, p.each/2, first), offset)
	}
	var cols []string
	for j := range p.each {
		cols = append(cols, place(p.col, p.tx, j))
	}
	length := e.double("cvt.u64.u32", p.n)
	add := "add." + arithmetic(p.wide)
	if p.wide.Kind() == dtype.KindFloat {
		add = "add.rn." + arithmetic(p.wide)
	}
	for i := range p.each {
		row := place(p.row, p.ty, i)
		start := e.double("mul.lo.s64", e.double("cvt.u64.u32", row), length)
		exists := e.is("lt.u32", row, p.m)
		for j := range p.each {
			skip := e.label()
			inside := e.and(exists, e.is("lt.u32", cols[j], p.n))
			e.under(e.not(inside), "bra %s", skip)
			at := e.double("add.s64", start, e.double("cvt.u64.u32", cols[j]))
			at = e.double("add.s64", p.c, e.double("mul.lo.s64", at, p.sum.Size()))
			e.store(p.sum, at, e.of(p.wide, add, e.load(p.sum, at), p.sums[i*p.each+j]))
			e.at(skip)
		}
	}
}
