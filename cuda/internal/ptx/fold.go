package ptx

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
)

const (
	// mostShares bounds the partial results of a tile that are joined in a second step.
	mostShares = 1 << 15
	// shareBytes is what each of them takes at most, in words of eight bytes, and scratchHead
	// what precedes them.
	shareBytes, scratchHead = 3 * 8, 16
	// busy is the number of threads that keep a large card busy.
	busy = 1 << 17
	// enough is the number of elements that repay a thread.
	enough = 8
)

// Fold returns the kernels of a stage's i-th fold: "init" makes accumulators empty, "fold"
// and after it "merge" fold a tile's elements into them. Accumulators are laid out as
// those of kernel.Folder. Which elements are added up first depends on the shapes of the
// tile and the chunk alone.
//
// The parameters of init are the accumulators' address and their number. Those of fold and
// merge are, in this order:
//
//   - the address of the word that rare operands of the tile have set to 1: nothing is
//     folded then;
//   - the addresses of the accumulators, of the tile's elements, dense and in C order, and
//     of Scratch bytes that nothing else uses until merge is done;
//   - the number of accumulators of the chunk;
//   - for each axis of the domain where the tile begins, its length, where the chunk
//     begins, and its length.
func Fold(s *plan.Stage, i int) (Module, error) {
	prog := &s.Programs[0]
	t := prog.Type(prog.Out[s.Folded(i)])
	how, ok := newFolding(s.Folds[i].Kind, t)
	if !ok {
		return Module{}, fmt.Errorf("has no %s of %s", s.Folds[i].Kind, t)
	}
	axes := make([]bool, len(s.Grid.Shape))
	for d := range axes {
		axes[d] = s.Folds[i].Folds(d)
	}
	empty := initialise(how)
	fold := &folder{emitter: newEmitter("fold"), how: how, domain: s.Grid.Shape, reduced: axes}
	fold.writeFold()
	merge := &folder{emitter: newEmitter("merge"), how: how, domain: s.Grid.Shape, reduced: axes}
	merge.writeMerge()
	m := newModule([]Kernel{
		empty.kernel(blocksFor),
		fold.kernel(func(lengths ...[]int) (grid, block [3]uint32) { return foldShape(axes, lengths[0]) }),
		merge.kernel(func(lengths ...[]int) (blocks, block [3]uint32) {
			kept, _ := counts(axes, lengths[0])
			return blocksFor([]int{kept})
		}),
	}, empty.text(), fold.text(), merge.text())
	m.Scratch = scratchHead + mostShares*shareBytes
	return m, nil
}

// counts is the number of accumulators that a tile has elements for, and of elements for
// each.
func counts(reduced []bool, tile []int) (kept, each int) {
	kept, each = 1, 1
	for d, n := range tile {
		if reduced[d] {
			each *= n
		} else {
			kept *= n
		}
	}
	return kept, each
}

// foldShape gives each accumulator a row of the block's threads, in as many blocks as keep
// a card busy: threads next to each other read elements that follow each other.
func foldShape(reduced []bool, tile []int) (blocks, block [3]uint32) {
	kept, each := counts(reduced, tile)
	lanes := 1
	innermost := len(tile) - 1
	for innermost >= 0 && tile[innermost] == 1 {
		innermost--
	}
	if innermost < 0 || reduced[innermost] || tile[innermost] < 32 {
		for lanes < threads && lanes*enough < each {
			lanes *= 2
		}
	}
	rows := threads / lanes
	shares := max(min((busy+kept*lanes-1)/max(kept*lanes, 1), each/(lanes*enough), mostShares/max(kept, 1)), 1)
	return [3]uint32{uint32(max((kept+rows-1)/rows, 1)), uint32(shares), 1}, [3]uint32{uint32(lanes), uint32(rows), 1}
}

// initialise writes the kernel that makes accumulators empty.
func initialise(how folding) *emitter {
	e := newEmitter("init")
	state, n := e.pointer("state"), e.length("n")
	fields := e.fieldsAt(how, state, n)
	var values []string
	for f, t := range how.fields {
		values = append(values, e.constant(t, how.empty[f]))
	}
	e.eachElement(n, func(index string) {
		for f, t := range how.fields {
			e.store(t, e.address(fields[f], index, t.Size()), values[f])
		}
	})
	return e
}

// fieldsAt is where each field of n accumulators begins.
func (e *emitter) fieldsAt(how folding, state, n string) (at []string) {
	for f, t := range how.fields {
		at = append(at, state)
		if f < len(how.fields)-1 {
			state = e.double("add.s64", state, e.double("mul.wide.u32", n, t.Size()))
		}
	}
	return at
}

// folder writes the kernels fold and merge.
type folder struct {
	*emitter
	how     folding
	domain  []int
	reduced []bool // by axis

	state, x, scratch, n string
	start, lengths       []string // of the tile, by axis
	chunk, chunkLengths  []string
	kept, each           string // numbers of accumulators and of elements for each
	tileStride           []string
}

// begin reads the parameters, and ends where the tile has a rare operand.
func (f *folder) begin() {
	rare := f.pointer("rare")
	f.state, f.x, f.scratch = f.pointer("state"), f.pointer("x"), f.pointer("scratch")
	f.n = f.length("n")
	for d := range f.domain {
		f.start = append(f.start, f.param(fmt.Sprint("start", d)))
		f.lengths = append(f.lengths, f.length(fmt.Sprint("length", d)))
		f.chunk = append(f.chunk, f.param(fmt.Sprint("chunk", d)))
		f.chunkLengths = append(f.chunkLengths, f.length(fmt.Sprint("chunklength", d)))
	}
	f.under(f.is("ne.u32", f.word("ld.global.u32", "["+rare+"]"), 0), "ret")
	f.kept, f.each = f.word("mov.u32", 1), f.word("mov.u32", 1)
	f.tileStride = make([]string, len(f.domain))
	stride := f.word("mov.u32", 1)
	for d := len(f.domain) - 1; d >= 0; d-- {
		f.tileStride[d] = stride
		stride = f.word("mul.lo.u32", stride, f.lengths[d])
		if f.reduced[d] {
			f.each = f.word("mul.lo.u32", f.each, f.lengths[d])
		} else {
			f.kept = f.word("mul.lo.u32", f.kept, f.lengths[d])
		}
	}
}

// apart takes an index among the reduced axes, or the kept ones, into its coordinates; ""
// for the axes that are one long.
func (f *folder) apart(index string, reduced bool) []string {
	at := make([]string, len(f.domain))
	var axes []int
	for d, n := range f.domain {
		if n != 1 && f.reduced[d] == reduced {
			axes = append(axes, d)
		}
	}
	rest := index
	for k := len(axes) - 1; k >= 0; k-- {
		d := axes[k]
		if k == 0 {
			at[d] = rest
			break
		}
		whole := f.word("div.u32", rest, f.lengths[d])
		at[d] = f.word("sub.u32", rest, f.word("mul.lo.u32", whole, f.lengths[d]))
		rest = whole
	}
	return at
}

// offset is where the element of some coordinates is, from base on.
func (f *folder) offset(base string, at []string) string {
	for d, i := range at {
		if i != "" {
			base = f.word("mad.lo.u32", i, f.tileStride[d], base)
		}
	}
	return base
}

// accumulator is the index of the accumulator of the tile's k-th.
func (f *folder) accumulator(k string) string {
	index, stride := f.word("mov.u32", 0), f.word("mov.u32", 1)
	at := f.apart(k, false)
	for d := len(f.domain) - 1; d >= 0; d-- {
		if f.reduced[d] {
			continue
		}
		from := f.word("cvt.u32.u64", f.double("sub.s64", f.start[d], f.chunk[d]))
		if at[d] != "" {
			from = f.word("add.u32", from, at[d])
		}
		index = f.word("mad.lo.u32", from, stride, index)
		stride = f.word("mul.lo.u32", stride, f.chunkLengths[d])
	}
	return index
}

// positionSteps is what a step along each reduced axis adds to an element's position.
func (f *folder) positionSteps() []int {
	shape := make([]int, len(f.domain))
	for d, n := range f.domain {
		shape[d] = 1
		if f.reduced[d] {
			shape[d] = n
		}
	}
	return grid.Strides(shape)
}

// writeFold writes a kernel in which each thread folds some elements of one accumulator,
// threads of a row join what they have, and the first one adds it to the accumulator, or
// leaves it to merge where other blocks have a share.
func (f *folder) writeFold() {
	f.begin()
	e, t := f.emitter, f.how.t
	lane, lanes := e.word("mov.u32", "%tid.x"), e.word("mov.u32", "%ntid.x")
	row, rows := e.word("mov.u32", "%tid.y"), e.word("mov.u32", "%ntid.y")
	share, shares := e.word("mov.u32", "%ctaid.y"), e.word("mov.u32", "%nctaid.y")
	k := e.word("mad.lo.u32", e.word("mov.u32", "%ctaid.x"), rows, row)
	inside := e.is("lt.u32", k, f.kept)
	thread := e.word("mad.lo.u32", row, lanes, lane)
	first, step := e.word("mad.lo.u32", share, lanes, lane), e.word("mul.lo.u32", shares, lanes)
	base := f.offset(e.word("mov.u32", 0), f.apart(k, false))

	steps := f.positionSteps()
	var origin string
	if f.how.positions {
		origin = e.double("mov.b64", 0)
		for d := range f.domain {
			if f.reduced[d] {
				origin = e.double("mad.lo.s64", f.start[d], steps[d], origin)
			}
		}
	}
	// elements visits those of the thread.
	elements := func(do func(x, position string)) {
		again, end := e.label(), e.label()
		r := e.word("mov.u32", first)
		e.under(e.not(inside), "bra %s", end)
		e.at(again)
		e.under(e.is("ge.u32", r, f.each), "bra %s", end)
		at := f.apart(r, true)
		x := e.cast(f.how.from, t, e.load(f.how.from, e.address(f.x, f.offset(base, at), f.how.from.Size())))
		position := origin
		if f.how.positions {
			for d, i := range at {
				if i != "" {
					position = e.double("mad.lo.s64", e.double("cvt.u64.u32", i), steps[d], position)
				}
			}
		}
		do(x, position)
		e.do("add.u32 %s, %s, %s", r, r, step)
		e.do("bra %s", again)
		e.at(end)
	}
	acc := f.emptyAccumulator(f.how.fields, f.how.empty)
	if f.how.moments {
		f.moments(acc, elements, thread, lane, lanes, row)
	} else {
		elements(func(x, position string) { f.how.take(e, acc, x, position) })
		f.rowJoins(f.how.fields, acc, f.how.join, thread, lane, lanes)
	}

	e.under(e.not(e.and(inside, e.is("eq.u32", lane, 0))), "ret")
	last := e.is("eq.u32", shares, 1)
	begins := e.and(e.is("eq.u32", k, 0), e.is("eq.u32", share, 0))
	e.under(begins, "st.global.u32 [%s], %s", f.scratch, shares)
	apart := e.label()
	e.under(e.not(last), "bra %s", apart)
	f.join(k, func() []string { return acc })
	e.do("ret")
	e.at(apart)
	at := f.shareAt(share, k)
	for i, ft := range f.how.fields {
		e.do("st.global.b%d [%s+%d], %s", bits(ft), at, 8*i, acc[i])
	}
}

func (f *folder) emptyAccumulator(fields []dtype.Type, empty []uint64) (acc []string) {
	for i, t := range fields {
		acc = append(acc, f.constant(t, empty[i]))
	}
	return acc
}

// shareAt is the address of what a block has left of an accumulator.
func (f *folder) shareAt(share, k string) string {
	index := f.word("mad.lo.u32", share, f.kept, k)
	at := f.address(f.scratch, index, 8*len(f.how.fields))
	return f.double("add.s64", at, scratchHead)
}

// join joins to an accumulator in memory what part gives.
func (f *folder) join(k string, part func() []string) {
	e := f.emitter
	index := f.accumulator(k)
	var at, state []string
	for i, base := range e.fieldsAt(f.how, f.state, f.n) {
		t := f.how.fields[i]
		at = append(at, e.address(base, index, t.Size()))
		state = append(state, e.load(t, at[i]))
	}
	f.how.join(e, state, part())
	for i, t := range f.how.fields {
		e.store(t, at[i], state[i])
	}
}

// rowJoins joins the accumulators of each row of threads, of which the first has all at
// the end.
func (f *folder) rowJoins(fields []dtype.Type, acc []string, join func(e *emitter, acc, other []string), thread, lane, lanes string) {
	e := f.emitter
	e.shared = max(e.shared, 8*len(fields)*threads)
	at := e.word("mad.lo.u32", thread, 8, e.word("mov.u32", "shared"))
	put := func() {
		for i, t := range fields {
			e.do("st.shared.b%d [%s+%d], %s", bits(t), at, 8*threads*i, acc[i])
		}
	}
	half := e.word("shr.u32", lanes, 1)
	again, idle, end := e.label(), e.label(), e.label()
	e.do("bar.sync 0") // what was there before has been read
	put()
	e.at(again)
	e.do("bar.sync 0")
	e.under(e.is("eq.u32", half, 0), "bra %s", end)
	e.under(e.is("ge.u32", lane, half), "bra %s", idle)
	from := e.word("mad.lo.u32", half, 8, at)
	var other []string
	for i, t := range fields {
		other = append(other, e.of(t, fmt.Sprint("ld.shared.b", bits(t)), fmt.Sprintf("[%s+%d]", from, 8*threads*i)))
	}
	join(e, acc, other)
	put()
	e.at(idle)
	e.do("shr.u32 %s, %s, 1", half, half)
	e.do("bra %s", again)
	e.at(end)
}

// moments folds to counts, means and squared deviations, in two passes over the elements.
func (f *folder) moments(acc []string, elements func(func(x, position string)), thread, lane, lanes, row string) {
	e, t := f.emitter, dtype.Float64
	three := []dtype.Type{t, t, t}
	joinSums := func(e *emitter, acc, other []string) {
		e.carry(acc[0], acc[1], other[0])
		e.do("add.rn.f64 %s, %s, %s", acc[1], acc[1], other[1])
		e.do("add.rn.f64 %s, %s, %s", acc[2], acc[2], other[2])
	}
	sums := f.emptyAccumulator(three, []uint64{0, 0, 0})
	elements(func(x, _ string) {
		e.carry(sums[0], sums[1], e.cast(f.how.t, t, x))
		e.do("add.rn.f64 %s, %s, %s", sums[2], sums[2], float(t, 1))
	})
	f.rowJoins(three, sums, joinSums, thread, lane, lanes)
	// The first thread of the row has left the sums in shared memory.
	head := e.word("mad.lo.u32", e.word("mul.lo.u32", row, lanes), 8, e.word("mov.u32", "shared"))
	field := func(i int) string { return e.double("ld.shared.b64", fmt.Sprintf("[%s+%d]", head, 8*threads*i)) }
	count := field(2)
	mean := e.double("div.rn.f64", e.settled(field(0), field(1)), count)
	devs := f.emptyAccumulator(three, []uint64{0, 0, 0})
	elements(func(x, _ string) {
		d := e.double("sub.rn.f64", e.cast(f.how.t, t, x), mean)
		e.carry(devs[0], devs[1], e.double("mul.rn.f64", d, d))
	})
	f.rowJoins(three, devs, joinSums, thread, lane, lanes)
	for i, v := range []string{count, mean, e.settled(devs[0], devs[1])} {
		e.do("mov.b64 %s, %s", acc[i], v)
	}
}

// writeMerge writes the kernel that joins to each accumulator what several blocks have
// left, in their order.
func (f *folder) writeMerge() {
	f.begin()
	e := f.emitter
	shares := e.word("ld.global.u32", "["+f.scratch+"]")
	e.under(e.is("eq.u32", shares, 1), "ret")
	e.eachElement(f.kept, func(k string) {
		f.join(k, func() []string {
			acc := f.emptyAccumulator(f.how.fields, f.how.empty)
			again := e.label()
			share := e.word("mov.u32", 0)
			e.at(again)
			at := f.shareAt(share, k)
			var part []string
			for i, t := range f.how.fields {
				part = append(part, e.of(t, fmt.Sprint("ld.global.b", bits(t)), fmt.Sprintf("[%s+%d]", at, 8*i)))
			}
			f.how.join(e, acc, part)
			e.do("add.u32 %s, %s, 1", share, share)
			e.under(e.is("lt.u32", share, shares), "bra %s", again)
			return acc
		})
	})
}
