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
	{Name: "transpose", Also: "permute_dims", Build: op.Build(Transpose),
		Go: "(a *Array) Transpose(axes ...int)", Doc: `Transpose puts the axes in another order; none given, in reverse.`},
	{Name: "reshape", Names: "x lengths", Holds: "a block; what its box shows of the inputs where elements move", Build: op.Build(Reshape),
		Go: "(a *Array) Reshape(shape ...int)", Doc: `Reshape gives the array another shape of the same size, its elements in C order; one length may be -1, for the rest. It costs nothing where
they lie so already, as those of a file do and what is computed of it element by element; else, as of a transposed array, boxes of the
result are put together of boxes of the array as they are needed.`},
	{Name: "broadcast_to", Names: "x lengths", Build: op.Build(BroadcastTo),
		Go: "(a *Array) BroadcastTo(shape ...int)", Doc: `BroadcastTo repeats the array along new axes and those of length one.`},
	{Name: "expand_dims", Names: "x axes", Build: op.Build(ExpandDims),
		Go: "(a *Array) ExpandDims(axes ...int)", Doc: `ExpandDims inserts axes of length one, at their places in the result.`},
	{Name: "squeeze", Build: op.Build(Squeeze), Examples: "squeeze(expand_dims(x, 0), 0)",
		Go: "(a *Array) Squeeze(axes ...int)", Doc: `Squeeze removes axes of length one; none given, all of them.`},
	{Name: "slice", NumPy: "x[...]", Build: op.Build(Slice), Examples: `slice(x, "0:10"); slice(x, "::-2, 1::3")`,
		Go: "(a *Array) Slice(spec string)", Doc: `Slice returns what NumPy's brackets give: Slice("0:100, ::2, -1"), with "..." and "newaxis". Only the chunks that it touches are read.`},
	{Name: "arange", Build: op.Build(Arange), Examples: "arange(0, 64, 1)",
		Go: "Arange(start, stop, step any)", Doc: `Arange counts from start by step up to but not including stop. Integers give int64, and floats float64, whatever their size. It takes no
memory.`},
	{Name: "full", Build: op.Build(Full),
		Go: "Full(value any, shape ...int)", Doc: `Full returns an array of one value, a number of Go: an int becomes int64, a float64 float64. It takes no memory.`},
	{Name: "zeros", Also: "empty", Build: op.Build(filled(0)), Examples: "zeros(64)",
		Go: "Zeros"},
	{Name: "ones", Build: op.Build(filled(1)), Examples: "ones(64)",
		Go: "Ones"},
	{Name: "matmul", Passes: "each operand once for every group of tiles of the other, as many as fit", Holds: "a group of tiles and a panel of each operand", Build: op.Build(matrixProduct),
		Go: "Array.MatMul"},
	{Name: "concatenate", Also: "concat", Holds: op.Shown, Build: op.Build(BuildConcatenate), Examples: "concatenate(x, y, 0); concatenate(x, y, 1)",
		Go: "Concatenate(axis int, arrays ...*Array)", Doc: `Concatenate puts arrays after each other along an axis. Their other lengths are equal; their types promote.`},
	{Name: "stack", Holds: op.Shown, Build: op.Build(BuildStack), Examples: "stack(s, s, 2)",
		Go: "Stack(axis int, arrays ...*Array)", Doc: `Stack puts arrays of one shape after each other along a new axis, at its place in the result.`},
	// This is NumPy's: the method Append writes to a stored array, and is no operation.
	{Name: "append", Holds: op.Shown, Build: op.Build(appended),
		Go: "Concatenate"},
	{Name: "vstack", Without: "Axis", Holds: op.Shown, Build: op.Build(stacked(2, 0)), Examples: "vstack(x, y)"},
	{Name: "hstack", Without: "Axis", Holds: op.Shown, Build: op.Build(stacked(1, 1)), Examples: "hstack(x, y)"},
	{Name: "dstack", Without: "Axis", Holds: op.Shown, Build: op.Build(stacked(3, 2)), Examples: "dstack(x, y)"},
	{Name: "atleast_1d", Build: op.Build(atLeast(1))},
	{Name: "atleast_2d", Build: op.Build(atLeast(2))},
	{Name: "atleast_3d", Build: op.Build(atLeast(3))},
	{Name: "split", Build: op.BuildAll(Split),
		Go: "Array.Split"},
	{Name: "unstack", Names: "x axis", Build: op.BuildAll(Unstack),
		Go: "(a *Array) Unstack(axis int) []*Array", Doc: `Unstack returns the array's parts of length one along an axis, without it. Where there is no such axis, each of the arrays that are returned says so.`},
	{Name: "meshgrid", Build: op.BuildAll(meshgrid), Examples: `meshgrid(slice(x, "0"), slice(x, "1"), 0)`,
		Go: "Meshgrid"},
	{Name: "indices", NumPy: "np.indices(lengths)[part]", Build: op.BuildAll(Indices),
		Go: "Indices"},
	{Name: "matrix_transpose", Build: op.Build(MatrixTranspose),
		Go: "(a *Array) MatrixTranspose()", Doc: `MatrixTranspose swaps the last two axes.`},
	{Name: "block", Holds: op.Shown, Build: op.Build(blocks),
		Go: "Blocks"},
	{Name: "eye", Build: op.Build(BuildEye), Examples: "eye(64, 64, 0)",
		Go: "Eye(rows, columns, diagonal int)", Doc: `Eye returns a matrix of float64 with ones on a diagonal, 0 the main one and positive ones above it, and zeros elsewhere. It takes no memory.`},
	{Name: "tri", Build: op.Build(Tri), Examples: "tri(64, 64, 0)",
		Go: "Tri(rows, columns, diagonal int)", Doc: `Tri returns a matrix of float64 with ones on a diagonal and below it, and zeros above. It takes no memory.`},
	{Name: "roll", Holds: op.Shown, Build: op.Build(BuildRoll), Examples: "roll(x, 1000, 0); roll(s, 7, 1)",
		Go: "(a *Array) Roll(shift int, axes ...int)", Doc: `Roll moves elements along axes, those that leave at an end coming in at the other; without axes, as if the array were flat.`},
	{Name: "tile", Names: "x times", Holds: op.Shown, Build: op.Build(Tile), Examples: "tile(s, 1, 2)",
		Go: "(a *Array) Tile(times ...int)", Doc: `Tile repeats the array along its last axes, or along new ones before the first.`},
	{Name: "flip", Build: op.Build(Flip), Examples: "flip(x, 0)",
		Go: "(a *Array) Flip(axes ...int)", Doc: `Flip reverses axes; none given, all.`},
	{Name: "flipud", Build: op.Build(flipped(0))},
	{Name: "fliplr", Build: op.Build(flipped(1))},
	{Name: "rot90", Build: op.Build(Rotate), Examples: "rot90(s)",
		Go: "(a *Array) Rot90(quarters, axis, other int)", Doc: `Rot90 turns the plane of two axes by quarters of a turn, from the first towards the second.`},
	{Name: "moveaxis", Build: op.Build(Move),
		Go: "(a *Array) MoveAxis(from, to int)", Doc: `MoveAxis puts an axis at another place, the others staying in their order.`},
	{Name: "rollaxis", Build: op.Build(RollAxis),
		Go: "(a *Array) RollAxis(axis, start int)", Doc: `RollAxis puts an axis before the one that stands at a place: NumPy's rollaxis.`},
	{Name: "swapaxes", Build: op.Build(Swap), Examples: "swapaxes(x, 0, 1)",
		Go: "(a *Array) SwapAxes(axis, other int)", Doc: `SwapAxes exchanges two axes.`},
	{Name: "diagonal", Holds: "a few squares along the diagonal", Build: op.Build(Diagonal), Examples: "diagonal(s)",
		Go: "(a *Array) Diagonal(offset, axis, other int)", Doc: `Diagonal returns a diagonal of the plane of two axes, which become one, the last: that of the elements whose place along the second is more
by offset. It is read by small squares.`},
	{Name: "trace", Passes: "1 over the diagonal", Holds: "a few squares along the diagonal", Build: op.Build(Trace), Examples: "trace(s)",
		Go: "(a *Array) Trace(offset, axis, other int)", Doc: `Trace returns the sum of a diagonal; Diagonal and Reduce sum it in another type.`},
	{Name: "diag", Build: op.Build(Diag),
		Go: "(a *Array) Diag(offset int)", Doc: `Diag returns a matrix with a vector on a diagonal and zeros elsewhere, or the diagonal of a matrix.`},
	{Name: "tril", Names: "x diagonal", Build: op.Build(Lower), Examples: "tril(s)",
		Go: "(a *Array) Tril(diagonal int)", Doc: `Tril returns the array with zeros above a diagonal of its last two axes: 0 is the main one, positive ones are above it.`},
	{Name: "triu", Names: "x diagonal", Build: op.Build(Upper), Examples: "triu(s, 5)",
		Go: "(a *Array) Triu(diagonal int)", Doc: `Triu returns the array with zeros below a diagonal of its last two axes.`},
	{Name: "ravel", Holds: "a block; what its box shows of the inputs where elements move", Build: op.Build(Ravel),
		Go: "(a *Array) Ravel()", Doc: `Ravel returns the array in one dimension, in C order: Reshape(-1).`},
}

// Arguments, by the operation.
type (
	SliceArgs struct {
		X    *graph.Node
		Spec string `usage:"0:100, ::2"`
	}
	ArangeArgs struct {
		Start      *graph.Node
		Stop, Step *graph.Node `default:""`
		DType      dtype.Type  `word:"float32"`
	}
	FullArgs struct {
		Value   *graph.Node
		Lengths []int
	}
	productArgs struct {
		A, B *graph.Node
		As   dtype.Type `usage:"int32" default:""`
	}
	JoinArgs struct {
		In   []*graph.Node `usage:"a, b..." least:"1"`
		Axis int           `default:"0"`
	}
	SplitArgs struct {
		X              *graph.Node
		Sections, Axis int
	}
	meshgridArgs struct {
		In       []*graph.Node `usage:"a, b..." least:"1"`
		Indexing string        `words:"xy ij" default:"xy"`
	}
	IndicesArgs struct {
		Lengths []int `least:"1"`
	}
	blocksArgs struct {
		Rows op.Value
		In   []*graph.Node `usage:"a, b..." least:"1"`
	}
	// EyeArgs are the arguments of eye and tri. No columns are as many as rows.
	EyeArgs struct {
		Rows     int
		Columns  []int `most:"1"`
		Diagonal int   `default:"0"`
	}
	RollArgs struct {
		X     *graph.Node
		Shift op.Value `usage:"shift or \"1, 2\""`
		Axes  []int
	}
	RotateArgs struct {
		X        *graph.Node
		Quarters int `default:"1"`
		Axis     int `default:"0"`
		Other    int `usage:"axis" default:"1"`
	}
	MoveArgs struct {
		X            *graph.Node
		Axes, Places []int
	}
	RollAxisArgs struct {
		X     *graph.Node
		Axis  int
		Start int `default:"0"`
	}
	SwapArgs struct {
		X     *graph.Node
		Axis  int
		Other int `usage:"axis"`
	}
	DiagonalArgs struct {
		X      *graph.Node
		Offset int `default:"0"`
		Axis   int `default:"0"`
		Other  int `usage:"axis" default:"1"`
	}
	TraceArgs struct {
		DiagonalArgs
		DType dtype.Type `word:"int64"`
	}
)

type filledArgs struct{ Lengths []int }

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

// Arange counts from start by step up to stop; from 0 where there is no stop.
func Arange(site graph.Site, a ArangeArgs) (*graph.Node, error) {
	start, stop, step, as := a.Start, a.Stop, a.Step, a.DType
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

// Full is one value everywhere.
func Full(site graph.Site, a FullArgs) (*graph.Node, error) {
	value, shape := a.Value, a.Lengths
	switch {
	case value.Kind == graph.Constant && len(value.Shape) == 0:
		return graph.Full(site, value.Value, shape...)
	case len(value.Shape) == 0:
		return graph.BroadcastTo(site, value, shape...)
	}
	return nil, graph.Reject(site, "full", errors.New("the value is a number, or an array without axes"), value)
}

func filled(value float64) func(site graph.Site, a filledArgs) (*graph.Node, error) {
	return func(site graph.Site, a filledArgs) (*graph.Node, error) {
		return graph.Full(site, dtype.FromFloat(dtype.Float64, value), a.Lengths...)
	}
}

func matrixProduct(site graph.Site, args productArgs) (*graph.Node, error) {
	if args.As == dtype.Invalid {
		return graph.Product(site, args.A, args.B)
	}
	return graph.ProductAs(site, args.A, args.B, args.As)
}

// BuildConcatenate is Concatenate along an axis that comes last, of arrays that the program has put together.
func BuildConcatenate(site graph.Site, a JoinArgs) (*graph.Node, error) {
	n, err := Concatenate(site, a.Axis, a.In...)
	return joins(n), err
}

// joins says of a result that the program has put its inputs together.
func joins(n *graph.Node) *graph.Node {
	if n == nil || n.Kind != graph.Blockwise { // of one array
		return n
	}
	joined := *n
	joined.Joins = true
	return &joined
}

// appended is the second array after the first along an axis; without one, both as if flattened.
func appended(site graph.Site, args op.BothAxis) (*graph.Node, error) {
	a, b, axis := args.A, args.B, args.Axis
	a, at, err := Along(site, a, axis)
	if err != nil {
		return nil, err
	}
	if b, _, err = Along(site, b, axis); err != nil {
		return nil, err
	}
	return Concatenate(site, at, a, b)
}

// BuildStack is Stack along an axis that comes last.
func BuildStack(site graph.Site, a JoinArgs) (*graph.Node, error) {
	n, err := Stack(site, a.Axis, a.In...)
	return joins(n), err
}

// stacked joins arrays of at least so many axes along one.
func stacked(dims, axis int) func(site graph.Site, a JoinArgs) (*graph.Node, error) {
	return func(site graph.Site, a JoinArgs) (*graph.Node, error) {
		all, axis := slices.Clone(a.In), axis
		for i, n := range a.In {
			var err error
			if all[i], err = extended(site, n, dims); err != nil {
				return nil, err
			}
		}
		if len(all[0].Shape) == 1 { // vectors have no second axis
			axis = 0
		}
		return BuildConcatenate(site, JoinArgs{In: all, Axis: axis})
	}
}

func atLeast(dims int) func(site graph.Site, a op.Unary) (*graph.Node, error) {
	return func(site graph.Site, a op.Unary) (*graph.Node, error) { return extended(site, a.X, dims) }
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

func meshgrid(site graph.Site, a meshgridArgs) ([]*graph.Node, error) {
	return Meshgrid(site, a.Indexing == "ij", a.In...)
}

// MatrixTranspose swaps the last two axes.
func MatrixTranspose(site graph.Site, a op.Unary) (*graph.Node, error) {
	return Swap(site, SwapArgs{X: a.X, Axis: -1, Other: -2})
}

func blocks(site graph.Site, a blocksArgs) (*graph.Node, error) {
	in := a.In
	n, is := a.Rows.Number.(int64)
	if !is || n < 1 || int64(len(in))%n != 0 {
		return nil, a.Rows.Reject("takes a number of rows, and as many arrays in each, such as block(2, a, b, c, d)")
	}
	return Block(site, slices.Collect(slices.Chunk(in, len(in)/int(n))))
}

// BuildEye is Eye of rows, as many columns where they are left out, and a diagonal.
func BuildEye(site graph.Site, a EyeArgs) (*graph.Node, error) {
	return Eye(site, a.Rows, append(a.Columns, a.Rows)[0], a.Diagonal)
}

// Transpose puts axes in another order.
func Transpose(site graph.Site, a op.Axes) (*graph.Node, error) {
	return graph.Transpose(site, a.X, a.Axes...)
}

// Reshape gives an array another shape.
func Reshape(site graph.Site, a op.Axes) (*graph.Node, error) {
	return graph.Reshape(site, a.X, a.Axes...)
}

// Ravel is an array in one dimension.
func Ravel(site graph.Site, a op.Unary) (*graph.Node, error) { return graph.Reshape(site, a.X, -1) }

// BroadcastTo repeats an array along new axes and those of length one.
func BroadcastTo(site graph.Site, a op.Axes) (*graph.Node, error) {
	return graph.BroadcastTo(site, a.X, a.Axes...)
}

// ExpandDims inserts axes of length one.
func ExpandDims(site graph.Site, a op.Lengths) (*graph.Node, error) {
	return graph.ExpandDims(site, a.X, a.Lengths...)
}

// Squeeze removes axes of length one.
func Squeeze(site graph.Site, a op.Axes) (*graph.Node, error) {
	return graph.Squeeze(site, a.X, a.Axes...)
}

// Slice is what NumPy's brackets give.
func Slice(site graph.Site, a SliceArgs) (*graph.Node, error) {
	return graph.Slice(site, a.X, a.Spec)
}

func flipped(axis int) func(site graph.Site, a op.Unary) (*graph.Node, error) {
	return func(site graph.Site, a op.Unary) (*graph.Node, error) {
		return Flip(site, op.Axes{X: a.X, Axes: []int{axis}})
	}
}

// BuildRoll takes one shift, or in text one for each axis.
func BuildRoll(site graph.Site, a RollArgs) (*graph.Node, error) {
	shifts, _, err := a.Shift.Ints()
	if err == nil && len(shifts) == 0 {
		err = a.Shift.Reject("takes a shift")
	}
	if err != nil {
		return nil, err
	}
	return Roll(site, a.X, shifts, a.Axes)
}
