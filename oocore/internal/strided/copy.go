package strided

import (
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Copy copies the elements of a box between two others that it is part of, whose own elements
// dst and src have in C order.
func Copy(size int, part grid.Box, dst []byte, to grid.Box, src []byte, from grid.Box) {
	var ints [2 * grid.MaxDims]int // on the stack
	n := len(part.Shape)
	toStrides, fromStrides := ints[:n], ints[grid.MaxDims:][:n]
	for d, i, j := n-1, 1, 1; d >= 0; d-- {
		toStrides[d], fromStrides[d] = i, j
		i, j = i*to.Shape[d], j*from.Shape[d]
	}
	kernel.Copy(size, part.Shape, dst, grid.Offset(part.Start, to), toStrides, src, grid.Offset(part.Start, from), fromStrides)
}

// Gather copies the region's elements from src to dst, where they are dense.
// src[0] is byte at of the array.
func (l Layout) Gather(dst, src []byte, at int64) {
	shape, dense, apart, skip := l.strides(at)
	kernel.Copy(l.item, shape, dst, 0, dense, src[skip:], apart[0], apart[1:])
}

// Scatter copies dense elements from src to the region's places in dst. dst[0]
// is byte at of the array.
func (l Layout) Scatter(dst, src []byte, at int64) {
	shape, dense, apart, skip := l.strides(at)
	kernel.Copy(l.item, shape, dst[skip:], apart[0], apart[1:], src, 0, dense)
}

// strides describes the layout in elements, for memory that begins at byte at
// of the array: the dense strides, and behind the place of the first element
// those that leave gaps. An array need not begin at a multiple of its elements'
// size in a file; skip is the number of bytes up to the first such place.
func (l Layout) strides(at int64) (shape, dense, apart []int, skip int) {
	n := len(l.Axes)
	ints := make([]int, 3*(n+1)+1)
	shape, dense, apart = ints[:n+1], ints[n+1:2*(n+1)], ints[2*(n+1):]
	skip = int((l.Start - at) % int64(l.item))
	apart[0] = int(l.Start-at) / l.item
	for i, a := range l.Axes {
		shape[i], apart[i+1] = a.Count, int(a.Stride)/l.item
	}
	shape[n], apart[n+1] = l.Run/l.item, 1
	for i, size := n, 1; i >= 0; i-- {
		dense[i] = size
		size *= shape[i]
	}
	return shape, dense, apart, skip
}
