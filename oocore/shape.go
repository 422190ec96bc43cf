package oocore

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/pad"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// Slice returns what NumPy's brackets give: Slice("0:100, ::2, -1"), with "..." and
// "newaxis". Only the chunks that it touches are read.
func (a *Array) Slice(spec string) *Array {
	return a.view("slice", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Slice(site, n, spec)
	})
}

// Transpose puts the axes in another order; none given, in reverse.
func (a *Array) Transpose(axes ...int) *Array {
	return a.view("transpose", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Transpose(site, n, axes...)
	})
}

// T returns the array with its axes in reverse.
func (a *Array) T() *Array { return a.Transpose() }

// Reshape gives the array another shape of the same size, its elements in C order; one
// length may be -1, for the rest. It costs nothing where they lie so already, as those
// of a file do and what is computed of it element by element; else, as of a transposed
// array, boxes of the result are put together of boxes of the array as they are needed.
func (a *Array) Reshape(shape ...int) *Array {
	return a.view("reshape", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Reshape(site, n, shape...)
	})
}

// BroadcastTo repeats the array along new axes and those of length one.
func (a *Array) BroadcastTo(shape ...int) *Array {
	return a.view("broadcast_to", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.BroadcastTo(site, n, shape...)
	})
}

// ExpandDims inserts axes of length one, at their places in the result.
func (a *Array) ExpandDims(axes ...int) *Array {
	return a.view("expand_dims", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.ExpandDims(site, n, axes...)
	})
}

// Squeeze removes axes of length one; none given, all of them.
func (a *Array) Squeeze(axes ...int) *Array {
	return a.view("squeeze", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Squeeze(site, n, axes...)
	})
}

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

// Rechunk returns the same array, to be stored in chunks of other lengths: Save takes them
// where its own options name none; -1 is the whole of an axis. What is computed of the
// array is not bound to them.
//
// Where the new chunks lie across the stored ones this takes one pass over the data if
// the output can be filled in pieces, as uncompressed chunks can, or the array fits into
// the budget; elsewhere two, by way of a file of blocks that suits both sides; never
// more. The plan says which, and how many bytes move.
func (a *Array) Rechunk(lengths ...int) *Array {
	out := a.view("rechunk", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		if len(lengths) != len(n.Shape) {
			return nil, graph.Reject(site, "rechunk", fmt.Errorf("%d lengths are not for shape %s", len(lengths), grid.Format(n.Shape)), n)
		}
		for d, c := range lengths {
			if c < 1 && c != -1 {
				return nil, graph.Reject(site, "rechunk", fmt.Errorf("a chunk length of %d along axis %d: give 1 or more, or -1 for the whole axis", c, d), n)
			}
		}
		return n, nil
	})
	if out.err == nil {
		out.chunks = make([]int, len(lengths))
		for d, c := range lengths {
			if out.chunks[d] = c; c == -1 {
				out.chunks[d] = max(out.node.Shape[d], 1)
			}
		}
	}
	return out
}

// Ravel returns the array in one dimension, in C order: Reshape(-1).
func (a *Array) Ravel() *Array { return a.Reshape(-1) }

// Operations that put elements in other places take part in whatever reads their
// result, with no pass over the data of their own; they hold what the boxes that are
// computed of them show of their inputs, unless they say otherwise.

// MoveAxis puts an axis at another place, the others staying in their order.
func (a *Array) MoveAxis(from, to int) *Array {
	return a.view("moveaxis", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Move(site, n, []int{from}, []int{to})
	})
}

// RollAxis puts an axis before the one that stands at a place: NumPy's rollaxis.
func (a *Array) RollAxis(axis, start int) *Array {
	return a.view("rollaxis", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.RollAxis(site, n, axis, start)
	})
}

// SwapAxes exchanges two axes.
func (a *Array) SwapAxes(axis, other int) *Array {
	return a.view("swapaxes", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Swap(site, n, axis, other)
	})
}

// Flip reverses axes; none given, all.
func (a *Array) Flip(axes ...int) *Array {
	return a.view("flip", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Flip(site, n, axes...)
	})
}

// Rot90 turns the plane of two axes by quarters of a turn, from the first towards the
// second.
func (a *Array) Rot90(quarters, axis, other int) *Array {
	return a.view("rot90", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Rotate(site, n, quarters, axis, other)
	})
}

// Concatenate puts arrays after each other along an axis. Their other lengths are
// equal; their types promote.
func Concatenate(axis int, arrays ...*Array) *Array {
	return build("concatenate", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return shape.Concatenate(site, axis, in...)
	}, anys(arrays)...)
}

// Stack puts arrays of one shape after each other along a new axis, at its place in the
// result.
func Stack(axis int, arrays ...*Array) *Array {
	return build("stack", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return shape.Stack(site, axis, in...)
	}, anys(arrays)...)
}

// Split cuts the array along an axis into so many parts of equal length. Where it
// cannot, each of the parts says why.
func (a *Array) Split(sections, axis int) []*Array {
	return a.several("split", sections, func(site graph.Site, n *graph.Node) ([]*graph.Node, error) {
		return shape.Split(site, n, sections, axis)
	})
}

// SplitAt cuts the array along an axis before each of the indices. Where it cannot, each of
// the parts says why.
func (a *Array) SplitAt(axis int, indices ...int) []*Array {
	return a.several("split", len(indices)+1, func(site graph.Site, n *graph.Node) ([]*graph.Node, error) {
		return shape.SplitAt(site, n, indices, axis)
	})
}

// Unstack returns the array's parts of length one along an axis, without it. Where there is
// no such axis, each of the arrays that are returned says so.
func (a *Array) Unstack(axis int) []*Array {
	return a.several("unstack", grid.MaxDims, func(site graph.Site, n *graph.Node) ([]*graph.Node, error) {
		return shape.Unstack(site, n, axis)
	})
}

// Meshgrid returns each array, as if flattened, along an axis of its own and constant along the
// others: the i-th along axis i where matrix says so ("ij" of NumPy's), else the first two
// change places ("xy").
func Meshgrid(matrix bool, vectors ...*Array) (all []*Array) {
	var nodes []*graph.Node
	one := build("meshgrid", func(site graph.Site, in []*graph.Node) (_ *graph.Node, err error) {
		if nodes, err = shape.Meshgrid(site, matrix, in...); err != nil || len(nodes) == 0 {
			return nil, err
		}
		return nodes[0], nil
	}, anys(vectors)...)
	if one.Err() != nil && len(vectors) > 0 {
		return slices.Repeat([]*Array{one}, len(vectors))
	}
	for _, n := range nodes {
		all = append(all, made(n, nil))
	}
	return all
}

// Indices returns the index of each element of an array of the given lengths along each of
// its axes, as int64: NumPy's indices. They take no memory.
func Indices(lengths ...int) []*Array {
	nodes, err := shape.Indices(graph.Caller(), lengths)
	if err != nil {
		return slices.Repeat([]*Array{{err: err}}, len(lengths))
	}
	all := make([]*Array, len(nodes))
	for i, n := range nodes {
		all[i] = made(n, nil)
	}
	return all
}

// several is build for an operation with several results. An error comes as count of
// them, so that taking one of them by its index finds it.
func (a *Array) several(op string, count int, operation func(site graph.Site, n *graph.Node) ([]*graph.Node, error)) (all []*Array) {
	var nodes []*graph.Node
	one := a.view(op, func(site graph.Site, n *graph.Node) (_ *graph.Node, err error) {
		nodes, err = operation(site, n)
		return n, err
	})
	if one.Err() != nil {
		const most = 1 << 16
		return slices.Repeat([]*Array{one}, min(max(count, 1), most))
	}
	for _, n := range nodes {
		all = append(all, made(n, nil))
	}
	return all
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
	return a.view("pad", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return pad.Array(site, n, widths, pad.Padding(o))
	})
}

// Roll moves elements along axes, those that leave at an end coming in at the other;
// without axes, as if the array were flat.
func (a *Array) Roll(shift int, axes ...int) *Array {
	return a.view("roll", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Roll(site, n, []int{shift}, axes)
	})
}

// Tile repeats the array along its last axes, or along new ones before the first.
func (a *Array) Tile(times ...int) *Array {
	return a.view("tile", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Tile(site, n, times)
	})
}

// Repeat has each element along an axis so many times after another.
func (a *Array) Repeat(times, axis int) *Array {
	return a.view("repeat", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Repeat(site, n, times, axis)
	})
}

// RepeatEach has each element along an axis as many times after another as its own
// count says.
func (a *Array) RepeatEach(counts []int, axis int) *Array {
	return a.view("repeat", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return index.RepeatEach(site, n, counts, axis)
	})
}

// Blocks returns the arrays of each row after each other along the last axis, and the rows along
// the one before, as NumPy's block. It has no pass of its own.
func Blocks(rows [][]*Array) *Array {
	return build("block", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		nodes := make([][]*graph.Node, len(rows))
		for i, row := range rows {
			nodes[i], in = in[:len(row)], in[len(row):]
		}
		return shape.Block(site, nodes)
	}, anys(slices.Concat(rows...))...)
}

// Diagonal returns a diagonal of the plane of two axes, which become one, the last: that of
// the elements whose place along the second is more by offset. It is read by small
// squares.
func (a *Array) Diagonal(offset, axis, other int) *Array {
	return a.view("diagonal", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Diagonal(site, n, offset, axis, other)
	})
}

// Diag returns a matrix with a vector on a diagonal and zeros elsewhere, or the diagonal of a
// matrix.
func (a *Array) Diag(offset int) *Array {
	return a.view("diag", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Diag(site, n, offset)
	})
}

// Trace returns the sum of a diagonal, in one pass over it; Diagonal and Reduce sum it in another
// type.
func (a *Array) Trace(offset, axis, other int) *Array {
	return a.view("trace", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Trace(site, n, offset, axis, other, dtype.Invalid)
	})
}

// MatrixTranspose swaps the last two axes. It is part of whatever reads it.
func (a *Array) MatrixTranspose() *Array { return a.SwapAxes(-1, -2) }

// Tril returns the array with zeros above a diagonal of its last two axes: 0 is the main one,
// positive ones are above it.
func (a *Array) Tril(diagonal int) *Array {
	return a.view("tril", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Lower(site, n, diagonal)
	})
}

// Triu returns the array with zeros below a diagonal of its last two axes.
func (a *Array) Triu(diagonal int) *Array {
	return a.view("triu", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Upper(site, n, diagonal)
	})
}
