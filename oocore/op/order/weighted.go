package order

import (
	"errors"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/compose"
	"github.com/gonbext/gonbext/oocore/op/index"
	"github.com/gonbext/gonbext/oocore/op/scan"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// weighted are quantiles of elements that weigh differently, by NumPy's only method for
// that, inverted_cdf: of the elements in their order the first up to which the weights
// reach the quantile's share of all. The elements are sorted, with the passes of Argsort,
// and they and their weights are taken in that order, with those of TakeAlong.
func weighted(site graph.Site, name string, n *graph.Node, s Quantiles, list bool, o QuantileOptions) (*graph.Node, error) {
	m := &compose.Maker{Site: site}
	out, err := weigh(m, n, s, list, o)
	if err != nil {
		return nil, graph.Reject(site, name, err, n, o.Weights)
	}
	return out, nil
}

func weigh(m *compose.Maker, n *graph.Node, s Quantiles, list bool, o QuantileOptions) (*graph.Node, error) {
	if o.Weights.DType.Kind() == dtype.KindComplex {
		return nil, errors.New("weights are real numbers")
	}
	w, err := m.Weights(o.Weights, n.Shape, o.Axes)
	if err != nil {
		return nil, err
	}
	if s.count() == 0 {
		return m.Full(dtype.FromFloat(s.Out, math.NaN()), s.result(list, o.KeepDims)...), m.Err
	}
	axes := append(s.kept(), s.Axes...)
	last := len(s.kept())
	lines := append(slices.Clone(s.shape()[1:]), s.count())
	n = m.Reshape(m.Transpose(m.Cast(n, n.DType), axes...), lines...)
	w = m.Reshape(m.Transpose(m.Cast(w, dtype.Float64), axes...), lines...)
	w = m.FailIf(m.Apply(kernel.Less, w, m.Number(0)), w, "a weight is below zero")
	float := n != nil && n.DType.Kind() == dtype.KindFloat
	var none *graph.Node // which lines have nothing but NaN
	if float && s.SkipNaN {
		isNaN := m.Apply(kernel.IsNaN, n)
		w = m.Apply(kernel.Where, isNaN, m.Number(0), w)
		none = m.Reduce(kernel.All, isNaN, graph.ReduceOptions{Axes: []int{last}, KeepDims: true})
	}
	order := m.Make(func() (*graph.Node, error) { return Argsort(m.Site, n, last, false) })
	along := func(n, at *graph.Node) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return index.TakeAlong(m.Site, n, at, last) })
	}
	sorted := along(n, order)
	sums := m.Make(func() (*graph.Node, error) {
		return scan.Cumulative(m.Site, "cumsum", false, along(w, order), last)
	})
	whole := m.Part(sums, last, s.count()-1, s.count())
	unknown := m.Apply(kernel.LogicalNot, m.Apply(kernel.LogicalAnd, m.Apply(kernel.IsFinite, whole), m.Apply(kernel.Greater, whole, m.Number(0))))
	if none != nil {
		unknown = m.Apply(kernel.LogicalAnd, unknown, m.Apply(kernel.LogicalNot, none))
	}
	whole = m.FailIf(unknown, whole, "weights sum to zero, or to what is not finite")
	t := dtype.Float64 // in which shares are compared, as in NumPy
	if float && !list {
		t = n.DType
	}
	share := m.Cast(m.Apply(kernel.Divide, sums, whole), t)
	share = m.Apply(kernel.Where, m.Apply(kernel.Equal, share, m.Number(0)), m.Number(-1), share)
	var results []*graph.Node
	for _, q := range s.Q {
		below := m.Apply(kernel.Less, share, m.Full(dtype.FromFloat(t, q)))
		at := m.Reduce(kernel.CountNonzero, below, graph.ReduceOptions{Axes: []int{last}, KeepDims: true})
		out := along(sorted, m.Apply(kernel.Minimum, at, m.Number(s.count()-1)))
		results = append(results, m.Make(func() (*graph.Node, error) { return graph.Squeeze(m.Site, out, last) }))
	}
	out := m.Make(func() (*graph.Node, error) { return shape.Stack(m.Site, 0, results...) })
	if float && !s.SkipNaN {
		some := m.Reduce(kernel.Any, m.Apply(kernel.IsNaN, n), graph.ReduceOptions{Axes: []int{last}})
		out = m.Apply(kernel.Where, some, m.Number(math.NaN()), out)
	}
	return m.Reshape(out, s.result(list, o.KeepDims)...), m.Err
}

// result is the shape of the result with or without an axis for the quantiles, and with
// those of length one that are reduced.
func (s Quantiles) result(list, keepDims bool) (lengths []int) {
	if list {
		lengths = append(lengths, len(s.Q))
	}
	for d, length := range s.Shape {
		if !slices.Contains(s.Axes, d) {
			lengths = append(lengths, length)
		} else if keepDims {
			lengths = append(lengths, 1)
		}
	}
	return lengths
}
