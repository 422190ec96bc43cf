package shape

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "transpose(x, axes...)", Also: "permute_dims", Build: graph.Transpose,
		Go: "(a *Array) Transpose(axes ...int)", Doc: `Transpose puts the axes in another order; none given, in reverse.`},
	{Usage: "reshape(x, lengths...)", Holds: "a block; what its box shows of the inputs where elements move", Build: graph.Reshape,
		Go: "(a *Array) Reshape(shape ...int)", Doc: `Reshape gives the array another shape of the same size, its elements in C order; one length may be -1, for the rest. It costs nothing where
they lie so already, as those of a file do and what is computed of it element by element; else, as of a transposed array, boxes of the
result are put together of boxes of the array as they are needed.`},
	{Usage: "broadcast_to(x, lengths...)", Build: graph.BroadcastTo,
		Go: "(a *Array) BroadcastTo(shape ...int)", Doc: `BroadcastTo repeats the array along new axes and those of length one.`},
	{Usage: "expand_dims(x, axes...1)", Build: graph.ExpandDims,
		Go: "(a *Array) ExpandDims(axes ...int)", Doc: `ExpandDims inserts axes of length one, at their places in the result.`},
	{Usage: "squeeze(x, axes...)", Build: graph.Squeeze, Examples: "squeeze(expand_dims(x, 0), 0)",
		Go: "(a *Array) Squeeze(axes ...int)", Doc: `Squeeze removes axes of length one; none given, all of them.`},
	{Usage: `slice(x, "0:100, ::2")`, NumPy: "x[...]", Build: graph.Slice, Examples: `slice(x, "0:10"); slice(x, "::-2, 1::3")`,
		Go: "(a *Array) Slice(spec string)", Doc: `Slice returns what NumPy's brackets give: Slice("0:100, ::2, -1"), with "..." and "newaxis". Only the chunks that it touches are read.`},
	{Usage: `arange(start, stop=, step=, "dtype=float32")`, Build: arange, Examples: "arange(0, 64, 1)",
		Go: "Arange(start, stop, step any)", Doc: `Arange counts from start by step up to but not including stop. Integers give int64, and floats float64, whatever their size. It takes no
memory.`},
	{Usage: "full(value, lengths...)", Build: full,
		Go: "Full(value any, shape ...int)", Doc: `Full returns an array of one value, a number of Go: an int becomes int64, a float64 float64. It takes no memory.`},
	{Usage: "zeros(lengths...)", Also: "empty", Build: filled(0), Examples: "zeros(64)",
		Go: "Zeros"},
	{Usage: "ones(lengths...)", Build: filled(1), Examples: "ones(64)",
		Go: "Ones"},
	{Usage: `matmul(a, b, "int32"=)`, Passes: "each operand once for every group of tiles of the other, as many as fit", Holds: "a group of tiles and a panel of each operand", Build: matrixProduct,
		Go: "Array.MatMul"},
	{Usage: "concatenate(a, b..., axis=0)", Also: "concat", Holds: op.Shown, Build: joined, Examples: "concatenate(x, y, 0); concatenate(x, y, 1)",
		Go: "Concatenate(axis int, arrays ...*Array)", Doc: `Concatenate puts arrays after each other along an axis. Their other lengths are equal; their types promote.`},
	{Usage: "stack(a, b..., axis=0)", Holds: op.Shown, Build: layered, Examples: "stack(s, s, 2)",
		Go: "Stack(axis int, arrays ...*Array)", Doc: `Stack puts arrays of one shape after each other along a new axis, at its place in the result.`},
	// This is NumPy's: the method Append writes to a stored array, and is no operation.
	{Usage: "append(a, b, axis)", Holds: op.Shown, Build: appended,
		Go: "Concatenate"},
	{Usage: "vstack(a, b...)", Holds: op.Shown, Build: stacked(2, 0), Examples: "vstack(x, y)"},
	{Usage: "hstack(a, b...)", Holds: op.Shown, Build: stacked(1, 1), Examples: "hstack(x, y)"},
	{Usage: "dstack(a, b...)", Holds: op.Shown, Build: stacked(3, 2), Examples: "dstack(x, y)"},
	{Usage: "atleast_1d(x)", Build: atLeast(1)},
	{Usage: "atleast_2d(x)", Build: atLeast(2)},
	{Usage: "atleast_3d(x)", Build: atLeast(3)},
	{Usage: "split(x, sections, axis, part)", Build: Split,
		Go: "Array.Split"},
	{Usage: "unstack(x, axis, part)", Build: Unstack,
		Go: "(a *Array) Unstack(axis int) []*Array", Doc: `Unstack returns the array's parts of length one along an axis, without it. Where there is no such axis, each of the arrays that are returned says so.`},
	{Usage: `meshgrid(a, b..., "xy" or "ij"=xy, part)`, Build: meshgrid, Examples: `meshgrid(slice(x, "0"), slice(x, "1"), 0)`,
		Go: "Meshgrid"},
	{Usage: "indices(lengths...1, part)", NumPy: "np.indices(lengths)[part]", Build: Indices,
		Go: "Indices"},
	{Usage: "matrix_transpose(x)", Build: matrixTranspose,
		Go: "(a *Array) MatrixTranspose()", Doc: `MatrixTranspose swaps the last two axes.`},
	{Usage: "block(rows, a, b...)", Holds: op.Shown, Build: blocks,
		Go: "Blocks"},
	{Usage: "eye(rows, columns, diagonal=0)", Build: eye(Eye), Examples: "eye(64, 64, 0)",
		Go: "Eye(rows, columns, diagonal int)", Doc: `Eye returns a matrix of float64 with ones on a diagonal, 0 the main one and positive ones above it, and zeros elsewhere. It takes no memory.`},
	{Usage: "tri(rows, columns, diagonal=0)", Build: eye(Tri), Examples: "tri(64, 64, 0)",
		Go: "Tri(rows, columns, diagonal int)", Doc: `Tri returns a matrix of float64 with ones on a diagonal and below it, and zeros above. It takes no memory.`},
	{Usage: `roll(x, shift or "1, 2", axes...)`, Holds: op.Shown, Build: rolled, Examples: "roll(x, 1000, 0); roll(s, 7, 1)",
		Go: "(a *Array) Roll(shift int, axes ...int)", Doc: `Roll moves elements along axes, those that leave at an end coming in at the other; without axes, as if the array were flat.`},
	{Usage: "tile(x, times...1)", Holds: op.Shown, Build: Tile, Examples: "tile(s, 1, 2)",
		Go: "(a *Array) Tile(times ...int)", Doc: `Tile repeats the array along its last axes, or along new ones before the first.`},
	{Usage: "flip(x, axes...)", Build: Flip, Examples: "flip(x, 0)",
		Go: "(a *Array) Flip(axes ...int)", Doc: `Flip reverses axes; none given, all.`},
	{Usage: "flipud(x)", Build: func(site graph.Site, x *graph.Node) (*graph.Node, error) { return Flip(site, x, 0) }},
	{Usage: "fliplr(x)", Build: func(site graph.Site, x *graph.Node) (*graph.Node, error) { return Flip(site, x, 1) }},
	{Usage: "rot90(x, quarters=1, axis=0, axis=1)", Build: Rotate, Examples: "rot90(s)",
		Go: "(a *Array) Rot90(quarters, axis, other int)", Doc: `Rot90 turns the plane of two axes by quarters of a turn, from the first towards the second.`},
	{Usage: "moveaxis(x, axes..., places...)", Build: Move,
		Go: "(a *Array) MoveAxis(from, to int)", Doc: `MoveAxis puts an axis at another place, the others staying in their order.`},
	{Usage: "rollaxis(x, axis, start=0)", Build: RollAxis,
		Go: "(a *Array) RollAxis(axis, start int)", Doc: `RollAxis puts an axis before the one that stands at a place: NumPy's rollaxis.`},
	{Usage: "swapaxes(x, axis, axis)", Build: Swap, Examples: "swapaxes(x, 0, 1)",
		Go: "(a *Array) SwapAxes(axis, other int)", Doc: `SwapAxes exchanges two axes.`},
	{Usage: "diagonal(x, offset=0, axis=0, axis=1)", Holds: "a few squares along the diagonal", Build: Diagonal, Examples: "diagonal(s)",
		Go: "(a *Array) Diagonal(offset, axis, other int)", Doc: `Diagonal returns a diagonal of the plane of two axes, which become one, the last: that of the elements whose place along the second is more
by offset. It is read by small squares.`},
	{Usage: `trace(x, offset=0, axis=0, axis=1, "dtype=int64")`, Passes: "1 over the diagonal", Holds: "a few squares along the diagonal", Build: Trace, Examples: "trace(s)",
		Go: "(a *Array) Trace(offset, axis, other int)", Doc: `Trace returns the sum of a diagonal; Diagonal and Reduce sum it in another type.`},
	{Usage: "diag(x, offset=0)", Build: Diag,
		Go: "(a *Array) Diag(offset int)", Doc: `Diag returns a matrix with a vector on a diagonal and zeros elsewhere, or the diagonal of a matrix.`},
	{Usage: "tril(x, diagonal=0)", Build: Lower, Examples: "tril(s)",
		Go: "(a *Array) Tril(diagonal int)", Doc: `Tril returns the array with zeros above a diagonal of its last two axes: 0 is the main one, positive ones are above it.`},
	{Usage: "triu(x, diagonal=0)", Build: Upper, Examples: "triu(s, 5)",
		Go: "(a *Array) Triu(diagonal int)", Doc: `Triu returns the array with zeros below a diagonal of its last two axes.`},
	{Usage: "ravel(x)", Holds: "a block; what its box shows of the inputs where elements move", Build: func(site graph.Site, x *graph.Node) (*graph.Node, error) { return graph.Reshape(site, x, -1) },
		Go: "(a *Array) Ravel()", Doc: `Ravel returns the array in one dimension, in C order: Reshape(-1).`},
}

// What of these computes does so by graph.Apply and graph.Aggregate.
func init() {
	for i := range Rows {
		Rows[i].Moves = true
	}
}

// Along returns an array and the axis that it is given; without one, the array as if flattened.
func Along(site graph.Site, n *graph.Node, axis []int) (*graph.Node, int, error) {
	if len(axis) > 0 {
		return n, axis[0], nil
	}
	flat, err := graph.Reshape(site, n, -1)
	return flat, 0, err
}

func arange(site graph.Site, start, stop, step *graph.Node, as dtype.Type) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	if stop == nil {
		start, stop = m.Number(0), start
	}
	if step == nil {
		step = m.Number(1)
	}
	return m.Make(func() (*graph.Node, error) {
		if as == dtype.Invalid {
			return graph.Arange(site, start, stop, step)
		}
		return graph.Arange(site, start, stop, step, as)
	}), m.Err
}

func full(site graph.Site, value *graph.Node, shape []int) (*graph.Node, error) {
	switch {
	case value.Kind == graph.Constant && len(value.Shape) == 0:
		return graph.Full(site, value.Value, shape...)
	case len(value.Shape) == 0:
		return graph.BroadcastTo(site, value, shape...)
	}
	return nil, graph.Reject(site, "full", errors.New("the value is a number, or an array without axes"), value)
}

func filled(value float64) any {
	return func(site graph.Site, shape []int) (*graph.Node, error) {
		return graph.Full(site, dtype.FromFloat(dtype.Float64, value), shape...)
	}
}

func matrixProduct(site graph.Site, a, b *graph.Node, as dtype.Type) (*graph.Node, error) {
	if as == dtype.Invalid {
		return graph.Product(site, a, b)
	}
	return graph.ProductAs(site, a, b, as)
}

func joined(site graph.Site, in []*graph.Node, axis int) (*graph.Node, error) {
	return Concatenate(site, axis, in...)
}

// appended is the second array after the first along an axis; without one, both as if flattened.
func appended(site graph.Site, a, b *graph.Node, axis []int) (*graph.Node, error) {
	a, at, err := Along(site, a, axis)
	if err != nil {
		return nil, err
	}
	if b, _, err = Along(site, b, axis); err != nil {
		return nil, err
	}
	return Concatenate(site, at, a, b)
}

func layered(site graph.Site, in []*graph.Node, axis int) (*graph.Node, error) {
	return Stack(site, axis, in...)
}

// stacked joins arrays of at least so many axes along one.
func stacked(dims, axis int) any {
	return func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		all, axis := slices.Clone(in), axis
		for i, n := range in {
			var err error
			if all[i], err = extended(site, n, dims); err != nil {
				return nil, err
			}
		}
		if len(all[0].Shape) == 1 { // vectors have no second axis
			axis = 0
		}
		return Concatenate(site, axis, all...)
	}
}

func atLeast(dims int) any {
	return func(site graph.Site, x *graph.Node) (*graph.Node, error) { return extended(site, x, dims) }
}

// extended adds axes as NumPy's atleast_1d, 2d and 3d do: before the others, the third after
// them.
func extended(site graph.Site, n *graph.Node, dims int) (*graph.Node, error) {
	var err error
	for len(n.Shape) < dims && err == nil {
		at := 0
		if len(n.Shape) == 2 {
			at = 2
		}
		n, err = graph.ExpandDims(site, n, at)
	}
	return n, err
}

func meshgrid(site graph.Site, in []*graph.Node, indexing string) ([]*graph.Node, error) {
	return Meshgrid(site, indexing == "ij", in...)
}

func matrixTranspose(site graph.Site, x *graph.Node) (*graph.Node, error) {
	return Swap(site, x, -1, -2)
}

func blocks(site graph.Site, rows op.Value, in []*graph.Node) (*graph.Node, error) {
	n, is := rows.Number.(int64)
	if !is || n < 1 || int64(len(in))%n != 0 {
		return nil, rows.Reject("takes a number of rows, and as many arrays in each, such as block(2, a, b, c, d)")
	}
	return Block(site, slices.Collect(slices.Chunk(in, len(in)/int(n))))
}

// eye is a matrix of rows, as many columns where they are left out, and a diagonal.
func eye(f func(site graph.Site, rows, columns, diagonal int) (*graph.Node, error)) any {
	return func(site graph.Site, rows int, columns []int, diagonal int) (*graph.Node, error) {
		return f(site, rows, append(columns, rows)[0], diagonal)
	}
}

// rolled takes one shift, or in text one for each axis.
func rolled(site graph.Site, x *graph.Node, shift op.Value, axes []int) (*graph.Node, error) {
	shifts, _, err := shift.Ints()
	if err == nil && len(shifts) == 0 {
		err = shift.Reject("takes a shift")
	}
	if err != nil {
		return nil, err
	}
	return Roll(site, x, shifts, axes)
}
