package random

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
)

// Permutation is the integers below n in a random order, each order alike: those in which
// random words of 64 bits are sorted. Passes are those of Argsort.
func Permutation(site graph.Site, a PermutationArgs) (*graph.Node, error) {
	if a.N < 0 {
		return nil, graph.Reject(site, "permutation", errCount)
	}
	w, err := words(site, a.Seed, []int{a.N})
	if err != nil {
		return nil, err
	}
	return order.Argsort(site, order.SortArgs{X: w, Axis: 0})
}

// Permuted is each line along an axis in a random order of its own, as NumPy's permuted.
// Passes are those of SortedBy.
func Permuted(site graph.Site, a PermutedArgs) (*graph.Node, error) {
	n, seed, axis := a.X, a.Seed, a.Axis
	if _, err := grid.Axis(axis, len(n.Shape)); err != nil {
		return nil, graph.Reject(site, "permuted", err, n)
	}
	w, err := words(site, seed, n.Shape)
	if err != nil {
		return nil, err
	}
	return order.SortedBy(site, "permuted", n, w, axis)
}

// Choice returns count elements along the first axis, drawn at random: each time from all of
// them, or each at most once, or with probabilities by weights. Drawing from all each time takes
// no pass of its own, and elements are read in the order in which they are drawn. Drawing each at
// most once takes the passes of Argsort over all places, and weights take those of Cumsum.
func Choice(site graph.Site, a ChoiceArgs) (_ *graph.Node, err error) {
	n, seed, count, distinct, weights := a.X, a.Seed, a.Count, a.Distinct, a.Weights
	defer graph.Renamed(&err, site, "choice", n)
	m := &graph.Maker{Site: site}
	if len(n.Shape) == 0 {
		return nil, errors.New("a scalar has no elements to choose of")
	}
	length := n.Shape[0]
	switch {
	case count < 0:
		return nil, errCount
	case distinct && weights != nil:
		return nil, errors.New("takes weights only where elements may be chosen again")
	case distinct && count > length:
		return nil, fmt.Errorf("%d elements are more than there are, %d, and none is to be chosen again", count, length)
	case count > 0 && length == 0:
		return nil, errors.New("there are no elements to choose of")
	case count == 0:
		return m.Part(n, 0, 0, 0), m.Err
	}
	var at *graph.Node
	switch {
	case distinct:
		at = m.Part(graph.Call(m, Permutation, PermutationArgs{Seed: seed, N: length}), 0, 0, count)
	case weights != nil:
		if len(weights.Shape) != 1 || weights.Shape[0] != length || weights.DType.Kind() == dtype.KindComplex {
			return nil, fmt.Errorf("weights are one real number for each of %d elements, not %s of shape %s", length, weights.DType, grid.Format(weights.Shape))
		}
		w := m.Cast(weights, dtype.Float64)
		w = m.FailIf(m.Apply(kernel.LogicalNot, m.Apply(kernel.GreaterEqual, w, m.Number(0))), w, "a weight is below zero, or not a number")
		sums := m.Make(func() (*graph.Node, error) { return scan.Cumulative(m.Site, "cumsum", false, w, 0) })
		whole := m.Part(sums, 0, length-1, length)
		none := m.Apply(kernel.LogicalNot, m.Apply(kernel.LogicalAnd, m.Apply(kernel.Greater, whole, m.Number(0)), m.Apply(kernel.IsFinite, whole)))
		whole = m.FailIf(none, whole, "weights sum to zero, or to what is not finite")
		drawn := m.Make(func() (*graph.Node, error) { return graph.Uniform(m.Site, dtype.Float64, seed, count) })
		share := m.Apply(kernel.Divide, sums, whole)
		at = m.Make(func() (*graph.Node, error) { return order.SearchSorted(m.Site, share, drawn, true) })
		at = m.Apply(kernel.Minimum, at, m.Number(length-1))
	default:
		at = m.Make(func() (*graph.Node, error) { return Integers(m.Site, dtype.Int64, seed, 0, int64(length), count) })
	}
	return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, n, at, 0) }), m.Err
}
