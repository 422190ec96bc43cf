// Package grid is the arithmetic of shapes: chunk grids, boxes, NumPy slices
// and the views that map one array's indices to another's.
//
// It holds no data and does no I/O. Shapes are in elements; a shape of no
// dimensions is a scalar's and has one element.
package grid

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/types"
)

// MaxDims is the largest number of dimensions, NumPy's before version 2.
const MaxDims = 32

// Check rejects a shape with a negative length, too many dimensions, or more
// bytes than an int64 counts.
func Check(shape []int, itemsize int) error {
	if len(shape) > MaxDims {
		return fmt.Errorf("shape has %d dimensions, at most %d are possible", len(shape), MaxDims)
	}
	for _, n := range shape {
		if n < 0 {
			return fmt.Errorf("shape %s has a negative length", Format(shape))
		}
	}
	// NumPy rejects an overflow even where another axis has length zero.
	bytes := int64(max(itemsize, 1))
	for _, n := range shape {
		if n == 0 {
			continue
		}
		if bytes > math.MaxInt64/int64(n) {
			return fmt.Errorf("shape %s of %d-byte elements has more bytes than 63 bits count", Format(shape), itemsize)
		}
		bytes *= int64(n)
	}
	return nil
}

// Size returns the number of elements.
func Size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Format writes a shape as NumPy does: (3, 4), (5,), ().
func Format(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.Itoa(n)
	}
	s := strings.Join(parts, ", ")
	if len(shape) == 1 {
		s += ","
	}
	return "(" + s + ")"
}

// Parse reads a shape written as 3075200x512, 1,256,1024, [384, 192] or (5,).
func Parse(s string) ([]int, error) {
	wrong := fmt.Errorf("%q is not a shape: write lengths such as 3075200x512", s)
	text := strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "[]()"))
	shape := []int{}
	if text == "" {
		if strings.TrimSpace(s) == "" {
			return nil, wrong
		}
		return shape, nil
	}
	text = strings.NewReplacer("X", "x", "×", "x", ",", "x").Replace(strings.TrimSuffix(text, ","))
	for field := range strings.SplitSeq(text, "x") {
		words := strings.Fields(field)
		if len(words) == 0 { // between two separators, or behind the last
			return nil, wrong
		}
		for _, w := range words {
			n, err := strconv.Atoi(strings.ReplaceAll(w, "_", ""))
			if err != nil || n < 0 {
				return nil, wrong
			}
			shape = append(shape, n)
		}
	}
	return shape, nil
}

// Strides returns those of a dense array in C order, in elements.
func Strides(shape []int) []int {
	strides := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

// Broadcast returns NumPy's: lengths are aligned at the last axis and must be equal
// or one.
func Broadcast(shapes ...[]int) ([]int, error) {
	var out []int
	for _, s := range shapes {
		if len(s) > len(out) {
			out = append(slices.Repeat([]int{1}, len(s)-len(out)), out...)
		}
		for i, n := range s {
			j := len(out) - len(s) + i
			switch {
			case out[j] == n || n == 1:
			case out[j] == 1:
				out[j] = n
			default:
				names := make([]string, len(shapes))
				for k, t := range shapes {
					names[k] = Format(t)
				}
				return nil, fmt.Errorf("shapes %s do not broadcast together", strings.Join(names, " and "))
			}
		}
	}
	return out, nil
}

// Axis resolves NumPy's negative axes.
func Axis(axis, dims int) (int, error) {
	if axis < -dims || axis >= dims {
		return 0, fmt.Errorf("axis %d is out of bounds for array of dimension %d", axis, dims)
	}
	if axis < 0 {
		axis += dims
	}
	return axis, nil
}

// Axes resolves a list of axes, none of them twice. No axes means all.
func Axes(axes []int, dims int) ([]int, error) {
	if len(axes) == 0 {
		return UpTo(dims), nil
	}
	out := make([]int, len(axes))
	for i, a := range axes {
		r, err := Axis(a, dims)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out[:i], r) {
			return nil, fmt.Errorf("axis %d is named twice", a)
		}
		out[i] = r
	}
	slices.Sort(out)
	return out, nil
}

// Box is a rectangle of an array.
type Box = types.Box

// UpTo returns the numbers below n, such as all axes of n.
func UpTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Entire returns the box of all elements of a shape.
func Entire(shape []int) Box { return Box{Start: make([]int, len(shape)), Shape: shape} }

// Within returns a box in the indices of another that holds it.
func Within(b, outer Box) Box {
	start := slices.Clone(b.Start)
	for d := range start {
		start[d] -= outer.Start[d]
	}
	return Box{Start: start, Shape: b.Shape}
}

// Meet returns what two boxes have in common.
func Meet(a, b Box) Box {
	c := Box{Start: make([]int, len(a.Start)), Shape: make([]int, len(a.Start))}
	for d := range c.Start {
		c.Start[d] = max(a.Start[d], b.Start[d])
		c.Shape[d] = max(0, min(a.Start[d]+a.Shape[d], b.Start[d]+b.Shape[d])-c.Start[d])
	}
	return c
}

// Offset returns the place of an element among those of a box, which lie in C order.
func Offset(at []int, in Box) int {
	n := 0
	for d, i := range at {
		n = n*in.Shape[d] + i - in.Start[d]
	}
	return n
}

// Dense reports that the elements of a part of an array follow each other in it.
func Dense(part, shape []int) bool { return Run(part, shape, 1) == Size(part) }

// Run returns how many bytes of a box lie together in an array in C order.
func Run(box, shape []int, size int) int {
	for d := len(shape) - 1; d >= 0; d-- {
		size *= box[d]
		if box[d] < shape[d] {
			break
		}
	}
	return size
}

// Grid cuts a shape into chunks, the last of each axis possibly short.
type Grid struct {
	Shape  []int `json:"shape"`
	Chunks []int `json:"chunks"`
	// Offset is by how much the first chunk of each axis is short, as in the grid of a
	// region that begins inside a chunk of the whole; nil is by nothing.
	Offset []int `json:"offset,omitempty"`
}

// Whole returns the grid of one chunk.
func Whole(shape []int) Grid {
	chunks := slices.Clone(shape)
	for i := range chunks {
		chunks[i] = max(chunks[i], 1)
	}
	return Grid{Shape: shape, Chunks: chunks}
}

// offset is by how much the first chunk along an axis is short.
func (g Grid) offset(axis int) int {
	if g.Offset == nil {
		return 0
	}
	return g.Offset[axis]
}

// Count returns the number of chunks along an axis.
func (g Grid) Count(axis int) int {
	if g.Shape[axis] == 0 {
		return 0
	}
	return (g.Shape[axis] + g.offset(axis) + g.Chunks[axis] - 1) / g.Chunks[axis]
}

// Len returns the number of chunks: none where an axis is empty, one for a scalar.
func (g Grid) Len() int {
	n := 1
	for i := range g.Shape {
		n *= g.Count(i)
	}
	return n
}

// Box returns the i-th chunk in C order.
func (g Grid) Box(i int) Box {
	d := len(g.Shape)
	ints := make([]int, 2*d)
	b := Box{Start: ints[:d:d], Shape: ints[d:]}
	for axis := d - 1; axis >= 0; axis-- {
		n := g.Count(axis)
		at := i%n*g.Chunks[axis] - g.offset(axis)
		i /= n
		end := min(at+g.Chunks[axis], g.Shape[axis])
		b.Start[axis] = max(at, 0)
		b.Shape[axis] = end - b.Start[axis]
	}
	return b
}

// All iterates over the chunks in C order.
func (g Grid) All() iter.Seq2[int, Box] {
	return func(yield func(int, Box) bool) {
		for i := range g.Len() {
			if !yield(i, g.Box(i)) {
				return
			}
		}
	}
}

// Places iterates over the positions of a shape in C order: how far each is from the first by
// one and by other strides, which may have more axes.
func Places(shape, one, other []int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		at := make([]int, len(shape))
		i, j := 0, 0
		for range Size(shape) {
			if !yield(i, j) {
				return
			}
			for d := len(shape) - 1; d >= 0; d-- {
				i, j, at[d] = i+one[d], j+other[d], at[d]+1
				if at[d] < shape[d] {
					break
				}
				i, j, at[d] = i-shape[d]*one[d], j-shape[d]*other[d], 0
			}
		}
	}
}

// Auto cuts a shape into C-contiguous chunks of about target bytes: full
// trailing axes, whole rows where they fit.
func Auto(shape []int, itemsize, target int) []int {
	chunks := make([]int, len(shape))
	room := max(target/max(itemsize, 1), 1)
	for i := len(shape) - 1; i >= 0; i-- {
		chunks[i] = max(min(shape[i], room), 1)
		if room = room / chunks[i]; chunks[i] < shape[i] {
			room = 1
		}
	}
	return chunks
}

// Clip limits chunks to a shape.
func Clip(chunks, shape []int) []int {
	if chunks == nil {
		return nil
	}
	out := make([]int, len(shape))
	for i := range out {
		out[i] = max(min(chunks[i], shape[i]), 1)
	}
	return out
}
