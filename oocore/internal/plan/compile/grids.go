package compile

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
)

// The lengths of tasks that grids aim at. Results do not depend on a map's,
// but the order of additions in a reduction does.
const (
	keptElems = 64 << 10 // accumulators of one task of a reduction
	// keptOfStored is the same where inputs are chunked: a chunk that is cut is decoded
	// more than once.
	keptOfStored = 256 << 10
	crossRun     = 1 << 10 // what a task reads at once of a transposed input of a reduction, or writes to a file in C order, at the least
	crossTasks   = 16      // at the least where input and output lie crosswise, if they are large
	// farRun is the length of a read at another place of the disk from which on reading in order is hardly faster.
	farRun = 128 << 10
	// longRows is how many rows a tile of windows should have: each costs about as much as its window is longer.
	longRows = 32
	// acrossTimes is how many times its bytes an input would be read that counts as lying across.
	// Copying it costs three.
	acrossTimes = 3
	// shortRun is the length of a write below which a pass of its own costs less than what the disk
	// then writes many times, tinyRun the same for what the processor takes for a write to the page
	// cache.
	shortRun, tinyRun = 2 * disk.Page, 512
)

// mapChunks are whole rows of about shapes.ChunkBytes. Where an input is transposed they
// are not: what is long in the output is short in the input. Nor are they where rows would be read by short overlaps
// with blocks.
func mapChunks(p *plan.Plan, prog *plan.Program, shape []int, outSize int) []int {
	size := prog.ItemSize(outSize)
	if prog.HasBlocks() {
		return opChunks(p, prog, shape, size)
	}
	if input := shapes.Crossed(prog); input != nil && input[len(input)-1] != len(shape)-1 {
		// Runs are short on both sides, so that chunks are as large as leaves enough of them.
		bytes, filled := grid.Size(shape)*size, 0
		if bytes > crossTasks*shapes.ChunkBytes {
			filled = shapes.ChunkBytes
		}
		box := shapes.Crosswise(shape, input, min(max(bytes/crossTasks, shapes.ChunkBytes), shapes.PassBytes)/size, filled/size, shapes.ShortCross/size)
		if blocks := blockChunks(p, prog, box, shape, outSize); blocks != nil {
			return blocks
		}
		return box
	}
	chunks := grid.Auto(shape, size, shapes.ChunkBytes)
	if short := func(box []int) []int { return shortOverlaps(p, prog, box) }; short(chunks) != nil {
		chunks = overlapChunks(shape, size, short)
	}
	alignRows(chunks, shape, outSize)
	return chunks
}

// opChunks are whole rows, up to shapes.PassBytes of them where operations would read much
// more than once for fewer, and boxes where also that is not enough: but those only if
// they do not lie in the result as short runs, or rows would be read too many times.
func opChunks(p *plan.Plan, prog *plan.Program, shape []int, size int) []int {
	for bytes := shapes.ChunkBytes; bytes <= shapes.PassBytes; bytes *= 2 {
		rows := grid.Auto(shape, size, bytes)
		if shapes.HaloOverhead(p, prog, rows) <= shapes.SmallOverhead {
			alignRows(rows, shape, size)
			return rows
		}
	}
	box := shapes.CutHalos(p, prog, grid.Whole(shape).Chunks, shapes.PassBytes/size)
	if rows := grid.Auto(shape, size, shapes.PassBytes); grid.Run(box, shape, size) < shortRun && shapes.HaloOverhead(p, prog, rows) <= acrossTimes {
		alignRows(rows, shape, size)
		return rows
	}
	return box
}

// blockChunks are chunks for which a large temporary array that is read transposed is to lie in blocks; nil where boxes of
// it in C order have runs as long.
func blockChunks(p *plan.Plan, prog *plan.Program, box, shape []int, outSize int) []int {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if !transposesTemporary(p, l) {
			continue
		}
		written := shapes.Shown(l, grid.Clip(writtenChunks(p, l.Array), p.Arrays[l.Array].Shape))
		chunks := overlapChunks(shape, prog.ItemSize(outSize), func(box []int) []int {
			if blockRun(p, l, box) >= farRun {
				return nil
			}
			return written
		})
		alignRows(chunks, shape, outSize)
		if run := min(orderRun(p, l, box), grid.Run(box, shape, outSize)); run < farRun && run < blockRun(p, l, chunks) {
			return chunks
		}
	}
	return nil
}

// transposesTemporary reports a load that reads a large temporary array in another order.
func transposesTemporary(p *plan.Plan, l *plan.Load) bool {
	return l.Kind == plan.LoadArray && l.Permuted() && p.Arrays[l.Array].Place == plan.InTemp && p.Arrays[l.Array].Bytes() > shapes.AcrossBytes
}

// shortTransposed returns the load by which a program reads a large temporary array transposed, if a box of its domain
// is made of runs of less than farRun, and of longer ones where the array lies in blocks for it.
func shortTransposed(p *plan.Plan, prog *plan.Program, box []int) *plan.Load {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if !transposesTemporary(p, l) {
			continue
		}
		if run := orderRun(p, l, box); run < farRun && run < blockRun(p, l, box) {
			return l
		}
	}
	return nil
}

// orderRun is how many bytes together a box of the domain reads of a load's array in C order.
func orderRun(p *plan.Plan, l *plan.Load, box []int) int {
	a := &p.Arrays[l.Array]
	return grid.Run(shapes.Span(a, l, box), a.Shape, l.Type.Size())
}

// blockRun is the same of an array in blocks, each of which is in one box and was written by one task.
func blockRun(p *plan.Plan, l *plan.Load, box []int) int {
	a := &p.Arrays[l.Array]
	bytes, written := l.Type.Size(), grid.Clip(writtenChunks(p, l.Array), a.Shape)
	for d, n := range shapes.Span(a, l, box) {
		bytes *= min(n, written[d])
	}
	return bytes
}

// overlapChunks have runs of a few times farRun in C order, mostly whole rows. They grow, up to shapes.PassBytes, along the axes
// along which blocks are longer, until their overlaps with blocks are runs of farRun too. short returns the lengths of
// blocks whose overlaps with a box are shorter, and nil for none.
func overlapChunks(shape []int, size int, short func(box []int) []int) []int {
	chunks := grid.Auto(shape, size, 4*farRun)
	for 2*grid.Size(chunks)*size <= shapes.PassBytes {
		best := shortest(chunks, short(chunks))
		if best < 0 {
			break
		}
		chunks[best] = min(2*chunks[best], shape[best])
	}
	return chunks
}

// shortest is the axis along which lengths are the smallest share of others, which may be nil; -1 where they are nowhere
// shorter.
func shortest(lengths, others []int) int {
	best, ratio := -1, 1.0
	for d, n := range others {
		if r := float64(n) / float64(lengths[d]); r > ratio {
			best, ratio = d, r
		}
	}
	return best
}

// shortOverlaps returns the lengths, in a program's domain, of the blocks of a large temporary array whose overlaps with
// a box are shorter runs than farRun; nil for none.
func shortOverlaps(p *plan.Plan, prog *plan.Program, box []int) []int {
	for l := range prog.Arrays() {
		a := &p.Arrays[l.Array]
		if a.Blocks == nil || a.Bytes() <= shapes.AcrossBytes {
			continue
		}
		block := grid.Clip(a.Blocks, a.Shape)
		run := grid.Run(grid.Clip(shapes.Span(a, l, box), block), block, l.Type.Size())
		if run < min(farRun, grid.Size(block)*l.Type.Size()) {
			return shapes.Shown(l, block)
		}
	}
	return nil
}

// scattered reports chunks of a large array that would lie in a file in C order as
// short runs: each page of it would be written many times. Such a result is materialised
// chunk by chunk, and the stage that reads it puts it in order.
func scattered(chunks, shape []int, size int) bool {
	run, bytes := grid.Run(chunks, shape, size), grid.Size(shape)*size
	return run < shortRun && bytes > shapes.AcrossBytes || run < tinyRun && bytes > shapes.ChunkBytes
}

// alignRows shortens the split axis so that a chunk's bytes are whole pages: then
// chunks of a file in C order are written past the page cache without sharing
// pages.
func alignRows(chunks, shape []int, size int) {
	row := size
	for i := len(shape) - 1; i >= 0; i-- {
		if chunks[i] < shape[i] {
			rows := disk.Page / gcd(disk.Page, row) // that are whole pages
			if chunks[i] >= rows {
				chunks[i] -= chunks[i] % rows
			}
			return
		}
		row *= chunks[i]
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// reduceChunks are about shapes.ChunkBytes too, with few enough kept positions for the
// accumulators to stay small. Of a transposed input they have runs of crossRun at least. Where an
// input's chunks have lengths of their own, stored not nil, they are whole numbers of those, with
// more positions.
func reduceChunks(prog *plan.Program, stored, shape, axes []int) []int {
	size := prog.ItemSize(1)
	room := max(shapes.ChunkBytes/size, 1)
	reduced := make([]bool, len(shape))
	for _, a := range axes {
		reduced[a] = true
	}
	if stored != nil {
		return reduceStored(stored, shape, reduced, room)
	}
	chunks := reduceRows(slices.Repeat([]int{1}, len(shape)), shape, reduced, room)
	least, long, axes := slices.Repeat([]int{1}, len(shape)), max(crossRun/size, 1), shapes.Crossed(prog)
	for _, d := range slices.Backward(axes) {
		n := grid.Size(least)
		least[d] = max(min(shape[d], (long+n-1)/n), 1)
	}
	if shapes.Run(chunks, shape, axes) < grid.Size(least) { // a task would read some bytes of each page
		return reduceRows(least, shape, reduced, room)
	}
	return chunks
}

// longChunks are chunks for a reduction of windows that would be read much more than once by chunks
// of the given lengths: few stored ones side by side, but many along the first axis, along which a task
// goes tile by tile and keeps what windows have in common. nil where that reads hardly less.
func longChunks(p *plan.Plan, prog *plan.Program, chunks []int) []int {
	before := shapes.HaloOverhead(p, prog, chunks)
	if before <= shapes.SmallOverhead {
		return nil
	}
	shape, long := prog.Domain, slices.Clone(chunks)
	axis, keeps := slices.IndexFunc(shape, func(n int) bool { return n > 1 }), false
	copy(long[axis+1:], grid.Auto(shape[axis+1:], prog.ItemSize(1), shapes.ChunkBytes/longRows))
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind != plan.LoadBlocks || !blockwise.Has(l.Op.Op, blockwise.KeepsReads) {
			continue
		}
		keeps = true
		if stored := shapes.Stored(p, &l.Inputs[0]); stored != nil && len(stored) == len(shape) {
			long = shapes.Grow(grid.Clip(stored, shape), shape, shapes.ChunkBytes/longRows/prog.ItemSize(1))
		}
	}
	if !keeps || grid.Size(long)/long[axis] > keptOfStored {
		return nil
	}
	long[axis] = max(long[axis], chunks[axis])
	for long[axis] < shape[axis] && shapes.HaloOverhead(p, prog, long) > shapes.SmallOverhead {
		long[axis] = min(2*long[axis], shape[axis])
	}
	if shapes.HaloOverhead(p, prog, long) > before/2 {
		return nil
	}
	return long
}

// reduceRows are rows of at most room elements, along the axes along which least has no length.
func reduceRows(least, shape []int, reduced []bool, room int) []int {
	chunks, kept := slices.Clone(least), keptElems
	for i, n := range least {
		room = max(room/n, 1)
		if !reduced[i] {
			kept = max(kept/n, 1)
		}
	}
	for i := len(shape) - 1; i >= 0; i-- {
		if least[i] > 1 {
			continue
		}
		most := room
		if !reduced[i] {
			most = min(room, kept)
		}
		chunks[i] = max(min(shape[i], most), 1)
		room = max(room/chunks[i], 1)
		if !reduced[i] {
			kept = max(kept/chunks[i], 1)
		}
	}
	return chunks
}

// reduceStored are as many stored chunks as fit into room elements, and a stored at least,
// except where that has too many kept positions.
func reduceStored(stored, shape []int, reduced []bool, room int) []int {
	box := grid.Clip(stored, shape)
	kept := func() int {
		n := 1
		for d := range box {
			if !reduced[d] {
				n *= box[d]
			}
		}
		return n
	}
	for d := 0; kept() > keptOfStored; d++ {
		if !reduced[d] {
			box[d] = max(box[d]*keptOfStored/kept(), 1)
		}
	}
	for d := len(box) - 1; d >= 0; d-- {
		times := room / grid.Size(box)
		if !reduced[d] {
			times = min(times, keptOfStored/kept())
		}
		if times > 1 {
			box[d] = max(min(box[d]*times, shape[d]), 1)
		}
	}
	return box
}

// writtenChunks are the lengths of what one task writes of a temporary array.
func writtenChunks(p *plan.Plan, array int) []int {
	for i := range p.Stages {
		s := &p.Stages[i]
		for k, out := range s.Outputs {
			if out != array {
				continue
			}
			if s.Kind != plan.ReduceStage {
				return s.Grid.Chunks
			}
			var kept []int
			for d, c := range s.Grid.Chunks {
				if !s.Folds[k].Folds(d) {
					kept = append(kept, c)
				}
			}
			return kept
		}
	}
	return p.Arrays[array].Shape
}
