package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("bounded", Bounded{}, blockwise.Exact) }

// Bounded is indices of an axis, checked, and none of them negative.
type Bounded struct {
	Axis, Length int
	Positive     bool `json:",omitzero"` // negative ones are errors, and not counted from the end
}

// Requirements is the box itself.
func (o Bounded) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{slices.Clone(box)}}
}

// Fill checks the box's indices.
func (o Bounded) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.ComputeFrom(ctx, 0, t.Box, t.Dst, func() error {
		if o.Positive {
			for _, i := range dtype.Slice[int64](t.Dst) {
				if i < 0 {
					return fmt.Errorf("index %d is out of bounds for axis %d with size %d", i, o.Axis, o.Length)
				}
			}
		}
		_, err := resolve(dtype.Slice[int64](t.Dst), o.Axis, o.Length)
		return err
	})
}

// Formula checks an index, and counts a negative one from the start.
func (o Bounded) Formula([]int) *blockwise.Formula {
	f := &blockwise.Formula{}
	at := f.Element(0, dtype.Int64)
	least, whole := f.Number(dtype.Int64, 0), f.Number(dtype.Int64, float64(o.Length))
	below := f.Apply(kernel.Less, at, least)
	result := at
	if !o.Positive {
		result = f.Apply(kernel.Where, below, f.Apply(kernel.Add, at, whole), at)
		below = f.Apply(kernel.Less, result, least)
	}
	f.Fails = []int{below, f.Apply(kernel.GreaterEqual, at, whole)}
	f.Result = result
	return f
}

// At is the elements that arrays of integers point to, one array for each of the first
// axes, broadcast together, as NumPy's x[i, j]: their axes come before those that are
// left.
func At(site graph.Site, a AtArgs) (*graph.Node, error) {
	out, err := at(site, a.X, a.Indices)
	if _, named := errors.AsType[*graph.Error](err); err != nil && !named {
		err = graph.Reject(site, "at", err, append([]*graph.Node{a.X}, a.Indices...)...)
	}
	return out, err
}

func at(site graph.Site, n *graph.Node, indices []*graph.Node) (*graph.Node, error) {
	k := len(indices)
	if k == 0 {
		return nil, errors.New("there are no indices")
	}
	if k > len(n.Shape) {
		return nil, fmt.Errorf("%d indices are too many for shape %s", k, grid.Format(n.Shape))
	}
	if k == 1 {
		return Take(site, n, indices[0], 0)
	}
	shapes := make([][]int, k)
	for i, index := range indices {
		shapes[i] = index.Shape
	}
	shape, err := grid.Broadcast(shapes...)
	if err != nil {
		return nil, err
	}
	flat, err := flattened(site, indices, n.Shape[:k], grid.Size(shape) == 0, false)
	if err != nil {
		return nil, err
	}
	joined, err := graph.Reshape(site, n, append([]int{grid.Size(n.Shape[:k])}, n.Shape[k:]...)...)
	if err != nil {
		return nil, err
	}
	out, err := Take(site, joined, flat, 0)
	if err != nil {
		return nil, err
	}
	return graph.NameAxes(out, slices.Concat(graph.AllAxes(flat), graph.AllAxes(n)[k:])...), nil
}
