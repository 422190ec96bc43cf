package stats

import (
	"errors"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "ptp(x, axes...)", Passes: "1", Holds: "two accumulators for each result", Build: PeakToPeak, Examples: "ptp(x, 1)",
		Go: "(a *Array) Ptp(axes ...int)", Doc: `Ptp returns the largest element along the axes less the smallest, in the type of the elements.`},
	{Usage: `average(x, weights, axes..., "keepdims")`, Passes: "1", Holds: "two accumulators for each result", Build: weightedMean, Examples: "average(x, y, 0)",
		Go: "(a *Array) Average(weights *Array, axes ...int)", Doc: `Average returns the mean along the axes of elements that weigh differently. The weights have the shape of the array, or that of the axes, in the order in which those are given. Weights that sum to zero are an error when it is computed.`},
	{Usage: `logsumexp(x, axes..., "keepdims")`, NumPy: "scipy.special.logsumexp", Passes: "2: the largest first", Holds: "an accumulator for each result", Build: LogSumExp, Examples: "logsumexp(x, 1); logsumexp(x)",
		Go: "(a *Array) LogSumExp(axes ...int)", Doc: `LogSumExp returns the logarithm of the sum along the axes of the exponentials of elements (scipy.special.logsumexp). It does not overflow. nn.Softmax has the exponentials by their sum.`},
	{Usage: `moment(x, order, axes..., "keepdims")`, NumPy: "scipy.stats.moment", Passes: "2: the mean first", Holds: "an accumulator for each result", Build: momentOf, Examples: "moment(x, 3, 0)",
		Go: "(a *Array) Moment(order int, axes ...int)", Doc: `Moment returns the mean along the axes of a power of what elements are from their mean, of an order that is not negative
(scipy.stats.moment).`},
	{Usage: `cov(x, y=, "columns", "bias", "ddof=1", "fweights" f, "aweights" a)`, NumPy: `np.cov; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Holds: "that of matmul", Build: covariances, Examples: `cov(n, "columns")`,
		Go: "(a *Array) Cov(more *Array, o CovOptions) = a, more, o.Columns, o.Bias, o.ddof(), o.FWeights, o.AWeights", Doc: `Cov returns the covariances of variables, in float64 or complex128: a matrix, whose rows are variables and whose columns are observations, or a list, one variable. more, which may be nil, has further variables of the same observations.`},
	{Usage: `corrcoef(x, y=, "columns")`, NumPy: `np.corrcoef; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Holds: "that of matmul", Build: Corrcoef, Examples: `corrcoef(n, "columns")`,
		Go: "(a *Array) Corrcoef(more *Array, variables types.Variables) = a, more, bool(variables)", Doc: `Corrcoef returns the correlations of variables, from -1 to 1: their covariances by their standard deviations. Variables are Rows of the matrices, or Columns; more is as in Cov.`},
	{Usage: `coarsen(x, "mean", factors...1, "trim", "ddof=1")`, NumPy: "da.coarsen", Passes: "1", Holds: "an accumulator for each result", Build: coarsened, Examples: `coarsen(x, "sum", 2, 2)`,
		Go: "(a *Array) Coarsen(r Reduction, rest types.Remainder, factors ...int) = a, r.String(), factors, bool(rest)", Doc: `Coarsen reduces blocks of so many elements along each axis, of which factors has one, to one element each: dask.array's coarsen. Elements at the end of an axis that fill no block are left out with Trim; with Exact they are an error.`},
	{Usage: "nancumsum(x, axis)", Passes: "2 that read, 1 where lines are short", Holds: "256 KiB", Build: skipping("nancumsum", false), Examples: "nancumsum(x, 0)",
		Go: "(a *Array) NanCumsum(axis ...int)", Doc: `NanCumsum is Cumsum with zero for NaN.`},
	{Usage: "nancumprod(x, axis)", Passes: "2 that read, 1 where lines are short", Holds: "256 KiB", Build: skipping("nancumprod", true),
		Go: "(a *Array) NanCumprod(axis ...int)", Doc: `NanCumprod is Cumprod with one for NaN.`},
	{Usage: `histogram(x, bins, low, high, weights, "density")`, NumPy: "np.histogram(...)[0]", Passes: counting, Holds: bins, Build: histogramOf, Args: [2]int{1, 6}, Examples: "histogram(x, 1000); histogram(x, 300000, 0, 1, y); histogram(x, arange(0, 1, 0.001))",
		Go: "Array.Histogram"},
	{Usage: "histogram_bin_edges(x, bins, low, high)", Passes: "1 for the range where that is not given", Holds: "the edges", Build: edgesOf, Args: [2]int{1, 4},
		Go: "Array.HistogramBinEdges"},
	{Usage: `histogram2d(x, y, xbins, ybins, xlow, xhigh, ylow, yhigh, weights, "density")`, NumPy: "np.histogram2d(...)[0]", Passes: counting, Holds: bins, Build: histogram2DOf, Args: [2]int{2, 10}, Examples: "histogram2d(x, y, 300, 300)",
		Go: "Array.Histogram2D"},
	{Usage: `histogramdd(sample, bins..., low, high..., "weights", w, "density")`, NumPy: "np.histogramdd(...)[0]", Passes: counting, Holds: bins, Build: histogramDDOf, Args: [2]int{1, -1}, Examples: `histogramdd(slice(n, ":, 0:3"), 20)`,
		Go: "Array.HistogramDD"},
	{Usage: "bincount(x, weights=, minlength=0)", Passes: "2: the largest element first", Holds: bins, Build: Bincount, Examples: "bincount(ravel(i & 65535))",
		Go: "Array.Bincount"},
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
	counting    = "1, and 1 before it for the range where that is not given"
	bins        = "the bins, twice with weights that are floats, and 1 MiB"
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

func histogramOf(c *op.Call) (*graph.Node, error) {
	x, b, o, err := arguments(c, 1)
	if err != nil {
		return nil, err
	}
	n, _, err := Histogram(c.Site, x[0], b[0], o)
	return n, err
}

func edgesOf(c *op.Call) (*graph.Node, error) {
	x, b, _, err := arguments(c, 1)
	if err != nil {
		return nil, err
	}
	_, edges, err := Histogram(c.Site, x[0], b[0], HistogramOptions{})
	return edges, err
}

func histogram2DOf(c *op.Call) (*graph.Node, error) {
	in, b, o, err := arguments(c, 2)
	if err != nil {
		return nil, err
	}
	n, _, err := Histogram2D(c.Site, in[0], in[1], b[0], b[1], o)
	return n, err
}

func histogramDDOf(c *op.Call) (*graph.Node, error) {
	sample, b, o, err := points(c)
	if err != nil {
		return nil, err
	}
	n, _, err := HistogramDD(c.Site, sample, b, o)
	return n, err
}

// arguments are arguments of a histogram of so many coordinates: their elements, bins for
// each (10 where nothing is said; one for all), ranges, weights, and "density".
func arguments(c *op.Call, coordinates int) (in []*graph.Node, bins []Bins, o HistogramOptions, err error) {
	if in, err = c.Nodes(coordinates); err != nil {
		return nil, nil, o, err
	}
	at := coordinates
	for range in {
		b := Bins{Count: 10}
		switch {
		case at < len(c.Values) && c.Values[at].Text == nil:
			if b, err = binsAt(c, at); err != nil {
				return nil, nil, o, err
			}
			at++
		case len(bins) > 0:
			b = bins[0]
		}
		bins = append(bins, b)
	}
	var ends []float64
	for ; at < len(c.Values) && c.Values[at].Number != nil; at++ {
		end, err := c.Float(at)
		if err != nil {
			return nil, nil, o, err
		}
		ends = append(ends, end)
	}
	if n := len(ends); n != 0 && n != 2*coordinates {
		return nil, nil, o, c.Fail(coordinates, "%s reads the first %d as bins, one for each coordinate, and the %d after as ends of ranges, of which there are %d: %s", c.Name, coordinates, n, 2*coordinates, c.Usage)
	} else if n > 0 {
		for i := range bins {
			bins[i].Range = ends[2*i : 2*i+2]
		}
	}
	for ; at < len(c.Values); at++ {
		switch v := c.Values[at]; {
		case v.Is("density") && !o.Density:
			o.Density = true
		case v.Node != nil && o.Weights == nil:
			o.Weights = v.Node
		default:
			return nil, nil, o, c.Fail(at, "%s does not take this here: %s", c.Name, c.Usage)
		}
	}
	return in, bins, o, nil
}

// points are arguments of a histogram of a matrix's rows: bins for each column or one for
// all (10 where nothing is said), the ends of each column's range, and options in text.
func points(c *op.Call) (sample *graph.Node, bins []Bins, o HistogramOptions, err error) {
	in, err := c.Nodes(1)
	if err != nil {
		return nil, nil, o, err
	}
	columns, words := 1, slices.IndexFunc(c.Values, func(v op.Value) bool { return v.Text != nil })
	if sample = in[0]; len(sample.Shape) == 2 { // others are rejected by the operation
		columns = min(sample.Shape[1], grid.MaxDims) // more are rejected there
	}
	if words < 0 {
		words = len(c.Values)
	}
	given := words - 1 // and, with ranges, two for each column more
	if given > 2*columns {
		given -= 2 * columns
	}
	if given != 1 && given != 0 && given != columns {
		return nil, nil, o, c.Fail(0, "%s takes bins for each of %d columns or for all, and two ends of a range for each: %s", c.Name, columns, c.Usage)
	}
	for i := range columns {
		b := Bins{Count: 10}
		if given > 0 {
			if b, err = binsAt(c, 1+i%given); err != nil {
				return nil, nil, o, err
			}
		}
		for at := 1 + given + 2*i; words > 1+given && at < 3+given+2*i; at++ {
			end, err := c.Float(at)
			if err != nil {
				return nil, nil, o, err
			}
			b.Range = append(b.Range, end)
		}
		bins = append(bins, b)
	}
	for at := words; at < len(c.Values); at++ {
		switch v := c.Values[at]; {
		case v.Is("density") && !o.Density:
			o.Density = true
		case o.Weights == nil && c.Values[at].Is("weights") && at+1 < len(c.Values) && c.Values[at+1].Node != nil:
			at++
			o.Weights = c.Values[at].Node
		default:
			return nil, nil, o, c.Fail(at, "%s does not take this here: %s", c.Name, c.Usage)
		}
	}
	return sample, bins, o, nil
}

// binsAt are a number of them, or their edges.
func binsAt(c *op.Call, at int) (b Bins, err error) {
	if b.Edges = c.Values[at].Node; b.Edges != nil {
		return b, nil
	}
	n, ok := c.Values[at].Number.(int64)
	if !ok {
		return b, c.Fail(at, "%s takes a number of bins or an array of edges here: %s", c.Name, c.Usage)
	}
	b.Count = int(n)
	return b, nil
}
