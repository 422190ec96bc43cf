package scan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Along is the array API's cumulative_sum and cumulative_prod: Cumulative along an axis,
// which only vectors may leave out, with the neutral element before each line where
// initial says so.
func Along(site graph.Site, a CumulativeArgs) (*graph.Node, error) {
	name, product, n, initial, axes := a.Name, a.Product, a.X, a.Initial, a.Axis
	if len(axes) == 0 {
		if len(n.Shape) != 1 {
			return nil, graph.Reject(site, name, fmt.Errorf("needs an axis of %d dimensions", len(n.Shape)), n)
		}
		axes = []int{0}
	}
	out, err := Cumulative(site, name, product, n, axes...)
	if err != nil || !initial {
		return out, err
	}
	axis := axes[0]
	if axis < 0 {
		axis += len(out.Shape)
	}
	lengths := slices.Clone(out.Shape)
	lengths[axis] = 1
	neutral := int64(0)
	if product {
		neutral = 1
	}
	first, err := graph.Full(site, dtype.FromInt(out.DType, neutral), lengths...)
	if err != nil {
		return nil, err
	}
	return shape.Concatenate(site, axis, first, out)
}
