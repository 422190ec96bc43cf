package oocore

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/pad"
	"github.com/gonbext/gonbext/oocore/op/shape"
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

// Operations that put elements in other places take part in whatever reads their
// result, with no pass over the data of their own; they hold what the boxes that are
// computed of them show of their inputs, unless they say otherwise.

// MoveAxis puts an axis at another place, the others staying in their order.
func (a *Array) MoveAxis(from, to int) *Array {
	return a.view("moveaxis", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return shape.Move(site, n, []int{from}, []int{to})
	})
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
	return operate("unstack", nil, a, axis)
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

// Repeat has each element along an axis so many times after another.
func (a *Array) Repeat(times, axis int) *Array {
	return call("repeat", a, times, axis)
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
