package regions

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/group"
)

// ObjectsArgs are the arguments of find_objects. A largest label of 0 is that of the array.
type ObjectsArgs struct {
	X        *graph.Node
	MaxLabel int `usage:"max_label" default:"0"`
	Run      op.Run
}

// FindObjects is scipy.ndimage.find_objects: of each label from 1 on, the box around its elements, along each axis the first
// index and the one after the last, both 0 where there are none. They are the largest and, with their sign turned, the smallest
// indices in the groups of labels.
func FindObjects(site graph.Site, a ObjectsArgs) (_ *graph.Node, err error) {
	x, dims := a.X, len(a.X.Shape)
	defer graph.Renamed(&err, site, "find_objects", x)
	switch {
	case !x.DType.Integer() || x.DType == dtype.Uint64:
		return nil, fmt.Errorf("takes labels that int64 holds, not %s: AsType first", x.DType)
	case dims == 0:
		return nil, fmt.Errorf("takes an array of one dimension or more")
	case a.MaxLabel < 0:
		return nil, fmt.Errorf("a largest label of %d is negative", a.MaxLabel)
	}
	m := &graph.Maker{Site: site}
	size := grid.Size(x.Shape)
	if size == 0 {
		return m.Full(dtype.FromInt(dtype.Int64, 0), a.MaxLabel, dims, 2), m.Err
	}
	var strides, lengths []int64
	for d, stride := range grid.Strides(x.Shape) {
		strides, lengths = append(strides, int64(stride)), append(lengths, int64(x.Shape[d]))
	}
	ints := func(all ...int64) *graph.Node { return m.Bytes(dtype.Bytes(all), dtype.Int64, len(all)) }
	place := m.Apply(kernel.FloorDivide, m.Reshape(m.Arange(size), size, 1), ints(strides...))
	place = m.Cast(m.Apply(kernel.Remainder, place, ints(lengths...)), dtype.Float64)
	place = m.Apply(kernel.Multiply, m.ExpandDims(place, 2), ints(-1, 1)) // elements × axes × both ends
	labels, groups := m.Apply(kernel.Maximum, m.Reshape(m.Cast(x, dtype.Int64), -1), m.Number(0)), 0
	if a.MaxLabel > 0 { // others are of none, as 0 is
		groups = a.MaxLabel + 1
		labels = m.Apply(kernel.Where, m.Apply(kernel.Greater, labels, m.Number(a.MaxLabel)), m.Number(0), labels)
	}
	if m.Err != nil {
		return nil, m.Err
	}
	l, err := group.New(site, place, labels, 0, groups, a.Run)
	if err != nil {
		return nil, err
	}
	most := m.Make(func() (*graph.Node, error) { return group.Reduce(site, "max", place, l, 0) })
	ends := m.Apply(kernel.Add, m.Apply(kernel.Multiply, m.Slice(most, "1:"), ints(-1, 1)), ints(0, 1))
	ends = m.Apply(kernel.Where, m.Apply(kernel.IsNaN, ends), m.Number(0.0), ends) // of no elements
	return graph.NameAxes(m.Cast(ends, dtype.Int64), slices.Repeat([]graph.Axis{{}}, 3)...), m.Err
}
