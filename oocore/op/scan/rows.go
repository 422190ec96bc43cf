package scan

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
)

const (
	passes = "2 that read, 1 where lines are short"
	states = "256 KiB"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "cumsum(x, axis)", Passes: passes, Holds: states, Build: cumulative("cumsum", false), Examples: "cumsum(x, 0); cumsum(x, 1); cumsum(x)",
		Go: "(a *Array) Cumsum(axis ...int)", Doc: `Cumsum returns the sums of the elements up to each along an axis; without one, in the array as if flattened. Integers are added in 64 bits,
where they wrap; floats at least as accurately as Sum does. Two passes read the array, or one where its lines are short; none writes it, as
the sums are part of whatever reads them. The working set is a block of 256 KiB.`},
	{Usage: "cumprod(x, axis)", Passes: passes, Holds: states, Build: cumulative("cumprod", true), Examples: "cumprod(x, 1)",
		Go: "(a *Array) Cumprod(axis ...int)", Doc: `Cumprod returns the products of the elements up to each along an axis; without one, in the array as if flattened. A product of floats that
is beyond their range is infinite or zero there, and right again where later factors bring it back. Passes and working set are those of
Cumsum.`},
	{Usage: `cumulative_sum(x, axis, "initial")`, Passes: passes, Holds: states, Build: along("cumulative_sum", false), Examples: "cumulative_sum(x, 1)",
		Go: "(a *Array) CumulativeSum(initial bool, axis ...int)", Doc: `CumulativeSum is Cumsum along an axis, which only an array of one dimension may leave out; with initial, a zero comes before each line.
Passes and working set are those of Cumsum.`},
	{Usage: `cumulative_prod(x, axis, "initial")`, Passes: passes, Holds: states, Build: along("cumulative_prod", true), Examples: "cumulative_prod(x, 1)",
		Go: "(a *Array) CumulativeProd(initial bool, axis ...int)", Doc: `CumulativeProd is Cumprod along an axis, which only an array of one dimension may leave out; with initial, a one comes before each line.
Passes and working set are those of Cumsum.`},
	{Usage: `diff(x, times=1, axis=-1, "prepend" p, "append" a)`, Build: extended, Examples: "diff(x, 1, 0)",
		Go: "(a *Array) Diff(times, axis int)", Doc: `Diff returns the differences of neighbours along an axis, taken so many times: each is as much shorter. Bools differ or not. It is part of
whatever reads it.`},
	{Usage: `ediff1d(x, "to_begin" b, "to_end" e)`, Holds: op.Shown, Build: EDiff1D, Examples: "ediff1d(x)",
		Go: "(a *Array) EDiff1D(toBegin, toEnd any)", Doc: `EDiff1D returns NumPy's ediff1d: the differences of neighbours of the array as if flattened, between toBegin and toEnd, which are arrays,
numbers or nil for none, and take the array's type. It is part of whatever reads it.`},
	{Usage: `gradient(x, spacing or coordinates=1, axis, "edge_order=2"=1)`, NumPy: "np.gradient(x, spacing, axis=axis)", Holds: op.Shown, Build: spaced, Examples: "gradient(x, 1, 0)",
		Go: "Array.Gradient"},
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
