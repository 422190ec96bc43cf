package fft

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Shift is NumPy's fftshift: the coefficient of frequency zero in the middle of each
// axis; no axes are all. It is part of whatever reads it.
func Shift(site graph.Site, a op.Axes) (*graph.Node, error) {
	return shift(site, "fftshift", a.X, a.Axes, func(length int) int { return length / 2 })
}

// InverseShift is NumPy's ifftshift: back again.
func InverseShift(site graph.Site, a op.Axes) (*graph.Node, error) {
	return shift(site, "ifftshift", a.X, a.Axes, func(length int) int { return -(length / 2) })
}

func shift(site graph.Site, name string, n *graph.Node, axes []int, by func(length int) int) (*graph.Node, error) {
	axes, err := grid.Axes(axes, len(n.Shape))
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	if len(axes) == 0 {
		return n, nil
	}
	shifts := make([]int, len(axes))
	for i, a := range axes {
		shifts[i] = by(n.Shape[a])
	}
	return shape.Roll(site, n, shifts, slices.Clone(axes))
}
