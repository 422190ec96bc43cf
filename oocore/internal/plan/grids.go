package plan

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// The sizes that grids aim at, in bytes. Results do not depend on a map's,
// but the order of additions in a reduction does.
const (
	chunkBytes = 4 << 20   // a task's share of the largest array: long enough to stream, small enough for many in 64 MiB
	tileBytes  = 256 << 10 // what is read at once: it stays in a core's own cache until it is consumed
	keptElems  = 64 << 10  // accumulators of one task of a reduction
	// keptOfStored is the same where inputs are chunked: a chunk that is cut is decoded
	// more than once.
	keptOfStored = 256 << 10
	crossRun     = 1 << 10 // what a task reads at once of a transposed input of a reduction, or writes to a file in C order, at the least
	shortCross   = 256     // a run below which copying it takes more than its bytes do
	crossTasks   = 16      // at the least where input and output lie crosswise, if they are large
	// farRun is the length of a read at another place of the disk from which on reading in order is hardly faster.
	farRun = 128 << 10
)

// tileBytes is what a program reads at once where elements lie open: what stays in a core's cache,
// but of an object store what is worth a request, and of chunks enough for long runs of each.
func (p *Plan) tileBytes(prog *Program) int {
	if p.readsRemote(prog.Arrays()) || p.readsInParts(prog) {
		return chunkBytes
	}
	return tileBytes
}

// readsInParts reports a program with an input of whose chunks parts are read by themselves.
func (p *Plan) readsInParts(prog *Program) bool {
	for l := range prog.Arrays() {
		if p.Arrays[l.Array].readInParts() {
			return true
		}
	}
	return false
}

// clip limits chunks to a shape.
func clip(chunks, shape []int) []int {
	if chunks == nil {
		return nil
	}
	out := make([]int, len(shape))
	for i := range out {
		out[i] = max(min(chunks[i], shape[i]), 1)
	}
	return out
}

// itemSize is the size of the widest element that a program reads from an array.
func (p *Program) itemSize(least int) int {
	for _, l := range p.Loads {
		if l.Reads() {
			least = max(least, l.Type.Size())
		}
	}
	return least
}

// crossed returns the domain's axes in the order of a transposed input, which is contiguous along
// the last; nil where all inputs lie as the domain does.
func crossed(prog *Program) (axes []int) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind != LoadArray || !l.Permuted() {
			continue
		}
		for _, d := range l.View.Axis {
			if d >= 0 {
				axes = append(axes, d)
			}
		}
		return axes
	}
	return nil
}

// mapChunks are whole rows of about chunkBytes. Where an input is transposed they
// are not: what is long in the output is short in the input. Nor are they where rows would be read by short overlaps
// with blocks.
func (p *Plan) mapChunks(prog *Program, shape []int, outSize int) []int {
	size := prog.itemSize(outSize)
	if prog.blocks() {
		return p.opChunks(prog, shape, size)
	}
	if input := crossed(prog); input != nil && input[len(input)-1] != len(shape)-1 {
		// Runs are short on both sides, so that chunks are as large as leaves enough of them.
		bytes, filled := grid.Size(shape)*size, 0
		if bytes > crossTasks*chunkBytes {
			filled = chunkBytes
		}
		box := square(shape, input, min(max(bytes/crossTasks, chunkBytes), passBytes)/size, filled/size, shortCross/size)
		if blocks := p.blockChunks(prog, box, shape, outSize); blocks != nil {
			return blocks
		}
		return box
	}
	chunks := grid.Auto(shape, size, chunkBytes)
	if short := func(box []int) []int { return p.shortOverlaps(prog, box) }; short(chunks) != nil {
		chunks = overlapChunks(shape, size, short)
	}
	alignRows(chunks, shape, outSize)
	return chunks
}

// blockChunks are chunks for which a large temporary array that is read transposed is to lie in blocks; nil where boxes of
// it in C order have runs as long.
func (p *Plan) blockChunks(prog *Program, box, shape []int, outSize int) []int {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if !p.transposesTemporary(l) {
			continue
		}
		written := l.shown(clip(p.writes(l.Array), p.Arrays[l.Array].Shape))
		chunks := overlapChunks(shape, prog.itemSize(outSize), func(box []int) []int {
			if p.blockRun(l, box) >= farRun {
				return nil
			}
			return written
		})
		alignRows(chunks, shape, outSize)
		if run := min(p.orderRun(l, box), grid.Run(box, shape, outSize)); run < farRun && run < p.blockRun(l, chunks) {
			return chunks
		}
	}
	return nil
}

// transposesTemporary reports a load that reads a large temporary array in another order.
func (p *Plan) transposesTemporary(l *Load) bool {
	return l.Kind == LoadArray && l.Permuted() && p.Arrays[l.Array].Place == InTemp && p.Arrays[l.Array].Bytes() > acrossBytes
}

// shortTransposed returns the load by which a program reads a large temporary array transposed, if a box of its domain
// is made of runs of less than farRun, and of longer ones where the array lies in blocks for it.
func (p *Plan) shortTransposed(prog *Program, box []int) *Load {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if !p.transposesTemporary(l) {
			continue
		}
		if run := p.orderRun(l, box); run < farRun && run < p.blockRun(l, box) {
			return l
		}
	}
	return nil
}

// orderRun is how many bytes together a box of the domain reads of a load's array in C order.
func (p *Plan) orderRun(l *Load, box []int) int {
	a := &p.Arrays[l.Array]
	return grid.Run(a.lengths(l, box), a.Shape, l.Type.Size())
}

// blockRun is the same of an array in blocks, each of which is in one box and was written by one task.
func (p *Plan) blockRun(l *Load, box []int) int {
	a := &p.Arrays[l.Array]
	bytes, written := l.Type.Size(), clip(p.writes(l.Array), a.Shape)
	for d, n := range a.lengths(l, box) {
		bytes *= min(n, written[d])
	}
	return bytes
}

// overlapChunks have runs of a few times farRun in C order, mostly whole rows. They grow, up to passBytes, along the axes
// along which blocks are longer, until their overlaps with blocks are runs of farRun too. short returns the lengths of
// blocks whose overlaps with a box are shorter, and nil for none.
func overlapChunks(shape []int, size int, short func(box []int) []int) []int {
	chunks := grid.Auto(shape, size, 4*farRun)
	for 2*grid.Size(chunks)*size <= passBytes {
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
func (p *Plan) shortOverlaps(prog *Program, box []int) []int {
	for l := range prog.Arrays() {
		a := &p.Arrays[l.Array]
		if a.Blocks == nil || a.Bytes() <= acrossBytes {
			continue
		}
		block := clip(a.Blocks, a.Shape)
		run := grid.Run(clip(a.lengths(l, box), block), block, l.Type.Size())
		if run < min(farRun, grid.Size(block)*l.Type.Size()) {
			return l.shown(block)
		}
	}
	return nil
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

// reduceChunks are about chunkBytes too, with few enough kept positions for the
// accumulators to stay small. Of a transposed input they have runs of crossRun at least. Where an
// input's chunks have lengths of their own, stored not nil, they are whole numbers of those, with
// more positions.
func reduceChunks(prog *Program, stored, shape, axes []int) []int {
	size := prog.itemSize(1)
	room := max(chunkBytes/size, 1)
	reduced := make([]bool, len(shape))
	for _, a := range axes {
		reduced[a] = true
	}
	if stored != nil {
		return reduceStored(stored, shape, reduced, room)
	}
	chunks := reduceRows(slices.Repeat([]int{1}, len(shape)), shape, reduced, room)
	least, long, axes := slices.Repeat([]int{1}, len(shape)), max(crossRun/size, 1), crossed(prog)
	for _, d := range slices.Backward(axes) {
		n := grid.Size(least)
		least[d] = max(min(shape[d], (long+n-1)/n), 1)
	}
	if run(chunks, shape, axes) < grid.Size(least) { // a task would read some bytes of each page
		return reduceRows(least, shape, reduced, room)
	}
	return chunks
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
	box := clip(stored, shape)
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

// within cuts a chunk into boxes of at most elems elements that follow each other
// in C order, each a whole number of blocks along the axis where a block is cut.
func within(chunk []int, elems int, block []int) []int {
	box := grid.Auto(chunk, 1, elems)
	for i := range box {
		if box[i] < chunk[i] && block[i] < box[i] {
			box[i] -= box[i] % block[i]
		} else if box[i] < block[i] {
			box[i] = block[i]
		}
	}
	return box
}

// Chunks of a stored array are decoded as a whole, so tasks and tiles are made of
// whole ones where they can be.

// storedChunks are the lengths in a program's domain of the stored chunks of its largest
// chunked input; nil where no input is chunked. What an operation reads counts where
// it has the shape of the result.
func (p *Plan) storedChunks(prog *Program) []int {
	var of *Load
	for i := range prog.Loads {
		l := &prog.Loads[i]
		for k := range l.Inputs {
			if !slices.Equal(l.Inputs[k].Domain, l.Shape) || of != nil {
				continue
			}
			if stored := p.storedChunks(&l.Inputs[k]); stored != nil {
				if r, ok := l.rows(); ok {
					stored = r.rows(stored)
				}
				return l.shown(stored)
			}
		}
		if l.Kind == LoadArray && p.Arrays[l.Array].Chunks != nil && (of == nil || p.Arrays[l.Array].Bytes() > p.Arrays[of.Array].Bytes()) {
			of = l
		}
	}
	if of == nil {
		return nil
	}
	return of.shown(p.Arrays[of.Array].Chunks)
}

// shown are the lengths in the domain of chunks of the load's array.
func (l *Load) shown(chunks []int) []int {
	lengths := slices.Repeat([]int{1}, len(l.View.Shape))
	for d, c := range chunks {
		if a := l.View.Axis[d]; a >= 0 {
			lengths[a] = (c + abs(l.View.Step[d]) - 1) / abs(l.View.Step[d])
		}
	}
	return clip(lengths, l.View.Shape)
}

// grow makes a box of whole stored chunks, as many as fit into room elements: along the last
// axes first, so that its rows are long. One stored it always is.
func grow(stored, shape []int, room int) []int {
	box := clip(stored, shape)
	for d := len(box) - 1; d >= 0; d-- {
		times := room / max(grid.Size(box), 1)
		if times < 1 {
			break
		}
		box[d] = max(min(box[d]*times, shape[d]), 1)
		if box[d] < shape[d] {
			box[d] -= box[d] % stored[d]
			break
		}
	}
	return box
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
