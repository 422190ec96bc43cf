package ptx

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// enough is the number of elements, or of partial results, that repay a thread.
const enough = 8

// Fold returns the kernels of a stage's i-th fold: "init" makes accumulators empty, "fold"
// adds the elements of a tile, and "merge" joins partial results at the end. Accumulators
// are laid out as those of kernel.Folder.
//
// Each accumulator of a chunk has as many partial results as partials says, to which the
// blocks of the stage are added in turn. A tile is a run of blocks, so which elements are
// added up first depends on the stage alone, not on its tiles. With one partial result of
// each there is no merge.
//
// The parameters of init are the address of accumulators and their number. Those of fold
// are, in this order:
//
//   - the address of the word that rare operands of the tile have set to 1, and of one for
//     all tiles of the chunk. A tile with the first set is not folded, and sets the second;
//     after that no tile is folded, and each sets its first;
//   - the addresses of the partial results, and of the tile's elements, dense and in C order;
//   - the number of accumulators of the chunk;
//   - the number of blocks that were added to the tile's accumulators before;
//   - for each axis of the domain where the tile begins, its length, where the chunk
//     begins, and its length.
//
// Those of merge are the address of the accumulators, that of the partial results, and the
// number of accumulators.
func Fold(s *plan.Stage, i, partials int) (Module, error) {
	prog := &s.Programs[0]
	t := prog.Type(prog.Out[s.FoldOut(i)])
	how, ok := newFolding(s.Folds[i].Kind, t)
	if !ok {
		return Module{}, fmt.Errorf("has no %s of %s", s.Folds[i].Kind, t)
	}
	axes := make([]bool, len(s.Grid.Shape))
	for d := range axes {
		axes[d] = s.Folds[i].Folds(d)
	}
	empty := initialise(how)
	fold := &folder{emitter: newEmitter("fold"), how: how, domain: s.Grid.Shape, block: s.FoldBlock, reduced: axes, partials: partials, lanes: lanesOf(axes, s.FoldBlock)}
	fold.writeFold()
	kernels := []Kernel{empty.kernel(blocksFor), fold.kernel(func(lengths ...[]int) (grid, block [3]uint32) { return fold.shape(lengths[0]) })}
	if partials == 1 {
		return newModule(kernels, empty.text(), fold.text()), nil
	}
	merge := &folder{emitter: newEmitter("merge"), how: how, partials: partials, lanes: lanesFor(partials)}
	merge.writeMerge()
	kernels = append(kernels, merge.kernel(func(lengths ...[]int) (grid, block [3]uint32) { return rows(lengths[0][0], merge.lanes) }))
	return newModule(kernels, empty.text(), fold.text(), merge.text()), nil
}

// lanesFor is the number of threads that share what is added to one accumulator.
func lanesFor(each int) int {
	lanes := 1
	for lanes < threads && lanes*enough < each {
		lanes *= 2
	}
	return lanes
}

// lanesOf is that number for the elements of a block. Threads next to each other read
// elements that follow each other: of one accumulator, or of one each.
func lanesOf(reduced []bool, block []int) int {
	each, innermost := 1, len(block)-1
	for innermost >= 0 && block[innermost] == 1 {
		innermost--
	}
	if innermost >= 0 && !reduced[innermost] && block[innermost] >= 32 {
		return 1
	}
	for d, n := range block {
		if reduced[d] {
			each *= n
		}
	}
	return lanesFor(each)
}

// rows gives each of n accumulators a row of lanes.
func rows(n, lanes int) (blocks, block [3]uint32) {
	each := threads / lanes
	return [3]uint32{uint32(max((n+each-1)/each, 1)), 1, 1}, [3]uint32{uint32(lanes), uint32(each), 1}
}

// shape gives each accumulator that a tile has elements for a row of lanes, for each
// partial result that it has blocks for.
func (f *folder) shape(tile []int) (blocks, block [3]uint32) {
	kept, parts := 1, 1
	for d, n := range tile {
		if f.reduced[d] {
			parts *= (n + f.block[d] - 1) / f.block[d]
		} else {
			kept *= n
		}
	}
	blocks, block = rows(kept, f.lanes)
	blocks[1] = uint32(min(f.partials, parts))
	return blocks, block
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
	how      folding
	domain   []int
	block    []int
	reduced  []bool // by axis
	partials int    // of each accumulator
	lanes    int    // threads of a row

	start, lengths      []string // of the tile, by axis
	chunk, chunkLengths []string
	tileStride          []string
	kept                string // number of accumulators that the tile has elements for
	blocks              string // number of blocks that are added to each
	blocksAlong         []string

	lane, row, k string // of the thread, and its accumulator
	inside       string // there is such an accumulator
}

// begin reads the parameters of fold's axes.
func (f *folder) begin() {
	for d := range f.domain {
		f.start = append(f.start, f.param(fmt.Sprint("start", d)))
		f.lengths = append(f.lengths, f.length(fmt.Sprint("length", d)))
		f.chunk = append(f.chunk, f.param(fmt.Sprint("chunk", d)))
		f.chunkLengths = append(f.chunkLengths, f.length(fmt.Sprint("chunklength", d)))
	}
	f.kept, f.blocks = f.word("mov.u32", 1), f.word("mov.u32", 1)
	f.tileStride, f.blocksAlong = make([]string, len(f.domain)), make([]string, len(f.domain))
	stride := f.word("mov.u32", 1)
	for d := len(f.domain) - 1; d >= 0; d-- {
		f.tileStride[d] = stride
		stride = f.word("mul.lo.u32", stride, f.lengths[d])
		if f.reduced[d] {
			f.blocksAlong[d] = f.word("div.u32", f.word("add.u32", f.lengths[d], f.block[d]-1), f.block[d])
			f.blocks = f.word("mul.lo.u32", f.blocks, f.blocksAlong[d])
		} else {
			f.kept = f.word("mul.lo.u32", f.kept, f.lengths[d])
		}
	}
}

// stop ends the kernel for tiles that are not folded.
func (f *folder) stop(rare, stopped string) {
	one, goes := f.word("mov.u32", 1), f.label()
	own, before := f.is("ne.u32", f.word("ld.global.u32", "["+rare+"]"), 0), f.is("ne.u32", f.word("ld.global.u32", "["+stopped+"]"), 0)
	f.under(f.not(f.or(own, before)), "bra %s", goes)
	f.under(own, "st.global.u32 [%s], %s", stopped, one)
	f.under(f.not(own), "st.global.u32 [%s], %s", rare, one)
	f.do("ret")
	f.at(goes)
}

// thread finds the thread's row and the accumulator of n that it is for.
func (f *folder) thread(n string) {
	f.lane, f.row = f.word("mov.u32", "%tid.x"), f.word("mov.u32", "%tid.y")
	f.k = f.word("mad.lo.u32", f.word("mov.u32", "%ctaid.x"), f.word("mov.u32", "%ntid.y"), f.row)
	f.inside = f.is("lt.u32", f.k, n)
}

// first holds for the threads that store what their rows have.
func (f *folder) first() string { return f.and(f.inside, f.is("eq.u32", f.lane, 0)) }

// axes are the axes longer than 1 that are reduced, or that are kept.
func (f *folder) axes(reduced bool) (all []int) {
	for d, n := range f.domain {
		if n != 1 && f.reduced[d] == reduced {
			all = append(all, d)
		}
	}
	return all
}

// apart takes an index among some axes of the given lengths into its coordinates; "" for
// other axes.
func (f *folder) apart(index string, axes []int, lengths []string) []string {
	at := make([]string, len(f.domain))
	rest := index
	for k := len(axes) - 1; k >= 0; k-- {
		d := axes[k]
		if k == 0 {
			at[d] = rest
			break
		}
		whole := f.word("div.u32", rest, lengths[d])
		at[d] = f.word("sub.u32", rest, f.word("mul.lo.u32", whole, lengths[d]))
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

// accumulator is the index of the accumulator of some coordinates.
func (f *folder) accumulator(at []string) string {
	index, stride := f.word("mov.u32", 0), f.word("mov.u32", 1)
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

// writeFold writes a kernel in which each thread folds some elements of one block for one
// accumulator, threads of a row join what they have, and the first one adds it to the
// partial result whose turn it is; then comes the next block of that.
func (f *folder) writeFold() {
	e, t := f.emitter, f.how.t
	rare, stopped := f.pointer("rare"), f.pointer("stopped")
	states, x, n, before := f.pointer("states"), f.pointer("x"), f.length("n"), f.length("before")
	f.begin()
	f.stop(rare, stopped)
	f.thread(f.kept)
	share, shares := e.word("mov.u32", "%ctaid.y"), e.word("mov.u32", "%nctaid.y")
	kept, axes := f.apart(f.k, f.axes(false), f.lengths), f.axes(true)
	inner := slices.DeleteFunc(f.axes(true), func(d int) bool { return f.block[d] == 1 })
	base := f.offset(e.word("mov.u32", 0), kept)
	partial := e.word("rem.u32", e.word("add.u32", before, share), f.partials)
	at := f.fieldsOf(states, e.word("mul.lo.u32", n, f.partials), e.word("mad.lo.u32", partial, n, f.accumulator(kept)))
	state, unread := f.emptyAccumulator(f.how.fields, f.how.empty), e.label()
	e.under(e.not(f.inside), "bra %s", unread)
	for i, ft := range f.how.fields {
		e.do("mov.b%d %s, %s", bits(ft), state[i], e.load(ft, at[i]))
	}
	e.at(unread)

	steps := f.positionSteps()
	f.loop(share, f.blocks, shares, func(block string) {
		lengths, each, first := make([]string, len(f.domain)), e.word("mov.u32", 1), base
		origin := e.double("mov.b64", 0)
		for d, i := range f.apart(block, axes, f.blocksAlong) {
			if i == "" {
				continue
			}
			from := e.word("mul.lo.u32", i, f.block[d])
			lengths[d] = e.word("min.u32", e.word("sub.u32", f.lengths[d], from), f.block[d])
			each = e.word("mul.lo.u32", each, lengths[d])
			first = e.word("mad.lo.u32", from, f.tileStride[d], first)
			if f.how.positions {
				origin = e.double("mad.lo.s64", e.double("add.s64", f.start[d], e.double("cvt.u64.u32", from)), steps[d], origin)
			}
		}
		// elements visits those of the thread.
		elements := func(do func(x, position string)) {
			outside := e.label()
			e.under(e.not(f.inside), "bra %s", outside)
			f.loop(f.lane, each, fmt.Sprint(f.lanes), func(r string) {
				at := f.apart(r, inner, lengths)
				value := e.cast(f.how.from, t, e.load(f.how.from, e.address(x, f.offset(first, at), f.how.from.Size())))
				position := origin
				if f.how.positions {
					for d, i := range at {
						if i != "" {
							position = e.double("mad.lo.s64", e.double("cvt.u64.u32", i), steps[d], position)
						}
					}
				}
				do(value, position)
			})
			e.at(outside)
		}
		acc := f.emptyAccumulator(f.how.fields, f.how.empty)
		if f.how.moments {
			f.moments(acc, elements)
		} else {
			elements(func(x, position string) { f.how.take(e, acc, x, position) })
			f.rowJoins(f.how.fields, acc, f.how.join)
		}
		f.how.join(e, state, acc)
	})
	e.under(e.not(f.first()), "ret")
	for i, ft := range f.how.fields {
		e.store(ft, at[i], state[i])
	}
}

// fieldsOf is where the fields are of one of n accumulators.
func (f *folder) fieldsOf(states, n, index string) (at []string) {
	for i, base := range f.fieldsAt(f.how, states, n) {
		at = append(at, f.address(base, index, f.how.fields[i].Size()))
	}
	return at
}

func (f *folder) emptyAccumulator(fields []dtype.Type, empty []uint64) (acc []string) {
	for i, t := range fields {
		acc = append(acc, f.constant(t, empty[i]))
	}
	return acc
}

// sharedAt is the address of what a thread of a row has in shared memory.
func (f *folder) sharedAt(lane string) string {
	thread := f.word("mad.lo.u32", f.row, f.lanes, lane)
	return f.word("mad.lo.u32", thread, 8, f.word("mov.u32", "shared"))
}

// rowJoins joins the accumulators of each row of threads, of which the first has all at
// the end.
func (f *folder) rowJoins(fields []dtype.Type, acc []string, join func(e *emitter, acc, other []string)) {
	if f.lanes == 1 {
		return
	}
	e := f.emitter
	e.shared = max(e.shared, 8*len(fields)*threads)
	at := f.sharedAt(f.lane)
	put := func() {
		for i, t := range fields {
			e.do("st.shared.b%d [%s+%d], %s", bits(t), at, 8*threads*i, acc[i])
		}
	}
	half := e.word("mov.u32", f.lanes/2)
	again, idle, end := e.label(), e.label(), e.label()
	e.do("bar.sync 0") // what was there before has been read
	put()
	e.at(again)
	e.do("bar.sync 0")
	e.under(e.is("eq.u32", half, 0), "bra %s", end)
	e.under(e.is("ge.u32", f.lane, half), "bra %s", idle)
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
func (f *folder) moments(acc []string, elements func(func(x, position string))) {
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
	f.rowJoins(three, sums, joinSums)
	if f.lanes > 1 { // the first thread of the row has left the sums in shared memory
		head := f.sharedAt("0")
		for i := range sums {
			sums[i] = e.double("ld.shared.b64", fmt.Sprintf("[%s+%d]", head, 8*threads*i))
		}
	}
	mean := e.double("div.rn.f64", e.settled(sums[0], sums[1]), sums[2])
	devs := f.emptyAccumulator(three, []uint64{0, 0, 0})
	elements(func(x, _ string) {
		d := e.double("sub.rn.f64", e.cast(f.how.t, t, x), mean)
		e.carry(devs[0], devs[1], e.double("mul.rn.f64", d, d))
	})
	f.rowJoins(three, devs, joinSums)
	for i, v := range []string{sums[2], mean, e.settled(devs[0], devs[1])} {
		e.do("mov.b64 %s, %s", acc[i], v)
	}
}

// writeMerge writes the kernel that joins the partial results of each accumulator: each
// thread of a row some of them, and then the threads.
func (f *folder) writeMerge() {
	e := f.emitter
	to, from, n := f.pointer("to"), f.pointer("from"), f.length("n")
	f.thread(n)
	all := e.word("mul.lo.u32", n, f.partials)
	bases := e.fieldsAt(f.how, from, all)
	acc, outside := f.emptyAccumulator(f.how.fields, f.how.empty), e.label()
	e.under(e.not(f.inside), "bra %s", outside)
	f.loop(f.lane, fmt.Sprint(f.partials), fmt.Sprint(f.lanes), func(partial string) {
		index := e.word("mad.lo.u32", partial, n, f.k)
		var part []string
		for i, t := range f.how.fields {
			part = append(part, e.load(t, e.address(bases[i], index, t.Size())))
		}
		f.how.join(e, acc, part)
	})
	e.at(outside)
	f.rowJoins(f.how.fields, acc, f.how.join)
	e.under(e.not(f.first()), "ret")
	for i, at := range f.fieldsOf(to, n, f.k) {
		e.store(f.how.fields[i], at, acc[i])
	}
}
