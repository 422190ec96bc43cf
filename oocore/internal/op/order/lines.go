package order

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("sort_lines", Lines{}, blockwise.KeepsAxes) }

// Lines sorts whole lines, each in memory.
type Lines struct {
	Sorting
	Shape []int
	Axis  int
	First int // of each line only the first so many; 0: all
}

// lineBytes is about what an operation on whole lines reads at once.
const lineBytes = 4 << 20

// Moves reports the axis of the lines.
func (s Lines) Moves(axis int) bool { return axis == s.Axis }

// Chunks are whole lines.
func (s Lines) Chunks() []int {
	box := slab(s.Shape, []int{s.Axis}, s.item())
	box[s.Axis] = s.length()
	return box
}

// scattered reports lines that lie in a large array in short tiles.
func (s Lines) scattered() bool { return scattered(s.Chunks(), s.Shape, s.item()) }

// scattered reports boxes of a large array that lie in it in short tiles, each of which
// a file would be read and written by.
func scattered(box, shape []int, size int) bool {
	const short, large = 1 << 10, 32 << 20
	return grid.Run(box, shape, size) < short && grid.Size(shape)*size > large
}

// length is that of the lines of the result.
func (s Lines) length() int {
	if s.First > 0 {
		return min(s.First, s.Shape[s.Axis])
	}
	return s.Shape[s.Axis]
}

// read is the box of the input that a box of the result is made of.
func (s Lines) read(box []int) []int {
	box = slices.Clone(box)
	box[s.Axis] = s.Shape[s.Axis]
	return box
}

// slab is a box of whole axes, with as many neighbours along the others as make about
// lineBytes: those that lie next to each other first.
func slab(shape, axes []int, size int) []int {
	others, line := slices.Clone(shape), max(size, 1)
	for _, a := range axes {
		others[a] = 1
		line *= max(shape[a], 1)
	}
	box := grid.Auto(others, line, lineBytes)
	for _, a := range axes {
		box[a] = max(shape[a], 1)
	}
	return box
}

// item is the bytes of the larger of an element and its place in the result.
func (s Lines) item() int {
	if s.Positions {
		return max(s.Type.Size(), 8)
	}
	return s.Type.Size()
}

// inPlace reports lines that are sorted where they lie in the result.
func (s Lines) inPlace(box []int) bool {
	return s.First == 0 && !s.Positions && s.Type.Kind() != dtype.KindComplex && grid.Size(box[s.Axis+1:]) == 1
}

// Requirements is the box of lines, and two lines of records.
func (s Lines) Requirements(box []int) blockwise.Requirements {
	read := s.read(box)
	n := blockwise.Requirements{Reads: [][]int{read}}
	line := blockwise.Aligned(read[s.Axis] * s.records(read[s.Axis]).size())
	n.Scratch = 2 * line
	if s.inPlace(box) {
		n.Scratch = line
	}
	if s.Positions || s.First > 0 {
		n.Scratch += blockwise.Aligned(grid.Size(read) * s.Type.Size())
	}
	return n
}

// Fill reads the lines and sorts one after the other.
func (s Lines) Fill(ctx context.Context, t *blockwise.Task) error {
	in, scratch := t.Dst, t.Scratch
	read := grid.Box{Start: slices.Clone(t.Box.Start), Shape: s.read(t.Box.Shape)}
	read.Start[s.Axis] = 0
	if s.Positions || s.First > 0 {
		n := read.Size() * s.Type.Size()
		in, scratch = scratch[:n], scratch[blockwise.Aligned(n):]
	}
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		s.sort(t.Dst, in, scratch, read.Shape)
		return nil
	})
}

func (s Lines) sort(dst, in, scratch []byte, box []int) {
	n, inner := box[s.Axis], grid.Size(box[s.Axis+1:])
	r := s.records(n)
	bytes := n * r.size()
	if s.inPlace(box) {
		for at := 0; at < len(dst); at += bytes {
			line := dst[at : at+bytes]
			r.load(line, line, 0, 1, n, 0)
			r.store(line, 0, 1, r.sort(line, scratch[:bytes]))
		}
		return
	}
	a, b := scratch[:bytes], scratch[blockwise.Aligned(bytes):][:bytes]
	for outer := range grid.Size(box[:s.Axis]) {
		for i := range inner {
			r.load(a, in, outer*n*inner+i, inner, n, 0)
			sorted := a
			if k := s.length(); k < n {
				r.first(a, b, k)
				sorted = a[:k*r.size()]
			} else {
				sorted = r.sort(a, b)
			}
			r.store(dst, outer*s.length()*inner+i, inner, sorted)
		}
	}
}
