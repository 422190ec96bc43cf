package plan

import (
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// The sizes that grids aim at, in bytes. Results do not depend on a map's,
// but the order of additions in a reduction does.
const (
	chunkBytes = 4 << 20   // a task's share of the largest array: long enough to stream, small enough for many in 64 MiB
	tileBytes  = 256 << 10 // what is read at once: it stays in a core's own cache until it is consumed
	keptElems  = 64 << 10  // accumulators of one task of a reduction
	// keptOfCells is the same where inputs are chunked: a chunk that is cut is decoded
	// more than once.
	keptOfCells = 256 << 10
	crossTasks  = 16 // at the least where input and output lie crosswise, if they are large
)

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

// crossing returns the domain axis along which a transposed input is contiguous,
// or -1 where all inputs lie as the domain does.
func crossing(prog *Program) int {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind == LoadArray && l.Permuted() {
			for d := len(l.View.Axis) - 1; d >= 0; d-- {
				if l.View.Axis[d] >= 0 {
					return l.View.Axis[d]
				}
			}
		}
	}
	return -1
}

// mapChunks are whole rows of about chunkBytes. Where an input is transposed they
// are not: what is long in the output is short in the input.
func (p *Plan) mapChunks(prog *Program, shape []int, outSize int) []int {
	size := prog.itemSize(outSize)
	if prog.blocks() {
		return p.opChunks(prog, shape, size)
	}
	if fast := crossing(prog); fast >= 0 && fast != len(shape)-1 {
		// Runs are short on both sides, so that chunks are as large as leaves enough of them.
		return square(shape, fast, min(max(grid.Size(shape)*size/crossTasks, chunkBytes), bandBytes)/size)
	}
	chunks := grid.Auto(shape, size, chunkBytes)
	alignRows(chunks, shape, outSize)
	return chunks
}

// alignRows shortens the split axis so that a chunk's bytes are whole pages: then
// chunks of a file in C order are written past the page cache without sharing
// pages.
func alignRows(chunks, shape []int, size int) {
	row := size
	for i := len(shape) - 1; i >= 0; i-- {
		if chunks[i] < shape[i] {
			unit := disk.Page / gcd(disk.Page, row)
			if chunks[i] >= unit {
				chunks[i] -= chunks[i] % unit
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
// accumulators to stay small. Where an input's chunks have lengths of their own, cell
// not nil, they are whole numbers of those, with more positions.
func reduceChunks(prog *Program, cell, shape, axes []int) []int {
	room := max(chunkBytes/prog.itemSize(1), 1)
	kept := keptElems
	reduced := make([]bool, len(shape))
	for _, a := range axes {
		reduced[a] = true
	}
	if cell != nil {
		return reduceCells(cell, shape, reduced, room)
	}
	chunks := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
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

// reduceCells are as many cells as fit into room elements, and a cell at least,
// except where that has too many kept positions.
func reduceCells(cell, shape []int, reduced []bool, room int) []int {
	box := clip(cell, shape)
	kept := func() int {
		n := 1
		for d := range box {
			if !reduced[d] {
				n *= box[d]
			}
		}
		return n
	}
	for d := 0; kept() > keptOfCells; d++ {
		if !reduced[d] {
			box[d] = max(box[d]*keptOfCells/kept(), 1)
		}
	}
	for d := len(box) - 1; d >= 0; d-- {
		times := room / grid.Size(box)
		if !reduced[d] {
			times = min(times, keptOfCells/kept())
		}
		if times > 1 {
			box[d] = max(min(box[d]*times, shape[d]), 1)
		}
	}
	return box
}

// within cuts a chunk into boxes of at most elems elements that follow each other
// in C order, each a whole number of units along the axis where the unit is cut.
func within(chunk []int, elems int, unit []int) []int {
	box := grid.Auto(chunk, 1, elems)
	for i := range box {
		if box[i] < chunk[i] && unit[i] < box[i] {
			box[i] -= box[i] % unit[i]
		} else if box[i] < unit[i] {
			box[i] = unit[i]
		}
	}
	return box
}
