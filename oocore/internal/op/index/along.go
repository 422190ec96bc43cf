package index

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("take_along_axis", Along{}, blockwise.Exact, blockwise.OnlyMoves, blockwise.Selects, blockwise.KeepsAxes)
}

// Along is the elements of each line along an axis that the same line of an array of
// indices points to.
type Along struct {
	Axis  int
	Shape []int // of the input
	Tile  []int // lengths of what is read of it at once
	Cut   []int // chunks of the result; nil: any
	Item  int   // bytes of an element
}

// Moves reports the axis of the lines.
func (o Along) Moves(axis int) bool { return axis == o.Axis }

// Chunks are whole lines where the axis is not the last: a box of rows would read the
// whole input.
func (o Along) Chunks() []int { return o.Cut }

// Requirements is a tile of the input, and the indices.
func (o Along) Requirements(box []int) blockwise.Requirements {
	reads := slices.Clone(box)
	reads[o.Axis] = o.Shape[o.Axis]
	for d := range reads {
		reads[d] = max(min(reads[d], o.Tile[d]), 1)
	}
	return blockwise.Requirements{Reads: [][]int{reads, slices.Clone(box)}, DisjointReads: true,
		Scratch: blockwise.Aligned(8*grid.Size(box)) + int64(grid.Size(reads)*o.Item)}
}

// Fill reads the indices, and of the input tile by tile what lies between the lowest
// and the highest of them.
func (o Along) Fill(ctx context.Context, t *blockwise.Task) error {
	k := t.Box.Size()
	index := dtype.Slice[int64](t.Scratch[:8*k])
	buffer := t.Scratch[blockwise.Aligned(8*k):]
	if err := t.ComputeFrom(ctx, 1, t.Box, t.Scratch[:8*k], func() error {
		_, err := resolve(index, o.Axis, o.Shape[o.Axis])
		return err
	}); err != nil {
		return err
	}
	tile := slices.Clone(o.Tile)
	tile[o.Axis] = max(t.Box.Shape[o.Axis], 1)
	strides := grid.Strides(t.Box.Shape)
	origin := make([]int, len(tile))
	origin[o.Axis] = t.Box.Start[o.Axis]
	for part := range t.Box.Align(origin, tile) {
		l := lines{Along: o, part: part, index: index, at: grid.Offset(part.Start, t.Box), strides: strides}
		for low := 0; ; {
			var high int
			var some bool
			if err := t.Compute(func() error { low, high, some = l.next(int64(low)); return nil }); err != nil {
				return err
			}
			if !some {
				break
			}
			from := grid.Box{Start: slices.Clone(part.Start), Shape: slices.Clone(part.Shape)}
			from.Start[o.Axis], from.Shape[o.Axis] = low, high-low+1
			in := buffer[:from.Size()*o.Item]
			if err := t.ComputeFrom(ctx, 0, from, in, func() error { l.pick(t.Dst, in, low, high); return nil }); err != nil {
				return err
			}
			low = high + 1
		}
	}
	return nil
}

// lines picks elements of a part of the box.
type lines struct {
	Along
	part    grid.Box
	index   []int64 // of the box
	at      int     // of the part in the box
	strides []int
}

// each goes through the rows of the part along the last axis: their places in the box,
// and in what is read with a length along the axis.
func (l *lines) each(length int, visit func(at, src, n int)) {
	last := len(l.part.Shape) - 1
	shape := slices.Clone(l.part.Shape)
	shape[l.Axis] = length
	source := grid.Strides(shape)
	source[l.Axis] = 0
	for at, src := range grid.Places(l.part.Shape[:last], l.strides, source) {
		visit(l.at+at, src, l.part.Shape[last])
	}
}

// next is the lowest index of the part from one on, and the highest that is read with
// it.
func (l *lines) next(from int64) (low, high int, some bool) {
	first, last := int64(l.Shape[l.Axis]), int64(-1)
	l.each(1, func(at, _, n int) {
		for _, x := range l.index[at : at+n] {
			if x >= from {
				first = min(first, x)
				last = max(last, x)
			}
		}
	})
	if last < 0 {
		return 0, 0, false
	}
	most := int64(l.Tile[l.Axis])
	return int(first), int(min(last, (first/most+1)*most-1)), true
}

// pick puts those elements in their places that lie from low to high along the axis.
func (l *lines) pick(dst, in []byte, low, high int) {
	kernel.BySize(l.Item, pick[uint8], pick[uint16], pick[uint32], pick[uint64], pick[complex128])(l, dst, in, low, high)
}

func pick[T dtype.Element](l *lines, to, from []byte, low, high int) {
	dst, in := dtype.Slice[T](to), dtype.Slice[T](from)
	count := high - low + 1
	step, along := grid.Size(l.part.Shape[l.Axis+1:]), 0
	if l.Axis < len(l.part.Shape)-1 {
		along = 1
	}
	l.each(count, func(at, src, n int) {
		for i, x := range l.index[at : at+n] {
			if j := int(x) - low; j >= 0 && j < count {
				dst[at+i] = in[src+j*step+i*along]
			}
		}
	})
}

// TakeAlong is the elements that indices point to along an axis, line by line, as
// NumPy's take_along_axis: what argsort and argmax give finds its elements so. The
// other axes broadcast.
func TakeAlong(site graph.Site, n, indices *graph.Node, axis int) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "take_along_axis", n, indices)
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil && len(indices.Shape) != len(n.Shape) {
		err = fmt.Errorf("indices of shape %s do not have the dimensions of %s", grid.Format(indices.Shape), grid.Format(n.Shape))
	}
	if err == nil {
		indices, err = Integers(site, indices)
	}
	if err != nil {
		return nil, err
	}
	from, to := slices.Clone(n.Shape), slices.Clone(indices.Shape)
	from[at], to[at] = 1, 1
	shape, err := grid.Broadcast(from, to)
	if err != nil {
		return nil, fmt.Errorf("indices of shape %s are not for lines of %s along axis %d", grid.Format(indices.Shape), grid.Format(n.Shape), at)
	}
	length := n.Shape[at]
	from, to = slices.Clone(shape), slices.Clone(shape)
	from[at], to[at] = length, indices.Shape[at]
	if grid.Size(to) == 0 {
		return empty(site, n.DType, to), nil
	}
	if length == 0 {
		return nil, fmt.Errorf("axis %d has no elements to take", at)
	}
	if n, err = graph.BroadcastTo(site, n, from...); err != nil {
		return nil, err
	}
	if indices, err = graph.BroadcastTo(site, indices, to...); err != nil {
		return nil, err
	}
	op := Along{Axis: at, Shape: from, Item: n.DType.Size()}
	op.Tile, op.Cut = lineTiles(from, to, at, max(op.Item, 8))
	return graph.NewBlockwise(site, "take_along_axis", op, to, n.DType, []*graph.Node{n, indices}, strconv.Itoa(axis))
}

// lineBytes is about what lines of the input and of the result take at once.
const lineBytes = 4 << 20

// lineTiles cuts the input by whole lines where those fit, and the result alike where
// the axis is not the last.
func lineTiles(from, to []int, axis, item int) (tile, cut []int) {
	others := slices.Clone(from)
	others[axis] = 1
	long := max(from[axis], to[axis])
	if axis == len(from)-1 {
		tile = grid.Auto(others, item*min(long, lineBytes/item), lineBytes)
		tile[axis] = min(from[axis], lineBytes/item)
		return tile, nil
	}
	// Some lines together, so that what is read has runs, also where they are long.
	const run = 64
	room := max(lineBytes/item/long, min(run, grid.Size(others[axis+1:])))
	tile = grid.Auto(others, 1, room)
	cut = slices.Clone(tile)
	width := grid.Size(tile)
	tile[axis] = max(min(from[axis], lineBytes/item/width), 1)
	cut[axis] = max(min(to[axis], lineBytes/item/width), 1)
	return tile, cut
}
