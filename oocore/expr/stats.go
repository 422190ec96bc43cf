package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/stats"
)

func init() {
	const counting, bins = "1, and 1 before it for the range where that is not given", "the bins, twice with weights that are floats, and 1 MiB"
	define(`histogram(x, bins, low, high, weights, "density")`, 1, 6, func(c *call) (*graph.Node, error) {
		x, b, o, err := c.histogram(1)
		if err != nil {
			return nil, err
		}
		n, _, err := stats.Histogram(c.site, x[0], b[0], o)
		return n, err
	})
	document("histogram", Doc{NumPy: "np.histogram(...)[0]", Passes: counting, Working: bins})
	define("histogram_bin_edges(x, bins, low, high)", 1, 4, func(c *call) (*graph.Node, error) {
		x, b, _, err := c.histogram(1)
		if err != nil {
			return nil, err
		}
		_, edges, err := stats.Histogram(c.site, x[0], b[0], stats.HistogramOptions{})
		return edges, err
	})
	document("histogram_bin_edges", Doc{NumPy: "np.histogram_bin_edges", Passes: "1 for the range where that is not given", Working: "the edges"})
	define(`histogram2d(x, y, xbins, ybins, xlow, xhigh, ylow, yhigh, weights, "density")`, 2, 10, func(c *call) (*graph.Node, error) {
		in, b, o, err := c.histogram(2)
		if err != nil {
			return nil, err
		}
		n, _, err := stats.Histogram2D(c.site, in[0], in[1], b[0], b[1], o)
		return n, err
	})
	document("histogram2d", Doc{NumPy: "np.histogram2d(...)[0]", Passes: counting, Working: bins})
	define(`histogramdd(sample, bins..., low, high..., "weights", w, "density")`, 1, -1, func(c *call) (*graph.Node, error) {
		sample, b, o, err := c.points()
		if err != nil {
			return nil, err
		}
		n, _, err := stats.HistogramDD(c.site, sample, b, o)
		return n, err
	})
	document("histogramdd", Doc{NumPy: "np.histogramdd(...)[0]", Passes: counting, Working: bins})
	define(`coarsen(x, "mean", factors..., "trim", "ddof=1")`, 3, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		trim, ddof, last := false, 0.0, len(c.values)
		for ; last > 2 && c.values[last-1].Text != nil; last-- {
			word := *c.values[last-1].Text
			number, is := strings.CutPrefix(word, "ddof=")
			if is {
				ddof, err = strconv.ParseFloat(number, 64)
			}
			if err != nil || !is && word != "trim" {
				return nil, c.fail(c.args[last-1].Pos(), "coarsen does not take %q: %s", word, c.f.Usage)
			}
			trim = trim || !is
		}
		c.values = c.values[:last]
		factors, err := c.ints(2)
		if err != nil {
			return nil, err
		}
		for kind := kernel.Sum; kind <= kernel.CountNonzero; kind++ {
			if kind.String() == text(c.values[1]) {
				return stats.Coarsen(c.site, kind, in[0], factors, trim, ddof)
			}
		}
		return nil, c.fail(c.args[1].Pos(), "coarsen takes the name of a reduction here: %s", c.f.Usage)
	})
	document("coarsen", Doc{NumPy: "da.coarsen", Passes: "1", Working: "an accumulator for each result"})
	define("bincount(x, weights, minlength)", 1, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		var weights *graph.Node
		minlength, last := 0, len(c.values)-1
		if last > 0 && c.values[last].Number != nil {
			at, err := c.ints(last)
			if err != nil {
				return nil, err
			}
			minlength, last = at[0], last-1
		}
		if last > 0 {
			if weights, err = c.node(c.values[1], c.args[1]); err != nil {
				return nil, err
			}
		}
		return stats.Bincount(c.site, in[0], weights, minlength, c.run())
	})
	document("bincount", Doc{NumPy: "np.bincount", Passes: "2: the largest element first", Working: bins})
	define(`moment(x, order, axes..., "keepdims")`, 2, -1, func(c *call) (*graph.Node, error) {
		keep := c.option("keepdims")
		return onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
			return stats.Moment(c.site, x, n[0], graph.ReduceOptions{Axes: n[1:], KeepDims: keep})
		})(c)
	})
	document("moment", Doc{NumPy: "scipy.stats.moment", Passes: "2: the mean first", Working: "an accumulator for each result"})
	define("ptp(x, axes...)", 1, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return stats.PeakToPeak(c.site, x, axes...)
	}))
	document("ptp", Doc{NumPy: "np.ptp", Passes: "1", Working: "two accumulators for each result"})
	define(`average(x, weights, axes..., "keepdims")`, 2, -1, func(c *call) (*graph.Node, error) {
		keep := c.option("keepdims")
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		axes, err := c.ints(2)
		if err != nil {
			return nil, err
		}
		return stats.Average(c.site, in[0], in[1], keep, axes...)
	})
	document("average", Doc{NumPy: "np.average", Passes: "1", Working: "two accumulators for each result"})
	define(`cov(x, y, "columns", "bias", "ddof=1", "fweights", f, "aweights", a)`, 1, 9, func(c *call) (*graph.Node, error) {
		x, y, o, err := c.variables()
		if err != nil {
			return nil, err
		}
		return stats.Cov(c.site, x, y, o)
	})
	define(`corrcoef(x, y, "columns")`, 1, 3, func(c *call) (*graph.Node, error) {
		x, y, o, err := c.variables()
		if err == nil && (o.Bias || o.DDof != 0 || o.FWeights != nil || o.AWeights != nil) {
			err = c.fail(c.args[0].Pos(), "corrcoef takes no weights, and is the same with any divisor: %s", c.f.Usage)
		}
		if err != nil {
			return nil, err
		}
		return stats.Corrcoef(c.site, x, y, o.Columns)
	})
	for _, name := range []string{"cov", "corrcoef"} {
		document(name, Doc{NumPy: "np." + name + `; "columns" is rowvar=False`, Passes: "1 for the means, and those of matmul", Working: "that of matmul"})
	}
	for kind := kernel.Sum; kind <= kernel.ArgMax; kind++ {
		of := functions[kind.String()]
		name := "nan" + of.Name
		define("nan"+of.Usage, of.Least, of.Most, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			o, err := c.reduction()
			if err != nil {
				return nil, err
			}
			return stats.NaN(c.site, kind, in[0], o)
		})
		d := Doc{NumPy: "np." + name, Passes: "1", Working: "an accumulator for each result, or two"}
		if kind == kernel.Var || kind == kernel.Std {
			d.Passes = "2: the mean first"
		}
		document(name, d)
	}
	for name, product := range map[string]bool{"nancumsum": false, "nancumprod": true} {
		define(name+"(x, axis)", 1, 2, onArray(func(c *call, x *graph.Node, axis []int) (*graph.Node, error) {
			return stats.NaNCumulative(c.site, name, product, x, axis...)
		}))
		document(name, Doc{NumPy: "np." + name, Passes: "2 that read, 1 where lines are short", Working: "256 KiB"})
	}
}

// histogram are arguments of a histogram of so many coordinates: their elements, bins for
// each (10 where nothing is said; one for all), ranges, weights, and "density".
func (c *call) histogram(coordinates int) (in []*graph.Node, bins []stats.Bins, o stats.HistogramOptions, err error) {
	if in, err = c.arrays(coordinates); err != nil {
		return nil, nil, o, err
	}
	at := coordinates
	for range in {
		b := stats.Bins{Count: 10}
		switch {
		case at < len(c.values) && c.values[at].Text == nil:
			if b, err = c.bins(at); err != nil {
				return nil, nil, o, err
			}
			at++
		case len(bins) > 0:
			b = bins[0]
		}
		bins = append(bins, b)
	}
	var ends []float64
	for ; at < len(c.values) && c.values[at].Number != nil; at++ {
		end, err := c.float(at)
		if err != nil {
			return nil, nil, o, err
		}
		ends = append(ends, end)
	}
	if n := len(ends); n != 0 && n != 2*coordinates {
		return nil, nil, o, c.fail(c.args[coordinates].Pos(), "%s reads the first %d as bins, one for each coordinate, and the %d after as ends of ranges, of which there are %d: %s", c.f.Name, coordinates, n, 2*coordinates, c.f.Usage)
	} else if n > 0 {
		for i := range bins {
			bins[i].Range = ends[2*i : 2*i+2]
		}
	}
	for ; at < len(c.values); at++ {
		switch v := c.values[at]; {
		case v.Text != nil && *v.Text == "density" && !o.Density:
			o.Density = true
		case v.Node != nil && o.Weights == nil:
			o.Weights = v.Node
		default:
			return nil, nil, o, c.fail(c.args[at].Pos(), "%s does not take this here: %s", c.f.Name, c.f.Usage)
		}
	}
	return in, bins, o, nil
}

// points are arguments of a histogram of a matrix's rows: bins for each column or one for
// all (10 where nothing is said), the ends of each column's range, and options in text.
func (c *call) points() (sample *graph.Node, bins []stats.Bins, o stats.HistogramOptions, err error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, nil, o, err
	}
	columns, words := 1, slices.IndexFunc(c.values, func(v value) bool { return v.Text != nil })
	if sample = in[0]; len(sample.Shape) == 2 { // others are rejected by the operation
		columns = min(sample.Shape[1], grid.MaxDims) // more are rejected there
	}
	if words < 0 {
		words = len(c.values)
	}
	given := words - 1 // and, with ranges, two for each column more
	if given > 2*columns {
		given -= 2 * columns
	}
	if given != 1 && given != 0 && given != columns {
		return nil, nil, o, c.fail(c.args[0].Pos(), "%s takes bins for each of %d columns or for all, and two ends of a range for each: %s", c.f.Name, columns, c.f.Usage)
	}
	for i := range columns {
		b := stats.Bins{Count: 10}
		if given > 0 {
			if b, err = c.bins(1 + i%given); err != nil {
				return nil, nil, o, err
			}
		}
		for at := 1 + given + 2*i; words > 1+given && at < 3+given+2*i; at++ {
			end, err := c.float(at)
			if err != nil {
				return nil, nil, o, err
			}
			b.Range = append(b.Range, end)
		}
		bins = append(bins, b)
	}
	for at := words; at < len(c.values); at++ {
		switch v := c.values[at]; {
		case v.Text != nil && *v.Text == "density" && !o.Density:
			o.Density = true
		case o.Weights == nil && c.follows("weights", at):
			at++
			o.Weights = c.values[at].Node
		default:
			return nil, nil, o, c.fail(c.args[at].Pos(), "%s does not take this here: %s", c.f.Name, c.f.Usage)
		}
	}
	return sample, bins, o, nil
}

// follows says whether an array follows its name in text.
func (c *call) follows(name string, at int) bool {
	text := c.values[at].Text
	return text != nil && *text == name && at+1 < len(c.values) && c.values[at+1].Node != nil
}

// bins are a number of them, or their edges.
func (c *call) bins(at int) (b stats.Bins, err error) {
	if b.Edges = c.values[at].Node; b.Edges != nil {
		return b, nil
	}
	n, ok := c.values[at].Number.(int64)
	if !ok {
		return b, c.fail(c.args[at].Pos(), "%s takes a number of bins or an array of edges here: %s", c.f.Name, c.f.Usage)
	}
	b.Count = int(n)
	return b, nil
}

// variables are one array of them or two, and options in text.
func (c *call) variables() (x, y *graph.Node, o stats.CovOptions, err error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, nil, o, err
	}
	for i := 1; i < len(c.values); i++ {
		v := c.values[i]
		switch {
		case v.Node != nil && i == 1:
			y = v.Node
			continue
		case v.Text != nil && *v.Text == "columns":
			o.Columns = true
			continue
		case v.Text != nil && *v.Text == "bias":
			o.Bias = true
			continue
		case o.FWeights == nil && c.follows("fweights", i):
			i++
			o.FWeights = c.values[i].Node
			continue
		case o.AWeights == nil && c.follows("aweights", i):
			i++
			o.AWeights = c.values[i].Node
			continue
		case v.Text != nil && strings.HasPrefix(*v.Text, "ddof="):
			if o.DDof, err = strconv.Atoi(strings.TrimPrefix(*v.Text, "ddof=")); err == nil {
				o.Bias = o.DDof == 0
				continue
			}
		}
		return nil, nil, o, c.fail(c.args[i].Pos(), "%s does not take this here: %s", c.f.Name, c.f.Usage)
	}
	return in[0], y, o, nil
}
