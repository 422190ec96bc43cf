package oocore

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/types"
)

// T returns the array with its axes in reverse.
func (a *Array) T() *Array { return a.Transpose() }

// MatMul returns the matrix product over the last two axes, the others broadcast; a
// vector is a row on the left and a column on the right. Integers wrap in their own
// type; 16-bit floats add up in float32, and each element is rounded once.
//
// A type after b is NumPy's dtype: the product of what AsType makes of both, so that
// a.MatMul(b, Int32) of integers of 8 bits is exact up to 33,000 columns of a, and wraps
// beyond. It has to hold what both types hold. Integers of 8 bits and int16 for Int32,
// and 16-bit floats for Float32, are read and held as they are and widen as they are
// multiplied, also where AsType says so: in operands of Tensordot and Einsum.
func (a *Array) MatMul(b *Array, as ...DType) *Array {
	return build("matmul", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		switch len(as) {
		case 0:
			return graph.Product(site, in[0], in[1])
		case 1:
			return graph.ProductAs(site, in[0], in[1], as[0])
		}
		return nil, graph.Reject(site, "matmul", fmt.Errorf("a product has one type, not the %d of %v", len(as), as), in...)
	}, a, b)
}

// Rechunk returns the same array, to be stored in chunks of other lengths. Save uses them
// where its own options name none; -1 is the whole of an axis. What is computed from the
// array does not inherit them.
//
// Where the new chunks lie across the stored ones this takes one pass over the data if
// the output can be filled in pieces, as uncompressed chunks can, or the array fits into
// the budget; elsewhere two, by way of a file of blocks that suits both sides; never
// more. The plan says which, and how many bytes move.
func (a *Array) Rechunk(lengths ...int) *Array {
	out := door.One("rechunk", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		if len(lengths) != len(n.Shape) {
			return nil, graph.Reject(site, "rechunk", fmt.Errorf("%d lengths are not for shape %s", len(lengths), grid.Format(n.Shape)), n)
		}
		for d, c := range lengths {
			if c < 1 && c != -1 {
				return nil, graph.Reject(site, "rechunk", fmt.Errorf("a chunk length of %d along axis %d: give 1 or more, or -1 for the whole axis", c, d), n)
			}
		}
		return n, nil
	}, a)
	if n, err := out.expression(); err == nil {
		out.chunks = make([]int, len(lengths))
		for d, c := range lengths {
			if out.chunks[d] = c; c == -1 {
				out.chunks[d] = max(n.Shape[d], 1)
			}
		}
	}
	return out
}

// Operations that put elements in other places take part in whatever reads their
// result, with no pass over the data of their own; they hold what the boxes that are
// computed of them show of their inputs, unless they say otherwise.

// Split cuts the array along an axis into so many parts of equal length. Where it
// cannot, each of the parts says why.
func (a *Array) Split(sections, axis int) []*Array {
	return a.several("split", sections, func(site graph.Site, n *graph.Node) ([]*graph.Node, error) {
		return shape.Split(site, shape.SplitArgs{X: n, Sections: sections, Axis: axis})
	})
}

// SplitAt cuts the array along an axis before each of the indices. Where it cannot, each of
// the parts says why.
func (a *Array) SplitAt(axis int, indices ...int) []*Array {
	return a.several("split", len(indices)+1, func(site graph.Site, n *graph.Node) ([]*graph.Node, error) {
		return shape.SplitAt(site, n, indices, axis)
	})
}

// Meshgrid returns each array, as if flattened, along an axis of its own and constant along the
// others: the i-th along axis i with IJ; with XY the first two change places.
func Meshgrid(order types.Indexing, vectors ...*Array) []*Array {
	return door.Several[Array](len(vectors), "meshgrid", func(site graph.Site, in []*graph.Node) ([]*graph.Node, error) {
		return shape.Meshgrid(site, bool(order), in...)
	}, anys(vectors)...)
}

// Indices returns the index of each element of an array of the given lengths along each of
// its axes, as int64: NumPy's indices. They take no memory.
func Indices(lengths ...int) []*Array {
	nodes, err := shape.Indices(graph.Caller(), shape.IndicesArgs{Lengths: lengths})
	return door.All[Array](len(lengths), nodes, err)
}

// several returns the results of an operation on one array: see door.Several.
func (a *Array) several(op string, count int, operation func(site graph.Site, n *graph.Node) ([]*graph.Node, error)) []*Array {
	const most = 1 << 16
	return door.Several[Array](min(max(count, 1), most), op, func(site graph.Site, in []*graph.Node) ([]*graph.Node, error) { return operation(site, in[0]) }, a)
}

// PadOptions say what Pad puts around an array. Lists have a pair for each axis, before
// and after, or one pair for all.
type PadOptions struct {
	// Mode is one of NumPy's: constant (also ""), edge, linear_ramp, maximum, mean,
	// median, minimum, reflect, symmetric, wrap, and empty, which has zeros here.
	Mode   string
	Values [][2]any // of constant, and the ends of linear_ramp; none: zero
	Stat   [][2]int // how many elements maximum, mean, median and minimum are of; none: all
	Odd    bool     // of reflect and symmetric: twice the edge less the reflected
}

// Pad puts elements before and after the array along its axes: widths are a pair for
// each axis, or one for all. Maximum, mean, median and minimum take a pass over what
// they are of for each axis, linear_ramp one over the edges.
func (a *Array) Pad(widths [][2]int, o PadOptions) *Array {
	return door.One("pad", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return pad.Array(site, n, widths, pad.Padding(o))
	}, a)
}

// RepeatEach returns the array with each element along an axis repeated as often as its count
// says.
func (a *Array) RepeatEach(counts []int, axis int) *Array {
	return door.One("repeat", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return index.RepeatEach(site, n, counts, axis)
	}, a)
}

// Blocks joins the arrays of each row along the last axis, and the rows along the axis before it,
// as NumPy's block does. It has no pass of its own.
func Blocks(rows [][]*Array) *Array {
	return build("block", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		nodes := make([][]*graph.Node, len(rows))
		for i, row := range rows {
			nodes[i], in = in[:len(row)], in[len(row):]
		}
		return shape.Block(site, nodes)
	}, anys(slices.Concat(rows...))...)
}
