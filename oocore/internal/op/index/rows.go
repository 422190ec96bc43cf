package index

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

const (
	pointed    = "none of its own; what is pointed to is read in its order, neighbours together"
	gathered   = "the box's indices, and 1 MiB or a stored chunk of the array"
	counting   = "1 to count when it is called; then none of its own, or 1 where few are selected"
	countBytes = "a block of 1 MiB, and 8 bytes for each in all"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "take", Passes: pointed, Holds: gathered, Build: op.Build(BuildTake), Examples: "take(x, arange(0, 1000000, 7), 0)",
		Go: "(a *Array) Take(indices *Array, axis int) = a, indices, axis, \"raise\"", Doc: `Take has an axis replaced by the elements that indices point to along it, the axes of indices in its place. Indices are integers, negative
ones from the end; one that is out of range ends the run that reads it. Neighbours are read together, the others one by one in their order.`},
	{Name: "take_along_axis", Names: "x indices", Passes: "none of its own along the last axis, else 1", Holds: "the box's indices, and 4 MiB of lines", Build: op.Build(BuildTakeAlong),
		Go: "(a *Array) TakeAlong(indices *Array, axis int)", Doc: `TakeAlong returns the elements of each line along an axis that the same line of indices points to; the other axes broadcast. So
x.TakeAlong(x.Argsort(0), 0) is x.Sort(0).`},
	{Name: "at", NumPy: "x[i, j, ...]", Passes: pointed, Holds: gathered, Build: op.Build(At),
		Go: "(a *Array) At(indices ...*Array)", Doc: `At is NumPy's x[i, j] of arrays of integers: an array for each of the first axes, broadcast together.`},
	{Name: "repeat", Holds: op.Shown, Build: op.Build(Repeat), Examples: "repeat(s, 2, 1)",
		Go: "(a *Array) Repeat(times, axis int) = a, times, axis", Doc: `Repeat has each element along an axis so many times after another.`},
	{Name: "mask", Names: "x bools", NumPy: "x[bools]", Passes: counting, Holds: countBytes, Build: op.Build(BooleanMask), Examples: "mask(x, x > 0.89)",
		Go: "(a *Array) Mask(ctx context.Context, mask *Array, opts ...Option)", Doc: `Mask returns the elements where a mask of bools is true, in C order: NumPy's x[mask]. A mask of the first axes selects along those. The mask must not change before the result is read.`},
	{Name: "extract", Names: "condition x", Passes: counting, Holds: countBytes, Build: op.Build(extracted)},
	{Name: "compress", Passes: counting, Holds: countBytes, Build: op.Build(BuildCompress), Examples: `compress(slice(x, ":, 0") > 0.5, x, 0)`,
		Go: "(a *Array) Compress(ctx context.Context, condition *Array, axis int, opts ...Option) = condition, a, axis", Doc: `Compress returns the parts along an axis where a condition of one dimension is not zero.`},
	{Name: "flatnonzero", Passes: counting, Holds: countBytes, Build: op.Build(FlatNonzero), Examples: "flatnonzero(x > 0.899)",
		Go: "(a *Array) FlatNonzero(ctx context.Context, opts ...Option)", Doc: `FlatNonzero returns where elements are not zero, as if the array were flat.`},
	{Name: "argwhere", Passes: counting, Holds: countBytes, Build: op.Build(ArgWhere),
		Go: "(a *Array) ArgWhere(ctx context.Context, opts ...Option)", Doc: `ArgWhere returns where elements are not zero: a row of indices for each.`},
	{Name: "nonzero", Parts: "axis", Passes: counting, Holds: countBytes, Build: op.BuildAll(BuildNonzero),
		Go: "(a *Array) Nonzero(ctx context.Context, opts ...Option) []*Array", Doc: `Nonzero returns where elements are not zero: their indices along each axis, as int64. Where that fails, each of the arrays that are returned says why.`},
	{Name: "ravel_multi_index", Build: op.ByHand(`a, b..., lengths..., "wrap" or "clip"..., "F"`, 2, -1, raveled), Examples: "ravel_multi_index(i & 63, j & 63, 64, 64)",
		Go: "RavelMultiIndex"},
	{Name: "unravel_index", Parts: "axis", Build: op.BuildAll(BuildUnravel), Examples: "unravel_index(i & 4095, 64, 64, 0)",
		Go: "(a *Array) UnravelIndex(lengths ...int) []*Array", Doc: `UnravelIndex returns the indices along each axis of an array of some lengths, of places in C order of its elements, as int64. One that is negative or out of range is an error when it is computed.`},
}

// Arguments, by the operation.
type (
	AtArgs struct {
		X       *graph.Node
		Indices []*graph.Node `least:"1"`
	}
	TakeArgs struct {
		X, Indices *graph.Node
		Axis       []int  `most:"1"`
		Mode       string `words:"raise wrap clip" default:"raise"`
	}
	RepeatArgs struct {
		X, Times *graph.Node
		Axis     []int `most:"1"`
		Run      op.Run
	}
	CompressArgs struct {
		Condition, X *graph.Node
		Axis         []int `most:"1"`
		Run          op.Run
	}
	// UnravelArgs are the arguments of unravel_index. F is Fortran's order.
	UnravelArgs struct {
		X       *graph.Node
		Lengths []int `least:"1"`
		F       bool  `usage:"F"`
	}
)

// BuildTake is Take along an axis; without one, of the array as if flattened. Indices out of range are
// an error, or count from the other end, or are the end, by NumPy's mode.
func BuildTake(site graph.Site, a TakeArgs) (*graph.Node, error) {
	return along(site, op.BothAxis{A: a.X, B: a.Indices, Axis: a.Axis}, func(site graph.Site, x, indices *graph.Node, axis int) (*graph.Node, error) {
		if at, err := grid.Axis(axis, len(x.Shape)); err == nil && grid.Size(indices.Shape) > 0 {
			if indices, err = Within(site, indices, x.Shape[at], a.Mode); err != nil {
				graph.Renamed(&err, site, "take", x, indices)
				return nil, err
			}
		}
		return Take(site, x, indices, axis)
	})
}

// BuildTakeAlong is TakeAlong, as BuildTake.
func BuildTakeAlong(site graph.Site, a op.BothAxis) (*graph.Node, error) {
	return along(site, a, TakeAlong)
}

func along(site graph.Site, a op.BothAxis, f func(site graph.Site, x, indices *graph.Node, axis int) (*graph.Node, error)) (*graph.Node, error) {
	x, at, err := shape.Along(site, a.A, a.Axis)
	if err != nil {
		return nil, err
	}
	return f(site, x, a.B, at)
}

// Repeat takes one number of times, or an array of one for each element.
func Repeat(site graph.Site, a RepeatArgs) (*graph.Node, error) {
	run, x, times, axis := a.Run, a.X, a.Times, a.Axis
	x, at, err := shape.Along(site, x, axis)
	if err != nil {
		return nil, err
	}
	if times.Kind == graph.Constant && len(times.Shape) == 0 && times.DType.Integer() {
		return shape.Repeat(site, x, int(times.Value.Int()), at)
	}
	wide, err := Integers(site, times)
	if err != nil {
		return nil, graph.Reject(site, "repeat", err, times)
	}
	counts, err := run(wide)
	if err != nil {
		return nil, err
	}
	each := make([]int, len(counts))
	for i, n := range counts {
		each[i] = int(n)
	}
	return RepeatEach(site, x, each, at)
}

// truth is which elements are not zero.
func truth(site graph.Site, n *graph.Node) (*graph.Node, error) {
	return graph.Apply(site, kernel.LogicalOr, n, n)
}

func extracted(site graph.Site, a op.Counting2) (*graph.Node, error) {
	run, condition, x := a.Run, a.A, a.B
	m := &graph.Maker{Site: site}
	x, condition = m.Reshape(x, -1), m.Reshape(condition, -1)
	return graph.Call(m, BuildCompress, CompressArgs{Run: run, Condition: condition, X: x}), m.Err
}

// BuildCompress is Compress by a condition that is not zero.
func BuildCompress(site graph.Site, a CompressArgs) (*graph.Node, error) {
	run, condition, x, axis := a.Run, a.Condition, a.X, a.Axis
	x, at, err := shape.Along(site, x, axis)
	if err != nil {
		return nil, err
	}
	if condition, err = truth(site, condition); err != nil {
		return nil, err
	}
	return Compress(site, x, condition, at, run)
}

// BuildNonzero is where elements are not zero, along each axis.
func BuildNonzero(site graph.Site, a op.Counting) ([]*graph.Node, error) {
	return positions(site, a.Run, a.X, Mask.Positions)
}

// positions is what f makes of where elements are not zero.
func positions[T any](site graph.Site, run op.Run, x *graph.Node, f func(m Mask, site graph.Site, counts []int64) (T, error)) (none T, err error) {
	bools, err := truth(site, x)
	if err != nil {
		return none, err
	}
	m, counts, err := Count(site, bools, 8, run)
	if err != nil {
		return none, err
	}
	return f(m, site, counts)
}

// FlatNonzero is where elements are not zero, as if the array were flat.
func FlatNonzero(site graph.Site, a op.Counting) (*graph.Node, error) {
	return positions(site, a.Run, a.X, Mask.Places)
}

// ArgWhere is where elements are not zero: a row of indices for each.
func ArgWhere(site graph.Site, a op.Counting) (*graph.Node, error) {
	return positions(site, a.Run, a.X, Mask.ArgWhere)
}

// raveled reads by hand, as the first half of the arguments are arrays of indices: these, as many lengths, what becomes of indices out of range, for all
// axes or for each, and the order.
func raveled(c *op.Call) (*graph.Node, error) {
	fortran := c.Option("F")
	words := len(c.Values)
	for words > 0 && c.Values[words-1].Text != nil {
		words--
	}
	modes := c.Values[words:]
	if c.Values = c.Values[:words]; words == 0 || words%2 != 0 {
		return nil, c.Fail(0, "ravel_multi_index takes as many arrays of indices as lengths: ravel_multi_index(i, j, 3, 4)")
	}
	in, err := c.Nodes(words / 2)
	if err != nil {
		return nil, err
	}
	lengths, err := c.Ints(len(in))
	if err != nil {
		return nil, err
	}
	if len(modes) > 1 && len(modes) != len(in) {
		return nil, c.Fail(words, "there are %d modes for %d axes: %s", len(modes), len(in), c.Usage)
	}
	for d, n := range in {
		if len(modes) == 0 {
			break
		}
		if in[d], err = Within(c.Site, n, lengths[d], *modes[min(d, len(modes)-1)].Text); err != nil {
			return nil, err
		}
	}
	if fortran {
		slices.Reverse(in)
		slices.Reverse(lengths)
	}
	return RavelMulti(c.Site, in, lengths)
}

// BuildUnravel is Unravel in one order or the other.
func BuildUnravel(site graph.Site, a UnravelArgs) ([]*graph.Node, error) {
	lengths := a.Lengths
	if !a.F {
		return Unravel(site, a.X, lengths)
	}
	slices.Reverse(lengths)
	all, err := Unravel(site, a.X, lengths)
	slices.Reverse(all)
	return all, err
}
