package scan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Diff is NumPy's diff: the differences of neighbours along an axis, taken so many
// times. Bools differ or not; integers wrap. It is part of whatever reads it.
func Diff(site graph.Site, n *graph.Node, times, axis int) (*graph.Node, error) {
	if times < 0 {
		return nil, graph.Reject(site, "diff", fmt.Errorf("differences cannot be taken %d times", times), n)
	}
	if times == 0 {
		return n, nil
	}
	axis, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, graph.Reject(site, "diff", err, n)
	}
	m := &graph.Maker{Site: site}
	if length := n.Shape[axis]; times >= length {
		return m.Part(n, axis, length, length), m.Err // of no elements
	}
	if times > maxTimes {
		return nil, graph.Reject(site, "diff", fmt.Errorf("differences are taken %d times at the most, not %d", maxTimes, times), n)
	}
	op := kernel.Subtract
	if n.DType == dtype.Bool {
		op = kernel.NotEqual
	}
	later := m.Part(n, axis, times, n.Shape[axis]) // whose labels the differences have, as xarray's
	for range times {
		length := n.Shape[axis]
		if n = m.Apply(op, m.Part(n, axis, min(1, length), length), m.Part(n, axis, 0, max(length-1, 0))); m.Err != nil {
			return nil, m.Err
		}
	}
	return graph.NameAxes(n, graph.AllAxes(later)...), m.Err
}

// maxTimes bounds what differences of differences take: each reads the one before in two
// places, so that their number doubles with each. Of floats they have no
// correct digits long before a hundred: the coefficients add up to 2 to the power of the
// times.
const maxTimes = 12

// BuildDiff is Diff of the array with what NumPy's diff takes as prepend and append, which may
// be nil: an array of its other lengths, or one element for each line.
func BuildDiff(site graph.Site, a DiffArgs) (*graph.Node, error) {
	n, times, axis, before, after := a.X, a.Times, a.Axis, a.Prepend, a.Append
	if times == 0 {
		return n, nil
	}
	if before == nil && after == nil {
		return Diff(site, n, times, axis)
	}
	axis, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, graph.Reject(site, "diff", err, n)
	}
	m := &graph.Maker{Site: site}
	joined := make([]*graph.Node, 0, 3)
	for _, part := range []*graph.Node{before, n, after} {
		if part == nil {
			continue
		}
		if len(part.Shape) == 0 {
			one := slices.Clone(n.Shape)
			one[axis] = 1
			part = m.BroadcastTo(part, one...)
		}
		joined = append(joined, part)
	}
	all := m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, axis, joined...) })
	return m.Make(func() (*graph.Node, error) { return Diff(site, all, times, axis) }), m.Err
}

// EDiff1D is NumPy's ediff1d: the differences of neighbours of the array as if flattened,
// between elements that stand at its ends; nil for none. They are of the array's kind, or
// one that it has room for.
func EDiff1D(site graph.Site, a EDiff1DArgs) (*graph.Node, error) {
	n, begin, end := a.X, a.ToBegin, a.ToEnd
	if n.DType == dtype.Bool {
		return nil, graph.Reject(site, "ediff1d", fmt.Errorf("bools have no difference: AsType first"), n)
	}
	m := &graph.Maker{Site: site}
	differences := m.Make(func() (*graph.Node, error) { return Diff(site, m.Reshape(n, -1), 1, 0) })
	var joined []*graph.Node
	for _, part := range []*graph.Node{begin, differences, end} {
		if part == nil {
			continue
		}
		if m.Err == nil && part.DType.Kind() > n.DType.Kind() {
			m.Err = fmt.Errorf("an end of %s is not of the kind of %s: AsType first", part.DType, n.DType)
		}
		joined = append(joined, m.Cast(m.Reshape(part, -1), n.DType))
	}
	out := m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, 0, joined...) })
	if m.Err != nil {
		return nil, graph.Reject(site, "ediff1d", m.Err, n)
	}
	return out, nil
}
