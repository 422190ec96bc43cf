package stats

import (
	"errors"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op"
	"strings"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "ptp(x, axes...)", Passes: "1", Holds: "two accumulators for each result", Build: PeakToPeak, Examples: "ptp(x, 1)",
		Go: "(a *Array) Ptp(axes ...int)", Doc: `Ptp returns the largest element along the axes less the smallest, in the type of the elements. One pass.`},
	{Usage: `average(x, weights, axes..., "keepdims")`, Passes: "1", Holds: "two accumulators for each result", Build: weightedMean, Examples: "average(x, y, 0)",
		Go: "(a *Array) Average(weights *Array, axes ...int)", Doc: `Average returns the mean along the axes of elements that weigh differently. The weights have the shape of the array, or that of the axes, in
the order in which those are given. Weights that sum to zero are an error when it is computed. One pass.`},
	{Usage: `moment(x, order, axes..., "keepdims")`, NumPy: "scipy.stats.moment", Passes: "2: the mean first", Holds: "an accumulator for each result", Build: momentOf, Examples: "moment(x, 3, 0)",
		Go: "(a *Array) Moment(order int, axes ...int)", Doc: `Moment returns the mean along the axes of a power of what elements are from their mean, of an order that is not negative
(scipy.stats.moment). Two passes.`},
	{Usage: `cov(x, y=, "columns", "bias", "ddof=1", "fweights" f, "aweights" a)`, NumPy: `np.cov; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Holds: "that of matmul", Build: covariances, Examples: `cov(n, "columns")`,
		Go: "Array.Cov"},
	{Usage: `corrcoef(x, y=, "columns")`, NumPy: `np.corrcoef; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Holds: "that of matmul", Build: Corrcoef, Examples: `corrcoef(n, "columns")`,
		Go: "Array.Corrcoef"},
	{Usage: `coarsen(x, "mean", factors...1, "trim", "ddof=1")`, NumPy: "da.coarsen", Passes: "1", Holds: "an accumulator for each result", Build: coarsened, Examples: `coarsen(x, "sum", 2, 2)`,
		Go: "Array.Coarsen"},
	{Usage: "nancumsum(x, axis)", Passes: "2 that read, 1 where lines are short", Holds: "256 KiB", Build: skipping("nancumsum", false), Examples: "nancumsum(x, 0)",
		Go: "(a *Array) NanCumsum(axis ...int)", Doc: `NanCumsum is Cumsum with zero for NaN.`},
	{Usage: "nancumprod(x, axis)", Passes: "2 that read, 1 where lines are short", Holds: "256 KiB", Build: skipping("nancumprod", true),
		Go: "(a *Array) NanCumprod(axis ...int)", Doc: `NanCumprod is Cumprod with one for NaN.`},
}

func init() {
	for _, r := range kernel.Reductions() {
		Rows = append(Rows, reduction(r))
		if r.Family <= kernel.Position {
			Rows = append(Rows, withoutNaN(r))
		}
	}
}

const (
	shared      = "1, shared with others along the same axes"
	accumulator = "an accumulator for each result"
)

func reduction(r *kernel.ReductionRow) op.Row {
	method := map[string]string{"argmin": "ArgMin", "argmax": "ArgMax", "count_nonzero": "CountNonzero"}[r.Name]
	if method == "" {
		method = strings.ToUpper(r.Name[:1]) + r.Name[1:]
	}
	row := op.Row{Usage: r.Name, Passes: shared, Holds: accumulator, Go: "(a *Array) " + method + "(axes ...int)", Doc: method + " " + r.Sentence + ".",
		Examples: r.Name + "(x); " + r.Name + "(x, 0); " + r.Name + "(x, 1)"}
	reduce(&row, r, graph.Aggregate)
	return row
}

// withoutNaN is a reduction in which NaN does not count.
func withoutNaN(r *kernel.ReductionRow) op.Row {
	row := op.Row{Usage: "nan" + r.Name, Passes: "1", Holds: "an accumulator for each result, or two", Go: "Array.Reduce", Examples: "nan" + r.Name + "(x, 0)"}
	if r.Family == kernel.Spread {
		row.Passes = "2: the mean first"
	}
	reduce(&row, r, func(site graph.Site, kind kernel.Reduction, x *graph.Node, o graph.ReduceOptions) (*graph.Node, error) {
		return NaN(site, kind, x, o)
	})
	return row
}

// reduce completes the row of a reduction by the arguments that its family has.
func reduce(row *op.Row, r *kernel.ReductionRow, fold func(graph.Site, kernel.Reduction, *graph.Node, graph.ReduceOptions) (*graph.Node, error)) {
	usage := `(x, axes..., where=, "keepdims", "axis=()")`
	row.Build = func(site graph.Site, x *graph.Node, axes []int, where *graph.Node, keep, none bool) (*graph.Node, error) {
		return fold(site, r.Reduction, x, graph.ReduceOptions{Axes: axes, Where: where, KeepDims: keep, NoAxes: none})
	}
	switch r.Family {
	case kernel.Position:
		usage = `(x, axis, "keepdims")`
		row.Build = func(site graph.Site, x *graph.Node, axis []int, keep bool) (*graph.Node, error) {
			return fold(site, r.Reduction, x, graph.ReduceOptions{Axes: axis, KeepDims: keep})
		}
	case kernel.Average:
		usage = `(x, axes..., where=, "dtype=float32", "keepdims", "axis=()")`
		row.Build = func(site graph.Site, x *graph.Node, axes []int, where *graph.Node, as dtype.Type, keep, none bool) (*graph.Node, error) {
			return fold(site, r.Reduction, x, graph.ReduceOptions{Axes: axes, Where: where, DType: as, KeepDims: keep, NoAxes: none})
		}
	case kernel.Spread:
		usage = `(x, axes..., where=, "ddof=1", "dtype=float32", "keepdims", "axis=()")`
		row.Build = func(site graph.Site, x *graph.Node, axes []int, where *graph.Node, ddof float64, as dtype.Type, keep, none bool) (*graph.Node, error) {
			return fold(site, r.Reduction, x, graph.ReduceOptions{Axes: axes, Where: where, DDof: ddof, DType: as, KeepDims: keep, NoAxes: none})
		}
	case kernel.Total:
		usage = `(x, axes..., where=, "initial=0", "dtype=float32", "keepdims", "axis=()")`
		row.Build = func(site graph.Site, x *graph.Node, axes []int, where *graph.Node, initial any, as dtype.Type, keep, none bool) (*graph.Node, error) {
			return fold(site, r.Reduction, x, graph.ReduceOptions{Axes: axes, Where: where, Initial: initial, DType: as, KeepDims: keep, NoAxes: none})
		}
	case kernel.Extreme:
		usage = `(x, axes..., where=, "initial=0", "keepdims", "axis=()")`
		row.Build = func(site graph.Site, x *graph.Node, axes []int, where *graph.Node, initial any, keep, none bool) (*graph.Node, error) {
			return fold(site, r.Reduction, x, graph.ReduceOptions{Axes: axes, Where: where, Initial: initial, KeepDims: keep, NoAxes: none})
		}
	}
	row.Usage += usage
}

func weightedMean(site graph.Site, x, weights *graph.Node, axes []int, keep bool) (*graph.Node, error) {
	return Average(site, x, weights, keep, axes...)
}

func momentOf(site graph.Site, x *graph.Node, order int, axes []int, keep bool) (*graph.Node, error) {
	return Moment(site, x, order, graph.ReduceOptions{Axes: axes, KeepDims: keep})
}

// covariances is Cov, where ddof of 0 is bias.
func covariances(site graph.Site, x, y *graph.Node, columns, bias bool, ddof []int, fweights, aweights *graph.Node) (*graph.Node, error) {
	o := CovOptions{Columns: columns, Bias: bias, FWeights: fweights, AWeights: aweights}
	if len(ddof) > 0 {
		o.DDof, o.Bias = ddof[0], ddof[0] == 0
	}
	return Cov(site, x, y, o)
}

func coarsened(site graph.Site, x *graph.Node, name string, factors []int, trim bool, ddof float64) (*graph.Node, error) {
	for _, r := range kernel.Reductions() {
		if r.Name == name {
			return Coarsen(site, r.Reduction, x, factors, trim, ddof)
		}
	}
	return nil, graph.Reject(site, "coarsen", errors.New("takes the name of a reduction"), x)
}

func skipping(name string, product bool) any {
	return func(site graph.Site, x *graph.Node, axis []int) (*graph.Node, error) {
		return NaNCumulative(site, name, product, x, axis...)
	}
}
