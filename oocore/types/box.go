package types

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Box is a rectangle of an array: Start included, Start+Shape excluded.
type Box struct {
	Start, Shape []int
}

// Size returns the number of elements in the box.
func (b Box) Size() int { return product(b.Shape) }

func product(lengths []int) int {
	n := 1
	for _, d := range lengths {
		n *= d
	}
	return n
}

// String writes the box as a NumPy slice: [0:4, 2:6].
func (b Box) String() string {
	parts := make([]string, len(b.Start))
	for i := range parts {
		parts[i] = fmt.Sprintf("%d:%d", b.Start[i], b.Start[i]+b.Shape[i])
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Move returns the box at another place.
func (b Box) Move(by []int) Box {
	start := slices.Clone(b.Start)
	for i := range min(len(start), len(by)) {
		start[i] += by[i]
	}
	return Box{start, b.Shape}
}

// Split iterates over the parts of a box in C order, each of at most the given lengths. A part
// may be the box itself: it is for reading only.
func (b Box) Split(lengths []int) iter.Seq[Box] { return b.Align(b.Start, lengths) }

// Align iterates over the parts of a box, in C order, that lie in different chunks of a grid of
// the given lengths, which begins at origin; nil is the first element. An axis without a length is not split. A part may be
// the box itself: it is for reading only.
func (b Box) Align(origin, lengths []int) iter.Seq[Box] {
	// length returns the length, along an axis, of the part that begins at a place.
	length := func(axis, at int) int {
		rest, offset := b.Start[axis]+b.Shape[axis]-at, at
		if axis >= len(lengths) || lengths[axis] <= 0 {
			return rest
		}
		if axis < len(origin) {
			offset -= origin[axis]
		}
		if offset %= lengths[axis]; offset < 0 {
			offset += lengths[axis]
		}
		return min(lengths[axis]-offset, rest)
	}
	return func(yield func(Box) bool) {
		one := true
		for axis, n := range b.Shape {
			if n == 0 {
				return
			}
			one = one && length(axis, b.Start[axis]) == n
		}
		if one {
			yield(b)
			return
		}
		dims := len(b.Start)
		at := slices.Clone(b.Start)
		for axis := 0; axis >= 0; {
			ints := make([]int, 2*dims)
			p := Box{ints[:dims:dims], ints[dims:]}
			copy(p.Start, at)
			for d := range at {
				p.Shape[d] = length(d, at[d])
			}
			if !yield(p) {
				return
			}
			for axis = dims - 1; axis >= 0; axis-- {
				if at[axis] += length(axis, at[axis]); at[axis] < b.Start[axis]+b.Shape[axis] {
					break
				}
				at[axis] = b.Start[axis]
			}
		}
	}
}

// Region returns the region of all elements of the box, with steps of one.
func (b Box) Region() Region {
	return Region{b.Start, b.Shape, slices.Repeat([]int{1}, len(b.Start))}
}

// Region is a rectangle of an array with steps: along axis d the Count[d] indices
// Start[d] + Step[d]·i. Steps are positive or negative, never zero.
type Region struct {
	Start, Count, Step []int
}

// Size returns the number of elements in the region.
func (r Region) Size() int { return product(r.Count) }

// These types name what a bool argument means. A call takes their constants, or true and false.
type (
	// Side says whether a value is placed before or after the elements that equal it.
	Side bool
	// Triangle is the part of a matrix below and on a diagonal, or above and on it.
	Triangle bool
	// Indexing is the order of a mesh's first two axes: NumPy's "xy" or "ij".
	Indexing bool
	// Remainder says what happens to elements at the end of an axis that do not fill a block.
	Remainder bool
	// Variables says whether the rows or the columns of a matrix are the variables.
	Variables bool
	// Beginning says whether cumulative sums begin with the first element, or with the initial value before it.
	Beginning bool
)

// The values of these types.
const (
	Left    Side      = false
	Right   Side      = true
	Lower   Triangle  = false
	Upper   Triangle  = true
	XY      Indexing  = false
	IJ      Indexing  = true
	Exact   Remainder = false
	Trim    Remainder = true
	Rows    Variables = false
	Columns Variables = true
	First   Beginning = false
	Initial Beginning = true
)

// String returns the word that stands for the value in expressions.
func (s Side) String() string {
	if s == Right {
		return "right"
	}
	return "left"
}

// String returns the word that stands for the value in expressions.
func (t Triangle) String() string {
	if t == Upper {
		return "upper"
	}
	return "lower"
}
