package graph

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Weights brings weights to the shape of the elements that they weigh. They have that
// shape, or that of axes of it, in the order in which those are given.
func (m *Maker) Weights(weights *Node, shape, axes []int) (*Node, error) {
	if slices.Equal(weights.Shape, shape) {
		return weights, m.Err
	}
	if len(axes) == 0 {
		return nil, fmt.Errorf("weights of shape %s are not those of elements of shape %s: give the axes that they are along", grid.Format(weights.Shape), grid.Format(shape))
	}
	if _, err := grid.Axes(axes, len(shape)); err != nil {
		return nil, err
	}
	// The weights' axes in the order of the elements' ones.
	order := make([]int, len(axes))
	var lengths []int
	wide := slices.Repeat([]int{1}, len(shape))
	axes = slices.Clone(axes)
	for i, a := range axes {
		axes[i], _ = grid.Axis(a, len(shape))
		order[i] = i
		lengths = append(lengths, shape[axes[i]])
		wide[axes[i]] = shape[axes[i]]
	}
	if !slices.Equal(weights.Shape, lengths) {
		return nil, fmt.Errorf("weights of shape %s are not those of axes of lengths %s", grid.Format(weights.Shape), grid.Format(lengths))
	}
	slices.SortFunc(order, func(i, k int) int { return axes[i] - axes[k] })
	weights = m.Reshape(m.Transpose(weights, order...), wide...)
	return m.BroadcastTo(weights, shape...), m.Err
}
