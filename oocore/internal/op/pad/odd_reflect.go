package pad

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

func init() { blockwise.Register("odd_reflect", OddReflect{}, blockwise.KeepsAxes) }

// OddReflect is an array with, before and after it along an axis, twice its edge less what is
// on the other side of that. There are at least as many elements as are added on a
// side, and one more where the edge is not Twice reflected.
type OddReflect struct {
	Axis, Len     int // of the input
	Before, After int
	Twice         bool
	Type          dtype.Type
}

// Requirements is what is reflected, the same turned round, and the edge.
func (o OddReflect) Requirements(box []int) blockwise.Requirements {
	reads := slices.Clone(box)
	reads[o.Axis] = min(box[o.Axis], o.Len)
	edge := grid.Size(box) / box[o.Axis]
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: int64((2*grid.Size(reads) + edge) * o.Type.Size()), DisjointReads: true}
}

// Fill puts the parts of the box together.
func (o OddReflect) Fill(ctx context.Context, t *blockwise.Task) error {
	low, high := t.Box.Start[o.Axis], t.Box.Start[o.Axis]+t.Box.Shape[o.Axis]
	for i, part := range [][2]int{{0, o.Before}, {o.Before, o.Before + o.Len}, {o.Before + o.Len, o.Before + o.Len + o.After}} {
		first, last := max(low, part[0]), min(high, part[1])
		if first >= last {
			continue
		}
		from := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
		at := make([]int, len(from.Start))
		at[o.Axis], from.Shape[o.Axis] = first-low, last-first
		var err error
		if i == 1 {
			from.Start[o.Axis] = first - o.Before
			err = t.Place(ctx, 0, from, at, o.Type.Size())
		} else {
			err = o.reflect(ctx, t, from, at, first-o.Before, i == 2)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reflect fills a part of the box, before or after the input, whose first index is j of the
// input's.
func (o OddReflect) reflect(ctx context.Context, t *blockwise.Task, from grid.Box, at []int, j int, after bool) error {
	size, n := o.Type.Size(), from.Shape[o.Axis]
	edge, twice := 0, 0
	if o.Twice {
		twice = 1
	}
	last := -j - twice // of the reflected, the first of the part
	if after {
		edge = o.Len - 1
		last = 2*edge - j + twice
	}
	from.Start[o.Axis] = last - n + 1
	bytes := from.Size() * size
	in, turned := t.Scratch[:bytes], t.Scratch[bytes:2*bytes]
	if err := t.In[0].Read(ctx, from, in); err != nil {
		return err
	}
	edges := grid.Box{Start: slices.Clone(from.Start), Shape: slices.Clone(from.Shape)}
	edges.Start[o.Axis], edges.Shape[o.Axis] = edge, 1
	ends := t.Scratch[2*bytes : 2*bytes+edges.Size()*size]
	return t.ComputeFrom(ctx, 0, edges, ends, func() error {
		strides := grid.Strides(from.Shape)
		back := slices.Clone(strides)
		back[o.Axis] = -back[o.Axis]
		kernel.Copy(size, from.Shape, turned, 0, strides, in, (n-1)*strides[o.Axis], back)
		l := layout{n: n, inner: strides[o.Axis]}
		if !o.subtract(turned, ends, l) {
			return fmt.Errorf("an odd reflection of %s is not defined", o.Type)
		}
		part := grid.Box{Start: at, Shape: from.Shape}
		strided.Copy(size, part, t.Dst, grid.Entire(t.Box.Shape), turned, part)
		return nil
	})
}

// layout is how elements lie along an axis: n of them, inner elements apart.
type layout struct{ n, inner int }

// subtract makes each element twice its line's edge less itself, as NumPy does: each of
// the two operations rounds to the type, integers wrap, and of bools what is not zero is
// true.
func (o OddReflect) subtract(x, edges []byte, l layout) bool {
	switch o.Type {
	case dtype.Bool:
		each(x, edges, l, func(e, v uint8) uint8 { return e | v })
	case dtype.Int8, dtype.Uint8:
		each(x, edges, l, func(e, v uint8) uint8 { return 2*e - v })
	case dtype.Int16, dtype.Uint16:
		each(x, edges, l, func(e, v uint16) uint16 { return 2*e - v })
	case dtype.Int32, dtype.Uint32:
		each(x, edges, l, func(e, v uint32) uint32 { return 2*e - v })
	case dtype.Int64, dtype.Uint64:
		each(x, edges, l, func(e, v uint64) uint64 { return 2*e - v })
	case dtype.Float32:
		each(x, edges, l, func(e, v float32) float32 { return float32(2*e) - v })
	case dtype.Float64:
		each(x, edges, l, func(e, v float64) float64 { return float64(2*e) - v })
	case dtype.Float16:
		each(x, edges, l, func(e, v dtype.Float16Bits) dtype.Float16Bits {
			return dtype.ToFloat16(dtype.ToFloat16(2*e.Float32()).Float32() - v.Float32())
		})
	case dtype.BFloat16:
		each(x, edges, l, func(e, v dtype.BFloat16Bits) dtype.BFloat16Bits {
			return dtype.ToBFloat16(dtype.ToBFloat16(2*e.Float32()).Float32() - v.Float32())
		})
	case dtype.Complex64:
		each(x, edges, l, func(e, v complex64) complex64 { return complex64(2*e) - v })
	case dtype.Complex128:
		each(x, edges, l, func(e, v complex128) complex128 { return complex128(2*e) - v })
	default:
		return false
	}
	return true
}

func each[T dtype.Element](x, edges []byte, l layout, f func(edge, v T) T) {
	ends := dtype.Slice[T](edges)
	for block := range slices.Chunk(dtype.Slice[T](x), l.n*l.inner) {
		for row := range slices.Chunk(block, l.inner) {
			for i := range row {
				row[i] = f(ends[i], row[i])
			}
		}
		ends = ends[l.inner:]
	}
}

// padOdd pads by as many elements as there are to reflect at a time, as NumPy does:
// what one round has added is reflected in the next.
func padOdd(site graph.Site, n *graph.Node, widths [][2]int, twice bool) (*graph.Node, error) {
	for axis, w := range widths {
		first := n.Shape[axis]
		if first == 1 { // of which NumPy repeats the edge
			edge := shape.IndexMap{Axes: make([]shape.Axis, len(n.Shape))}
			edge.Axes[axis] = shape.Axis{Kind: shape.KindEdge, Shift: w[0]}
			to := slices.Clone(n.Shape)
			to[axis] += w[0] + w[1]
			var err error
			if n, err = shape.Map(site, "pad", n, edge, to, "edge"); err != nil {
				return nil, err
			}
			continue
		}
		for w[0] > 0 || w[1] > 0 {
			op := OddReflect{Axis: axis, Len: n.Shape[axis], Twice: twice, Type: n.DType}
			most := (op.Len - 1) / (first - 1) * (first - 1) // whole periods
			if twice {
				most = op.Len / first * first
			}
			op.Before, op.After = min(w[0], most), min(w[1], most)
			to := slices.Clone(n.Shape)
			to[axis] += op.Before + op.After
			var err error
			if n, err = graph.NewBlockwise(site, "pad", op, to, n.DType, []*graph.Node{n}, "odd"); err != nil {
				return nil, err
			}
			w[0], w[1] = w[0]-op.Before, w[1]-op.After
		}
	}
	return n, nil
}
