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
	{Usage: "cumsum(x, axis)", Passes: passes, Holds: states, Build: cumulative("cumsum", false), Examples: "cumsum(x, 0); cumsum(x, 1); cumsum(x)",
		Go: "(a *Array) Cumsum(axis ...int)", Doc: `Cumsum returns the sums of the elements up to each along an axis; without one, in the array as if flattened. Integers are added in 64 bits,
where they wrap; floats at least as accurately as Sum does.`},
	{Usage: "cumprod(x, axis)", Passes: passes, Holds: states, Build: cumulative("cumprod", true), Examples: "cumprod(x, 1)",
		Go: "(a *Array) Cumprod(axis ...int)", Doc: `Cumprod returns the products of the elements up to each along an axis; without one, in the array as if flattened. A product of floats that is beyond their range is infinite or zero there, and right again where later factors bring it back.`},
	{Usage: `cumulative_sum(x, axis, "initial")`, Passes: passes, Holds: states, Build: along("cumulative_sum", false), Examples: "cumulative_sum(x, 1)",
		Go: "(a *Array) CumulativeSum(from types.Beginning, axis ...int) = a, axis, bool(from)", Doc: `CumulativeSum is Cumsum along an axis, which only an array of one dimension may leave out; with Initial, a zero comes before each line.`},
	{Usage: `cumulative_prod(x, axis, "initial")`, Passes: passes, Holds: states, Build: along("cumulative_prod", true), Examples: "cumulative_prod(x, 1)",
		Go: "(a *Array) CumulativeProd(from types.Beginning, axis ...int) = a, axis, bool(from)", Doc: `CumulativeProd is Cumprod along an axis, which only an array of one dimension may leave out; with Initial, a one comes before each line.`},
	{Usage: `diff(x, times=1, axis=-1, "prepend" p, "append" a)`, Build: extended, Examples: "diff(x, 1, 0)",
		Go: "(a *Array) Diff(times, axis int)", Doc: `Diff returns the differences of neighbours along an axis, taken so many times: each is as much shorter. Bools differ or not.`},
	{Usage: `ediff1d(x, "to_begin" b, "to_end" e)`, Holds: op.Shown, Build: EDiff1D, Examples: "ediff1d(x)",
		Go: "(a *Array) EDiff1D(toBegin, toEnd any)", Doc: `EDiff1D returns NumPy's ediff1d: the differences of neighbours of the array as if flattened, between toBegin and toEnd, which are arrays, numbers or nil for none, and take the array's type.`},
	{Usage: `gradient(x, spacing or coordinates=1, axis, "edge_order=2"=1)`, NumPy: "np.gradient(x, spacing, axis=axis)", Holds: op.Shown, Build: spaced, Examples: "gradient(x, 1, 0)",
		Go: "(a *Array) Gradient(spacing float64, axis int, edgeOrder ...int) = a, spacing, axis, one(edgeOrder, 1)", Doc: `Gradient returns NumPy's gradient along one axis, of elements that are spacing apart: half the difference of both neighbours, at the ends the difference of the one, or with an edge order of 2 the slope there of the parabola through three elements. Integers are computed in float64.`,
		More: []op.Func{{Go: "(a *Array) GradientAt(coordinates *Array, axis int, edgeOrder ...int) = a, coordinates, axis, one(edgeOrder, 1)", Doc: `GradientAt is Gradient of elements that stand at coordinates, a vector with one for each element along the axis: inside, the slopes on both sides count by the distance on the other.`}}},
}

func cumulative(name string, product bool) any {
	return func(site graph.Site, x *graph.Node, axis []int) (*graph.Node, error) {
		return Cumulative(site, name, product, x, axis...)
	}
}

func along(name string, product bool) any {
	return func(site graph.Site, x *graph.Node, axis []int, initial bool) (*graph.Node, error) {
		return Along(site, name, product, x, initial, axis...)
	}
}
