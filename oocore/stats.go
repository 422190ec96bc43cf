package oocore

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/stats"
)

// Bins describe the bins of a histogram along one coordinate: a number of equal ones, or their edges.
type Bins struct {
	Count int       // of equal ones
	Range []float64 // the first edge of equal ones and the last; nil: the smallest and the largest element
	Edges *Array    // instead: a list that does not fall
}

// HistogramOptions are the less common arguments of histograms.
type HistogramOptions struct {
	Weights *Array // of the shape of the elements; nil: each counts one
	Density bool   // the counts by their sum and by the sizes of the bins
}

// histogrammed are operands of a histogram: the elements, and what bins and options name.
func histogrammed(in []*Array, bins []Bins, o HistogramOptions) []any {
	operands := anys(in)
	for _, b := range bins {
		if b.Edges != nil {
			operands = append(operands, b.Edges)
		}
	}
	if o.Weights != nil {
		operands = append(operands, o.Weights)
	}
	return operands
}

// histogram makes the bins and options of an operation of operands that histogrammed gave.
func histogram(operands []*graph.Node, bins []Bins, o HistogramOptions) (all []stats.Bins, options stats.HistogramOptions) {
	for _, b := range bins {
		one := stats.Bins{Count: b.Count, Range: b.Range}
		if b.Edges != nil {
			one.Edges, operands = operands[0], operands[1:]
		}
		all = append(all, one)
	}
	options.Density = o.Density
	if o.Weights != nil {
		options.Weights = operands[0]
	}
	return all, options
}

// Histogram returns how many elements lie in each bin, as int64, or with weights what those
// weigh, in their type; and the edges of the bins. A bin includes its first edge, and the last
// bin both of its edges. NaN and elements beyond the edges do not count. Edges that fall are an
// error when it is computed, as are, without a range, elements that are not finite.
//
// One pass reads the array, and one before it where there is no range. Its working set
// is the bins, twice where weights are floats, and 1 MiB of elements. Sums of weights
// are compensated, and depend on nothing but the array.
func (a *Array) Histogram(b Bins, o HistogramOptions) (counts, edges *Array) {
	counts = build("histogram", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		bins, options := histogram(in[1:], []Bins{b}, o)
		n, e, err := stats.Histogram(site, in[0], bins[0], options)
		edges = made(e, err)
		return n, err
	}, histogrammed([]*Array{a}, []Bins{b}, o)...)
	if edges == nil {
		edges = counts
	}
	return counts, edges
}

// HistogramBinEdges returns the edges of a histogram's bins alone: a pass, where there is no
// range.
func (a *Array) HistogramBinEdges(b Bins) *Array {
	_, edges := a.Histogram(b, HistogramOptions{})
	return edges
}

// Histogram2D returns how many points lie in each bin of two coordinates, the array's
// and y's, which have one shape, as float64; and the edges of the bins of each. Otherwise it is like Histogram.
func (a *Array) Histogram2D(y *Array, binsX, binsY Bins, o HistogramOptions) (counts, edgesX, edgesY *Array) {
	bins := []Bins{binsX, binsY}
	counts = build("histogram2d", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		b, options := histogram(in[2:], bins, o)
		n, e, err := stats.Histogram2D(site, in[0], in[1], b[0], b[1], options)
		if err == nil {
			edgesX, edgesY = made(e[0], nil), made(e[1], nil)
		}
		return n, err
	}, histogrammed([]*Array{a, y}, bins, o)...)
	if edgesX == nil {
		edgesX, edgesY = counts, counts
	}
	return counts, edgesX, edgesY
}

// HistogramDD returns how many points lie in each bin of any number of coordinates, as
// float64; and the edges of the bins of each. A row of the array is a point, and its columns
// are the coordinates, each with bins of its own, or all with those that alone are given.
// Otherwise it is like Histogram.
func (a *Array) HistogramDD(bins []Bins, o HistogramOptions) (counts *Array, edges []*Array) {
	counts = build("histogramdd", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		b, options := histogram(in[1:], bins, o)
		n, e, err := stats.HistogramDD(site, in[0], b, options)
		for _, one := range e {
			edges = append(edges, made(one, nil))
		}
		return n, err
	}, histogrammed([]*Array{a}, bins, o)...)
	if edges == nil { // the error, for each that there would be
		edges = slices.Repeat([]*Array{counts}, grid.MaxDims)
	}
	return counts, edges
}

// BincountOptions are the less common arguments of Bincount.
type BincountOptions struct {
	Weights   *Array // of the elements; nil: each counts one
	MinLength int    // of the result
}

// Bincount returns how often each integer from zero on is in a list, as int64, or with
// weights what those elements weigh, as float64. Its length is a shape: the largest
// element is looked for here, in one pass within the context and the options' budget,
// and another pass counts. The working set is that of Histogram.
func (a *Array) Bincount(ctx context.Context, o BincountOptions, opts ...Option) *Array {
	in := called("bincount")
	return in.Result(stats.Bincount(in.Site, stats.BincountArgs{X: in.Node(a), Weights: in.Optional(o.Weights), MinLength: o.MinLength, Run: counter(ctx, "bincount", opts)}))
}

// CovOptions are the less common arguments of Cov.
type CovOptions struct {
	Columns bool // variables are columns, and observations rows: NumPy's rowvar=False
	Bias    bool // the divisor is the number of observations, not one less
	DDof    int  // other than 0: what is subtracted from that number instead

	FWeights, AWeights *Array // how often each observation was made, an integer, and how much it counts; nil: once
}

func (o CovOptions) ddof() []int {
	if o.DDof == 0 {
		return nil
	}
	return []int{o.DDof}
}

// present are operands of which all but the first may be left out.
func present(all ...*Array) []any {
	operands := []any{all[0]}
	for _, a := range all[1:] {
		if a != nil {
			operands = append(operands, a)
		}
	}
	return operands
}
