package stats

import (
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "ptp", Passes: "1", Holds: "two accumulators for each result", Build: op.Build(PeakToPeak), Examples: "ptp(x, 1)",
		Go: "(a *Array) Ptp(axes ...int)", Doc: `Ptp returns the largest element along the axes less the smallest, in the type of the elements.`},
	{Name: "average", Passes: "1", Holds: "two accumulators for each result", Build: op.Build(Average), Examples: "average(x, y, 0)",
		Go: "(a *Array) Average(weights *Array, axes ...int)", Doc: `Average returns the mean along the axes of elements that weigh differently. The weights have the shape of the array, or that of the axes, in the order in which those are given. Weights that sum to zero are an error when it is computed.`},
	{Name: "nanaverage", NumPy: "xr.DataArray.weighted(w).mean", Passes: "1", Holds: "two accumulators for each result", Build: op.Build(Average).With(AverageArgs{SkipNaN: true}), Examples: "nanaverage(log(x - 0.3), y, 0)",
		Go: "(a *Array) NanAverage(weights *Array, axes ...int)", Doc: `NanAverage is Average of the elements that are not NaN: weighted(w).mean() of xarray. Weights that sum to zero give NaN.`},
	{Name: "logsumexp", NumPy: "scipy.special.logsumexp", Passes: "2: the largest first", Holds: "an accumulator for each result", Build: op.Build(LogSumExp), Examples: "logsumexp(x, 1); logsumexp(x)",
		Go: "(a *Array) LogSumExp(axes ...int)", Doc: `LogSumExp returns the logarithm of the sum along the axes of the exponentials of elements (scipy.special.logsumexp). It does not overflow. nn.Softmax has the exponentials by their sum.`},
	{Name: "moment", NumPy: "scipy.stats.moment", Passes: "2: the mean first", Holds: "an accumulator for each result", Build: op.Build(Moment), Examples: "moment(x, 3, 0)",
		Go: "(a *Array) Moment(order int, axes ...int)", Doc: `Moment returns the mean along the axes of a power of what elements are from their mean, of an order that is not negative
(scipy.stats.moment).`},
	{Name: "skew", NumPy: "scipy.stats.skew", Passes: "2: the mean first", Holds: "an accumulator for each result", Build: op.Build(Skew), Examples: "skew(x, 0)",
		Go: "(a *Array) Skew(axes ...int)", Doc: `Skew returns the skewness along the axes: the third moment about the mean over the second's power of 3/2. It is NaN where elements differ by rounding alone.`},
	{Name: "kurtosis", NumPy: "scipy.stats.kurtosis", Passes: "2: the mean first", Holds: "an accumulator for each result", Build: op.Build(Kurtosis), Examples: "kurtosis(x, 0)",
		Go: "(a *Array) Kurtosis(axes ...int)", Doc: `Kurtosis returns the excess kurtosis along the axes: the fourth moment about the mean over the square of the second, less 3. It is NaN where elements differ by rounding alone.`},
	{Name: "zscore", NumPy: "scipy.stats.zscore", Passes: "2 before it", Holds: "an accumulator for each line", Build: op.Build(ZScore), Examples: "zscore(x, 0)",
		Go: "(a *Array) ZScore(ddof float64, axes ...int) = a, axes, ddof", Doc: `ZScore returns how many standard deviations elements are from their mean along the axes, all of them where none is given; NaN where all are equal.`},
	{Name: "cov", NumPy: `np.cov; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Holds: "that of matmul", Build: op.Build(BuildCov), Examples: `cov(n, "columns")`,
		Go: "(a *Array) Cov(more *Array, o CovOptions) = a, more, o.Columns, o.Bias, o.ddof(), o.FWeights, o.AWeights", Doc: `Cov returns the covariances of variables, in float64 or complex128: a matrix, whose rows are variables and whose columns are observations, or a list, one variable. more, which may be nil, has further variables of the same observations.`},
	{Name: "corrcoef", NumPy: `np.corrcoef; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Holds: "that of matmul", Build: op.Build(Corrcoef), Examples: `corrcoef(n, "columns")`,
		Go: "(a *Array) Corrcoef(more *Array, variables types.Variables) = a, more, bool(variables)", Doc: `Corrcoef returns the correlations of variables, from -1 to 1: their covariances by their standard deviations. Variables are Rows of the matrices, or Columns; more is as in Cov.`},
	{Name: "nancumsum", Without: "Initial", Passes: "2 that read, 1 where lines are short", Holds: "256 KiB", Build: op.Build(NaNCumulative).With(scan.CumulativeArgs{Name: "nancumsum"}), Examples: "nancumsum(x, 0)",
		Go: "(a *Array) NanCumsum(axis ...int)", Doc: `NanCumsum is Cumsum with zero for NaN.`},
	{Name: "nancumprod", Without: "Initial", Passes: "2 that read, 1 where lines are short", Holds: "256 KiB", Build: op.Build(NaNCumulative).With(scan.CumulativeArgs{Name: "nancumprod", Product: true}),
		Go: "(a *Array) NanCumprod(axis ...int)", Doc: `NanCumprod is Cumprod with one for NaN.`},
	{Name: "histogram", NumPy: "np.histogram(...)[0]", Passes: counting, Holds: bins, Build: op.ByHand(`x, bins, low, high, weights, "density"`, 1, 6, histogramOf), Examples: "histogram(x, 1000); histogram(x, 300000, 0, 1, y); histogram(x, arange(0, 1, 0.001))",
		Go: "Array.Histogram"},
	{Name: "histogram_bin_edges", Passes: "1 for the range where that is not given", Holds: "the edges", Build: op.ByHand("x, bins, low, high", 1, 4, edgesOf),
		Go: "Array.HistogramBinEdges"},
	{Name: "histogram2d", NumPy: "np.histogram2d(...)[0]", Passes: counting, Holds: bins, Build: op.ByHand(`x, y, xbins, ybins, xlow, xhigh, ylow, yhigh, weights, "density"`, 2, 10, histogram2DOf), Examples: "histogram2d(x, y, 300, 300)",
		Go: "Array.Histogram2D"},
	{Name: "histogramdd", NumPy: "np.histogramdd(...)[0]", Passes: counting, Holds: bins, Build: op.ByHand(`sample, bins..., low, high..., "weights", w, "density"`, 1, -1, histogramDDOf), Examples: `histogramdd(slice(n, ":, 0:3"), 20)`,
		Go: "Array.HistogramDD"},
	{Name: "bincount", Passes: "2: the largest element first", Holds: bins, Build: op.Build(Bincount), Examples: "bincount(ravel(i & 65535))",
		Go: "Array.Bincount"},
}

// Arguments, by the operation.
type (
	AverageArgs struct {
		SkipNaN    bool `usage:"-"`
		X, Weights *graph.Node
		Axes       []int
		KeepDims   bool
	}
	MomentArgs struct {
		X        *graph.Node
		Order    int
		Axes     []int
		KeepDims bool
	}
	ZScoreArgs struct {
		X    *graph.Node
		Axes []int
		DDof float64 `word:"1"`
	}
	CovArgs struct {
		X        *graph.Node
		Y        *graph.Node `default:""`
		Columns  bool
		Bias     bool
		DDof     []int       `word:"1"`
		FWeights *graph.Node `word:"f"`
		AWeights *graph.Node `word:"a"`
	}
	CorrcoefArgs struct {
		X       *graph.Node
		Y       *graph.Node `default:""`
		Columns bool
	}
	BincountArgs struct {
		X         *graph.Node
		Weights   *graph.Node `default:""`
		MinLength int         `default:"0"`
		Run       op.Run
	}
	ReduceArgs struct {
		Reduction kernel.Reduction `usage:"-"`
		SkipNaN   bool             `usage:"-"`
		X         *graph.Node
		Axes      []int
		Where     *graph.Node `default:""`
		DDof      float64     `word:"1"`
		Initial   any         `word:"0"`
		DType     dtype.Type  `word:"float32"`
		KeepDims  bool
		NoAxes    bool `usage:"axis=()"`
	}
	PositionArgs struct {
		Reduction kernel.Reduction `usage:"-"`
		SkipNaN   bool             `usage:"-"`
		X         *graph.Node
		Axis      []int `most:"1"`
		KeepDims  bool
	}
)

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
	row := op.Row{Name: r.Name, Passes: shared, Holds: accumulator, Go: "(a *Array) " + method + "(axes ...int)", Doc: method + " " + r.Sentence + ".",
		Examples: r.Name + "(x); " + r.Name + "(x, 0); " + r.Name + "(x, 1)", Build: op.Build(Reduce).With(ReduceArgs{Reduction: r.Reduction}), Without: without(r.Family)}
	if r.Family == kernel.Position {
		row.Build, row.Without = op.Build(Position).With(PositionArgs{Reduction: r.Reduction}), ""
	}
	return row
}

// withoutNaN is a reduction in which NaN does not count.
func withoutNaN(r *kernel.ReductionRow) op.Row {
	row := op.Row{Name: "nan" + r.Name, Passes: "1", Holds: "an accumulator for each result, or two", Go: "Array.Reduce", Examples: "nan" + r.Name + "(x, 0)",
		Build: op.Build(Reduce).With(ReduceArgs{Reduction: r.Reduction, SkipNaN: true}), Without: without(r.Family)}
	switch r.Family {
	case kernel.Spread:
		row.Passes = "2: the mean first"
	case kernel.Position:
		row.Build, row.Without = op.Build(Position).With(PositionArgs{Reduction: r.Reduction, SkipNaN: true}), ""
	}
	return row
}

// without are the fields of ReduceArgs that reductions of a family do not take.
func without(family kernel.ReductionFamily) string {
	switch family {
	case kernel.Total:
		return "DDof"
	case kernel.Extreme:
		return "DDof DType"
	case kernel.Average:
		return "DDof Initial"
	case kernel.Spread:
		return "Initial"
	}
	return "DDof Initial DType"
}

// Reduce is a reduction along axes.
func Reduce(site graph.Site, a ReduceArgs) (*graph.Node, error) {
	o := graph.ReduceOptions{Axes: a.Axes, Where: a.Where, DDof: a.DDof, Initial: a.Initial, DType: a.DType, KeepDims: a.KeepDims, NoAxes: a.NoAxes}
	if a.SkipNaN {
		return NaN(site, a.Reduction, a.X, o)
	}
	return graph.Aggregate(site, a.Reduction, a.X, o)
}

// Position is the place of the smallest or the largest element along an axis.
func Position(site graph.Site, a PositionArgs) (*graph.Node, error) {
	return Reduce(site, ReduceArgs{Reduction: a.Reduction, SkipNaN: a.SkipNaN, X: a.X, Axes: a.Axis, KeepDims: a.KeepDims})
}

// BuildCov is Cov, where ddof of 0 is bias.
func BuildCov(site graph.Site, a CovArgs) (*graph.Node, error) {
	x, y, columns, bias, ddof, fweights, aweights := a.X, a.Y, a.Columns, a.Bias, a.DDof, a.FWeights, a.AWeights
	o := CovOptions{Columns: columns, Bias: bias, FWeights: fweights, AWeights: aweights}
	if len(ddof) > 0 {
		o.DDof, o.Bias = ddof[0], ddof[0] == 0
	}
	return Cov(site, x, y, o)
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

// arguments are arguments of a histogram of so many coordinates, which are read by hand, as numbers are bins or
// the ends of ranges by how many there are: their elements, bins for
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
