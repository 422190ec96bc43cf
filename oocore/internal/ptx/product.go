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
	case in == dtype.Bool && sum == in:
		wide = dtype.Uint32 // the number of steps along k where both hold
	default:
		return Module{}, fmt.Errorf("has no products of %s in %s", in, sum)
	}
	p := product{emitter: newEmitter("product"), in: in, sum: sum, wide: wide, side: 128 / wide.Size() * 4}
	p.each = p.side / 16
	p.write()
	side := p.side
	return newModule([]Kernel{p.kernel(func(lengths ...[]int) (blocks, block [3]uint32) {
		m, n := lengths[0][0], lengths[0][1]
		// In one dimension: the others have 65,535 blocks at the most, and matrices more rows.
		return [3]uint32{uint32(max((n+side-1)/side, 1) * max((m+side-1)/side, 1)), 1, 1}, [3]uint32{threads, 1, 1}
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
// of its 16 × 16 threads each × each of them, in registers. While it computes with the
// elements of a and b that are in shared memory, the next ones are on their way to
// registers.
type product struct {
	*emitter
	in, sum, wide dtype.Type
	side, each    int
	pad           int // elements between the lines of a in shared memory, against conflicts of banks

	c, a, b, m, n, k string
	row, col         string // of the block's first element
	place            int    // of both in shared memory, since registers are scarce until c is added to
	tx, ty           string
	sums             []string
	left, above      loader // of a and of b
}

// loader brings the elements of an operand to shared memory. A thread has one in each of
// several rounds.
type loader struct {
	at, round, step string   // address of the first, and what rounds and steps along k add to it
	first           string   // its position along k
	between         int      // positions along k from a round to the next
	inside          []string // of each round, whether there is such a row or column
	next            []string // elements on their way
	to              string   // its place in shared memory
	apart           int      // bytes there from a round to the next
}

func (p *product) write() {
	e := p.emitter
	p.c, p.a, p.b = e.pointer("c"), e.pointer("a"), e.pointer("b")
	p.m, p.n, p.k = e.length("m"), e.length("n"), e.length("k")
	size := p.wide.Size()
	p.pad = 16 / size
	if p.wide == dtype.Float32 {
		p.blocks = 2
	}
	line := p.side + p.pad
	p.place = depth * (line + p.side) * size
	e.shared = p.place + 8
	block := e.word("mov.u32", "%ctaid.x")
	across := e.word("div.u32", e.word("add.u32", p.n, p.side-1), p.side)
	down := e.word("div.u32", block, across)
	p.row = e.word("mul.lo.u32", down, p.side)
	p.col = e.word("mul.lo.u32", e.word("sub.u32", block, e.word("mul.lo.u32", down, across)), p.side)
	thread := e.word("mov.u32", "%tid.x")
	p.tx, p.ty = e.word("and.b32", thread, 15), e.word("shr.u32", thread, 4)
	toA := e.word("mov.u32", "shared")
	toB := e.word("add.u32", toA, depth*line*size)
	for range p.each * p.each {
		p.sums = append(p.sums, e.register(prefixOf(p.wide)))
	}
	e.do("st.shared.b32 [shared+%d], %s", p.place, p.row)
	e.do("st.shared.b32 [shared+%d], %s", p.place+4, p.col)
	p.prepare(thread, toA, toB)
	from := e.word("mov.u32", 0)
	next, again, end := e.label(), e.label(), e.label()
	e.under(e.is("eq.u32", p.k, 0), "bra %s", end)
	p.load(from)
	e.at(next)
	for _, s := range p.sums {
		e.do("mov.b%d %s, 0", bits(p.wide), s)
	}
	until := e.word("min.u32", e.word("add.u32", from, stretch), p.k)
	e.at(again)
	e.do("bar.sync 0") // the elements before have been read
	p.put()
	e.do("bar.sync 0")
	e.do("add.u32 %s, %s, %d", from, from, depth)
	p.load(from)
	left := e.word("mad.lo.u32", p.ty, p.each/2*size, toA)
	above := e.word("mad.lo.u32", p.tx, p.each/2*size, toB)
	for step := range depth {
		x, y := p.fragment(left, step*line), p.fragment(above, step*p.side)
		for i := range p.each {
			for j := range p.each {
				p.multiplyAdd(p.sums[i*p.each+j], x[i], y[j])
			}
		}
	}
	e.under(e.is("lt.u32", from, until), "bra %s", again)
	p.addToC()
	e.under(e.is("lt.u32", from, p.k), "bra %s", next)
	e.at(end)
}

// prepare says which elements a thread loads: threads next to each other those of a along
// k, and those of b along a row.
func (p *product) prepare(thread, toA, toB string) {
	e, size := p.emitter, p.wide.Size()
	rounds := depth * p.side / threads
	long := func(x string) string { return e.double("cvt.u64.u32", x) }
	address := func(base, row, length, col string) string {
		at := e.double("mad.lo.s64", long(row), long(length), long(col))
		return e.double("mad.lo.s64", at, p.in.Size(), base)
	}
	bytes := func(length string, n int) string { return e.double("mul.wide.u32", length, n*p.in.Size()) }

	step, line := e.word("and.b32", thread, depth-1), e.word("shr.u32", thread, log2(depth))
	row, lines := e.word("add.u32", p.row, line), threads/depth
	p.left = loader{at: address(p.a, row, p.k, step), round: bytes(p.k, lines), step: e.double("mov.b64", depth*p.in.Size()), first: step,
		to:    e.word("mad.lo.u32", e.word("mad.lo.u32", step, p.side+p.pad, line), size, toA),
		apart: lines * size}
	line, step = e.word("and.b32", thread, p.side-1), e.word("shr.u32", thread, log2(p.side))
	col := e.word("add.u32", p.col, line)
	p.above = loader{at: address(p.b, step, p.n, col), round: bytes(p.n, threads/p.side), step: bytes(p.n, depth), first: step, between: threads / p.side,
		to:    e.word("mad.lo.u32", thread, size, toB),
		apart: threads * size}
	exists := e.is("lt.u32", col, p.n)
	for i := range rounds {
		p.left.inside = append(p.left.inside, e.is("lt.u32", e.word("add.u32", row, i*lines), p.m))
		p.above.inside = append(p.above.inside, exists)
		p.left.next = append(p.left.next, e.register(prefixOf(p.in)))
		p.above.next = append(p.above.next, e.register(prefixOf(p.in)))
	}
}

// load starts to load the elements from a position along k on, zero where there are none.
func (p *product) load(from string) {
	e := p.emitter
	for _, l := range []*loader{&p.left, &p.above} {
		at := l.at
		k := e.word("add.u32", from, l.first)
		for i, x := range l.next {
			if i > 0 {
				at = e.double("add.s64", at, l.round)
				k = e.word("add.u32", k, l.between)
			}
			e.do("mov.b%d %s, 0", bits(p.in), x)
			e.under(e.and(l.inside[i], e.is("lt.u32", k, p.k)), "ld.global.%s %s, [%s]", memoryType(p.in), x, at)
		}
		e.do("add.s64 %s, %s, %s", l.at, l.at, l.step)
	}
}

// put stores what is loaded in shared memory.
func (p *product) put() {
	for _, l := range []*loader{&p.left, &p.above} {
		for i, x := range l.next {
			p.do("st.shared.b%d [%s+%d], %s", bits(p.wide), l.to, i*l.apart, p.cast(p.in, p.wide, x))
		}
	}
}

func log2(n int) (bits int) {
	for ; n > 1; n /= 2 {
		bits++
	}
	return bits
}

// fragment is what a thread needs of a column of a, or a row of b: two runs of elements,
// half a side apart, so that threads next to each other read what lies side by side.
func (p *product) fragment(base string, first int) []string {
	e, size := p.emitter, p.wide.Size()
	lanes := 16 / size // of one access
	var all []string
	for half := range 2 {
		for i := 0; i < p.each/2; i += lanes {
			var some []string
			for range lanes {
				some = append(some, e.register(prefixOf(p.wide)))
			}
			offset := (first + half*p.side/2 + i) * size
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
	firstRow := e.of(dtype.Uint32, "ld.shared.b32", fmt.Sprintf("[shared+%d]", p.place))
	firstCol := e.of(dtype.Uint32, "ld.shared.b32", fmt.Sprintf("[shared+%d]", p.place+4))
	var cols []string
	for j := range p.each {
		cols = append(cols, place(firstCol, p.tx, j))
	}
	length := e.double("cvt.u64.u32", p.n)
	add := "add." + arithmetic(p.wide)
	if p.wide.Kind() == dtype.KindFloat {
		add = "add.rn." + arithmetic(p.wide)
	}
	for i := range p.each {
		row := place(firstRow, p.ty, i)
		start := e.double("mul.lo.s64", e.double("cvt.u64.u32", row), length)
		exists := e.is("lt.u32", row, p.m)
		for j := range p.each {
			skip := e.label()
			inside := e.and(exists, e.is("lt.u32", cols[j], p.n))
			e.under(e.not(inside), "bra %s", skip)
			at := e.double("add.s64", start, e.double("cvt.u64.u32", cols[j]))
			at = e.double("add.s64", p.c, e.double("mul.lo.s64", at, p.sum.Size()))
			total := e.of(p.wide, add, e.load(p.sum, at), p.sums[i*p.each+j])
			if p.sum == dtype.Bool {
				total = e.truth(e.holds(total))
			}
			e.store(p.sum, at, total)
			e.at(skip)
		}
	}
}
