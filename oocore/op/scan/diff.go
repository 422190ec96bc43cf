package scan

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Diff is NumPy's diff: the differences of neighbours along an axis, taken so many
// times. Bools differ or not; integers wrap. It is part of whatever reads it.
func Diff(site graph.Site, n *graph.Node, times, axis int) (*graph.Node, error) {
	if times < 0 {
		return nil, graph.Refuse(site, "diff", fmt.Errorf("differences cannot be taken %d times", times), n)
	}
	if times == 0 {
		return n, nil
	}
	axis, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, graph.Refuse(site, "diff", err, n)
	}
	if length := n.Shape[axis]; times >= length {
		return part(site, n, axis, length, length) // of no elements
	}
	if times > maxTimes {
		return nil, graph.Refuse(site, "diff", fmt.Errorf("differences are taken %d times at the most, not %d", maxTimes, times), n)
	}
	op := kernel.Subtract
	if n.DType == dtype.Bool {
		op = kernel.NotEqual
	}
	for range times {
		length := n.Shape[axis]
		after, err := part(site, n, axis, min(1, length), length)
		if err != nil {
			return nil, err
		}
		before, err := part(site, n, axis, 0, max(length-1, 0))
		if err != nil {
			return nil, err
		}
		if n, err = graph.Apply(site, op, after, before); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// maxTimes bounds what differences of differences take: each reads the one before in two
// places, so that their number doubles with each. Of floats they have no
// correct digits long before a hundred: the coefficients add up to 2 to the power of the
// times.
const maxTimes = 12

// part is the range of an array along an axis.
func part(site graph.Site, n *graph.Node, axis, from, to int) (*graph.Node, error) {
	spec := ""
	for range axis {
		spec += ":, "
	}
	return graph.Slice(site, n, fmt.Sprintf("%s%d:%d", spec, from, to))
}
