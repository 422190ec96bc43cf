package oocore

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
)

// Quantile returns the element below which a part q, from 0 to 1, of those along the axes
// lies, interpolated between two: see Quantiles.
func (a *Array) Quantile(q float64, axes ...int) *Array {
	return door.One("quantile", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return order.Quantile(site, "quantile", n, []float64{q}, false, order.QuantileOptions{Axes: axes})
	}, a)
}

// Percentile is Quantile of a hundredth of p.
func (a *Array) Percentile(p float64, axes ...int) *Array {
	return door.One("percentile", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return order.Quantile(site, "percentile", n, []float64{p / 100}, false, order.QuantileOptions{Axes: axes})
	}, a)
}

// QuantileOptions are the less common arguments of a median and of quantiles.
type QuantileOptions struct {
	Axes     []int  // none: all
	KeepDims bool   // reduced axes stay, with length one
	Method   string // NumPy's: "linear" where it is empty, "lower", "hazen" …
	SkipNaN  bool   // NaN does not count; the result is NaN where nothing else is
	Weights  *Array // of the elements, in their shape or that of the axes; of the method "inverted_cdf" alone
}

// order are the options of an operation whose operands present gave.
func (o QuantileOptions) order(in []*graph.Node) order.QuantileOptions {
	return order.QuantileOptions{Axes: o.Axes, KeepDims: o.KeepDims, Method: order.Method(o.Method), SkipNaN: o.SkipNaN, Weights: append(in, nil)[1]}
}

// Quantiles returns several quantiles, along a first axis of the result, exact for an axis
// of any length and for several together. As NumPy's of a list they are float64, save
// those of methods that give elements.
//
// What is reduced to one result is sorted in memory, in one pass, where it fits into 16
// MiB. More is counted by 16 leading bits, then by the next 16 of those that begin as
// the result does, and so on: two passes read an array of float32, four one of float64,
// and none writes. Where many results lie side by side digits are shorter: three passes
// for 512 columns of float32. So are counted shorter lines that lie across a large array;
// those under about 4 MiB are put in order first, which writes the array once.
//
// Elements with weights count as 16 bytes, sorted or not, and each pass reads both.
func (a *Array) Quantiles(q []float64, o QuantileOptions) *Array {
	return build("quantile", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return order.Quantile(site, "quantile", in[0], q, true, o.order(in))
	}, present(a, o.Weights)...)
}

// MedianWith is Median with the less common arguments, of which Method and Weights are
// none.
func (a *Array) MedianWith(o QuantileOptions) *Array {
	return build("median", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return order.Median(site, in[0], o.order(in))
	}, present(a, o.Weights)...)
}

// UniqueCounts is Unique, with how often each element is there.
func (a *Array) UniqueCounts(ctx context.Context, opts ...Option) (values, counts *Array) {
	d := a.distinct(ctx, "unique_counts", true, false, opts)
	return d[0], d[1]
}

// UniqueAll is Unique, with how often each element is there, where it is first in the
// array as if flattened, and where each element of the array stands among the distinct
// ones.
func (a *Array) UniqueAll(ctx context.Context, opts ...Option) (values, counts, first, inverse *Array) {
	d := a.distinct(ctx, "unique_all", true, true, opts)
	return d[0], d[1], d[2], build("unique_inverse", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return order.Inverse(site, in[0], in[1])
	}, a, d[0])
}

// distinct are the values, their numbers and first places.
func (a *Array) distinct(ctx context.Context, name string, counts, first bool, opts []Option) [3]*Array {
	return [3]*Array(door.Several[Array](3, name, func(site graph.Site, in []*graph.Node) ([]*graph.Node, error) {
		return counted(ctx, name, opts, func(run op.Run) ([]*graph.Node, error) {
			d, err := order.Unique(site, in[0], counts, first, run)
			return []*graph.Node{d.Values, d.Counts, d.First}, err
		})
	}, a))
}
