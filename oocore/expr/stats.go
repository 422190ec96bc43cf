package expr

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
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
