package scan

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

const (
	passes = "2 that read, 1 where lines are short"
	states = "256 KiB"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "cumsum", Without: "Initial", Passes: passes, Holds: states, Build: op.Build(BuildCumulative).With(CumulativeArgs{Name: "cumsum"}), Examples: "cumsum(x, 0); cumsum(x, 1); cumsum(x)",
		Go: "(a *Array) Cumsum(axis ...int)", Doc: `Cumsum returns the sums of the elements up to each along an axis; without one, in the array as if flattened. Integers are added in 64 bits,
where they wrap; floats at least as accurately as Sum does.`},
	{Name: "cumprod", Without: "Initial", Passes: passes, Holds: states, Build: op.Build(BuildCumulative).With(CumulativeArgs{Name: "cumprod", Product: true}), Examples: "cumprod(x, 1)",
		Go: "(a *Array) Cumprod(axis ...int)", Doc: `Cumprod returns the products of the elements up to each along an axis; without one, in the array as if flattened. A product of floats that is beyond their range is infinite or zero there, and right again where later factors bring it back.`},
	{Name: "cumulative_sum", Passes: passes, Holds: states, Build: op.Build(Along).With(CumulativeArgs{Name: "cumulative_sum"}), Examples: "cumulative_sum(x, 1)",
		Go: "(a *Array) CumulativeSum(from types.Beginning, axis ...int) = a, axis, bool(from)", Doc: `CumulativeSum is Cumsum along an axis, which only an array of one dimension may leave out; with Initial, a zero comes before each line.`},
	{Name: "cumulative_prod", Passes: passes, Holds: states, Build: op.Build(Along).With(CumulativeArgs{Name: "cumulative_prod", Product: true}), Examples: "cumulative_prod(x, 1)",
		Go: "(a *Array) CumulativeProd(from types.Beginning, axis ...int) = a, axis, bool(from)", Doc: `CumulativeProd is Cumprod along an axis, which only an array of one dimension may leave out; with Initial, a one comes before each line.`},
	{Name: "diff", Build: op.Build(BuildDiff), Examples: "diff(x, 1, 0)",
		Go: "(a *Array) Diff(times, axis int)", Doc: `Diff returns the differences of neighbours along an axis, taken so many times: each is as much shorter. Bools differ or not.`},
	{Name: "ediff1d", Holds: op.Shown, Build: op.Build(EDiff1D), Examples: "ediff1d(x)",
		Go: "(a *Array) EDiff1D(toBegin, toEnd any)", Doc: `EDiff1D returns NumPy's ediff1d: the differences of neighbours of the array as if flattened, between toBegin and toEnd, which are arrays, numbers or nil for none, and take the array's type.`},
	{Name: "gradient", NumPy: "np.gradient(x, spacing, axis=axis)", Holds: op.Shown, Build: op.Build(BuildGradient), Examples: "gradient(x, 1, 0)",
		Go: "(a *Array) Gradient(spacing float64, axis int, edgeOrder ...int) = a, spacing, axis, door.Single(&in, edgeOrder, 1)", Doc: `Gradient returns NumPy's gradient along one axis, of elements that are spacing apart: half the difference of both neighbours, at the ends the difference of the one, or with an edge order of 2 the slope there of the parabola through three elements. Integers are computed in float64.`,
		More: []op.Func{{Go: "(a *Array) GradientAt(coordinates *Array, axis int, edgeOrder ...int) = a, coordinates, axis, door.Single(&in, edgeOrder, 1)", Doc: `GradientAt is Gradient of elements that stand at coordinates, a vector with one for each element along the axis: inside, the slopes on both sides count by the distance on the other.`}}},
}

// Arguments, by the operation.
type (
	// CumulativeArgs are the arguments of cumsum, cumprod and their like; Name is what errors say.
	CumulativeArgs struct {
		Name    string `usage:"-"`
		Product bool   `usage:"-"`
		X       *graph.Node
		Axis    []int `most:"1"`
		Initial bool
	}
	DiffArgs struct {
		X       *graph.Node
		Times   int         `default:"1"`
		Axis    int         `default:"-1"`
		Prepend *graph.Node `word:"p"`
		Append  *graph.Node `word:"a"`
	}
	EDiff1DArgs struct {
		X       *graph.Node
		ToBegin *graph.Node `usage:"to_begin" word:"b"`
		ToEnd   *graph.Node `usage:"to_end" word:"e"`
	}
	GradientArgs struct {
		X         *graph.Node
		Spacing   *graph.Node `usage:"spacing or coordinates" default:"1"`
		Axis      []int       `most:"1"`
		EdgeOrder int         `usage:"edge_order" word:"2" default:"1"`
	}
)

// BuildCumulative is Cumulative along an axis, or of the array as if flattened.
func BuildCumulative(site graph.Site, a CumulativeArgs) (*graph.Node, error) {
	return Cumulative(site, a.Name, a.Product, a.X, a.Axis...)
}
