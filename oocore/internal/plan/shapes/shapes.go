// Package shapes cuts shapes into chunks, tiles and blocks: by bytes, and by how what a program reads
// lies in its files.
package shapes

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// The bytes that chunks and tiles aim at.
const (
	ChunkBytes = 4 << 20   // a task's share of the largest array: long enough to stream, small enough for many in 64 MiB
	TileBytes  = 256 << 10 // what is read at once: it stays in a core's own cache until it is consumed
	ShortCross = 256       // a run below which copying it takes more than its bytes do
	// PassBytes is what a pass reads at once that brings an input into another order: of an array of
	// 512 columns that becomes chunks of 64 columns, it makes 512 KiB of each.
	PassBytes = 32 << 20
	// RowBytes is the most of a task that is widened to whole rows of a file.
	RowBytes = 128 << 20
	// AcrossBytes is from when on an input counts as lying across what is computed.
	AcrossBytes = 256 << 20
)

// Within cuts a chunk into boxes of at most elems elements that follow each other
// in C order, each a whole number of blocks along the axis where a block is cut.
func Within(chunk []int, elems int, block []int) []int {
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

// Grow makes a box of whole stored chunks, as many as fit into room elements: along the last
// axes first, so that its rows are long. One stored it always is.
func Grow(stored, shape []int, room int) []int {
	box := grid.Clip(stored, shape)
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

// Matrix is the box of rows × cols in the last two of dims axes.
func Matrix(dims, rows, cols int) []int {
	box := slices.Repeat([]int{1}, dims)
	box[dims-2], box[dims-1] = rows, cols
	return box
}

// Cube is a box of at most elems elements, alike along all axes that are long enough.
func Cube(shape []int, elems int) []int {
	box := grid.Clip(shape, shape)
	for grid.Size(box) > elems {
		longest := 0
		for d := range box {
			if box[d] > box[longest] {
				longest = d
			}
		}
		box[longest] = (box[longest] + 1) / 2
	}
	return box
}

// Crosswise cuts a chunk to about elems elements, alike along its last axis and along the last
// in the order of a transposed input. Where these have fewer, other axes are longer, up to filled
// elements. Where runs would have less than short elements of either, it is extended.
func Crosswise(chunk, input []int, elems, filled, short int) []int {
	last, fast := len(chunk)-1, input[len(input)-1]
	box := slices.Repeat([]int{1}, len(chunk))
	both := Cube([]int{chunk[fast], chunk[last]}, elems)
	box[fast], box[last] = both[0], both[1]
	fill(box, chunk, filled)
	if min(grid.Run(box, chunk, 1), Run(box, chunk, input)) < short {
		return extended(chunk, input, elems, filled, short)
	}
	return box
}

// fill makes a box longer along axes of one element, the last first, up to so many elements.
func fill(box, chunk []int, filled int) {
	for d := len(box) - 1; d >= 0; d-- {
		if box[d] == 1 {
			box[d] = max(min(chunk[d], filled/max(grid.Size(box), 1)), 1)
		}
	}
}

// Run is grid.Run of an array whose axes have another order.
func Run(box, chunk, order []int) int {
	n := 1
	for _, d := range slices.Backward(order) {
		if n *= box[d]; box[d] < chunk[d] {
			break
		}
	}
	return n
}

// extended is a box of about elems elements that has with the last axis of each order as many
// before it as make long elements together, where there are such axes: as long runs to write as
// leave those to read.
func extended(chunk, input []int, elems, filled, long int) []int {
	last, fast := len(chunk)-1, input[len(input)-1]
	own := grid.UpTo(len(chunk))
	taken := make([]bool, len(chunk))
	taken[last], taken[fast] = true, true
	group := func(order []int) (axes []int, n int) { // from the last on
		n = 1
		for i, d := range slices.Backward(order) {
			if n >= long || i < len(order)-1 && taken[d] {
				break
			}
			axes, n, taken[d] = append(axes, d), n*chunk[d], true
		}
		return axes, n
	}
	write, n := group(own)
	read, m := group(input)
	if filled > 0 {
		elems = min(elems, filled)
	}
	n = max(min(n, elems/max(min(m, long), 1)), 1)
	m = max(min(m, elems/n), 1)
	box := slices.Repeat([]int{1}, len(chunk))
	take := func(axes []int, room int) {
		for _, d := range axes {
			box[d] = max(min(chunk[d], room), 1)
			room /= box[d]
		}
	}
	take(write, n)
	take(read, m)
	fill(box, chunk, filled)
	return box
}
