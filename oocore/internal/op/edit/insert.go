package edit

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Insert is NumPy's insert: values come before each of the indices along an axis, in the
// array's type. alone says that the index is one number and no list: values may then be
// several elements along the axis, the first of their own axes. It is part of whatever
// reads it.
func Insert(site graph.Site, n *graph.Node, indices []int, alone bool, values *graph.Node, axis int) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "insert", n, values)
	return insert(&graph.Maker{Site: site}, n, indices, alone, values, axis)
}

func insert(m *graph.Maker, n *graph.Node, indices []int, alone bool, values *graph.Node, axis int) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	length := n.Shape[at]
	indices = slices.Clone(indices)
	for i, x := range indices {
		if x < -length || x > length {
			return nil, fmt.Errorf("index %d is out of bounds for axis %d with size %d", x, at, length)
		}
		if x < 0 {
			indices[i] += length
		}
	}
	if len(indices) != 1 {
		// The places of values in the result, rising, and which of them is at each.
		count := len(indices)
		by := make([]int64, count)
		for i := range by {
			by[i] = int64(i)
		}
		slices.SortStableFunc(by, func(i, k int64) int { return indices[i] - indices[k] })
		places := make([]int64, count)
		for k, i := range by {
			places[k] = int64(indices[i] + k)
		}
		return merged(m, n, values, at, count, alone, func(place *graph.Node) (earlier, here, which *graph.Node) {
			earlier, here = ranked(m, places, place)
			which = m.Make(func() (*graph.Node, error) {
				return index.Take(m.Site, list(m, by), m.Apply(kernel.Minimum, earlier, m.Number(count-1)), 0)
			})
			return earlier, here, which
		})
	}
	if values, err = fitting(m, n, values, at, alone); err != nil {
		return nil, err
	}
	if values, err = spread(m, n, values, at, values.Shape[at]); err != nil {
		return nil, err
	}
	return m.Make(func() (*graph.Node, error) {
		return shape.Concatenate(m.Site, at, m.Part(n, at, 0, indices[0]), values, m.Part(n, at, indices[0], length))
	}), m.Err
}

// InsertEvery is Insert before count indices from start on, step apart: those of a slice. It
// holds none of them.
func InsertEvery(site graph.Site, n *graph.Node, start, step, count int, values *graph.Node, axis int) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "insert", n, values)
	m := &graph.Maker{Site: site}
	if count == 1 {
		return insert(m, n, []int{start}, false, values, axis)
	}
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	first, every := start, step+1
	if step < 0 {
		first, every = start+(count-1)*step, 1-step
	}
	return merged(m, n, values, at, count, false, func(place *graph.Node) (earlier, here, which *graph.Node) {
		// One of every places is a value's, from the first on.
		upTo := func(before int) *graph.Node {
			past := m.Apply(kernel.FloorDivide, m.Apply(kernel.Add, place, m.Number(every-before-first)), m.Number(every))
			return m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, past, m.Number(0)), m.Number(count))
		}
		earlier = upTo(1)
		here, which = m.Apply(kernel.Greater, upTo(0), earlier), earlier
		if step < 0 {
			which = m.Apply(kernel.Subtract, m.Number(count-1), earlier)
		}
		return earlier, here, which
	})
}

// merged is the array with count values along an axis at the places for which ranks is
// true: ranks says of places in the result how many values are at earlier ones, whether a
// value is here, and which.
func merged(m *graph.Maker, n, values *graph.Node, at, count int, alone bool, ranks func(place *graph.Node) (earlier, here, which *graph.Node)) (*graph.Node, error) {
	values, err := fitting(m, n, values, at, alone)
	if err != nil || count == 0 {
		return n, err
	}
	if values, err = spread(m, n, values, at, count); err != nil {
		return nil, err
	}
	length := n.Shape[at]
	place := m.Arange(length + count)
	earlier, here, which := ranks(place)
	from := m.Apply(kernel.Where, here, m.Apply(kernel.Add, which, m.Number(length)), m.Apply(kernel.Subtract, place, earlier))
	both := m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, at, n, values) })
	return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, both, from, at) }), m.Err
}

// fitting is what is inserted with the type and as many axes as the array.
func fitting(m *graph.Maker, n, values *graph.Node, at int, alone bool) (*graph.Node, error) {
	values, err := index.Fitting(m.Site, values, n.DType)
	if err != nil {
		return nil, err
	}
	for len(values.Shape) < len(n.Shape) {
		if values = m.ExpandDims(values, 0); m.Err != nil {
			return nil, m.Err
		}
	}
	if len(values.Shape) > len(n.Shape) {
		return nil, fmt.Errorf("values of shape %s have more axes than shape %s", grid.Format(values.Shape), grid.Format(n.Shape))
	}
	if alone {
		values = graph.Call(m, shape.Move, shape.MoveArgs{X: values, Axes: []int{0}, Places: []int{at}})
	}
	return values, m.Err
}

// spread is what is inserted, count elements along the axis, as large as the array along the
// others.
func spread(m *graph.Maker, n, values *graph.Node, at, count int) (*graph.Node, error) {
	lengths := slices.Clone(n.Shape)
	lengths[at] = count
	if _, err := grid.BroadcastTo(values.Shape, lengths); err != nil {
		return nil, fmt.Errorf("values of shape %s do not broadcast to shape %s of what is inserted", grid.Format(values.Shape), grid.Format(lengths))
	}
	return m.BroadcastTo(values, lengths...), m.Err
}

// Delete is NumPy's delete: the array without the elements of indices along an axis. It is
// part of whatever reads it.
func Delete(site graph.Site, n *graph.Node, indices []int, axis int) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "delete", n)
	m := &graph.Maker{Site: site}
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	length := n.Shape[at]
	gone := make([]int64, len(indices))
	for i, x := range indices {
		if x < -length || x >= length {
			return nil, fmt.Errorf("index %d is out of bounds for axis %d with size %d", x, at, length)
		}
		if gone[i] = int64(x); x < 0 {
			gone[i] += int64(length)
		}
	}
	slices.Sort(gone)
	gone = slices.Compact(gone)
	count := len(gone)
	if count == 0 {
		return n, nil
	}
	first, last := int(gone[0]), int(gone[count-1])
	if last-first+1 == count {
		before, after := m.Part(n, at, 0, first), m.Part(n, at, last+1, length)
		return m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, at, before, after) }), m.Err
	}
	// The i-th that is left comes after those that are gone before it.
	for i := range gone {
		gone[i] -= int64(i)
	}
	place := m.Arange(length - count)
	shift := m.Make(func() (*graph.Node, error) { return order.SearchSorted(m.Site, list(m, gone), place, true) })
	from := m.Apply(kernel.Add, place, shift)
	return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, n, from, at) }), m.Err
}

// DeleteEvery is the array without count elements along an axis, from one on, step apart:
// those of a slice. It holds none of their indices.
func DeleteEvery(site graph.Site, n *graph.Node, start, step, count, axis int) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "delete", n)
	m := &graph.Maker{Site: site}
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil || count == 0 {
		return n, err
	}
	if step < 0 {
		start, step = start+(count-1)*step, -step
	}
	length := n.Shape[at]
	if step == 1 || count == 1 {
		before, after := m.Part(n, at, 0, start), m.Part(n, at, start+count, length)
		return m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, at, before, after) }), m.Err
	}
	// One more is gone before each step-1 that are left, from the first that is gone on.
	place := m.Arange(length - count)
	gone := m.Apply(kernel.FloorDivide, m.Apply(kernel.Subtract, place, m.Number(start)), m.Number(step-1))
	gone = m.Apply(kernel.Add, gone, m.Number(1))
	gone = m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, gone, m.Number(0)), m.Number(count))
	from := m.Apply(kernel.Add, place, gone)
	return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, n, from, at) }), m.Err
}

// ranked is, for each of the numbers, how many of a rising list come before it, and
// whether it is in the list.
func ranked(m *graph.Maker, rising []int64, numbers *graph.Node) (before, in *graph.Node) {
	l := list(m, rising)
	before = m.Make(func() (*graph.Node, error) { return order.SearchSorted(m.Site, l, numbers, false) })
	upTo := m.Make(func() (*graph.Node, error) { return order.SearchSorted(m.Site, l, numbers, true) })
	return before, m.Apply(kernel.Greater, upTo, before)
}

// list is numbers of the program as an array.
func list(m *graph.Maker, v []int64) *graph.Node {
	return m.Bytes(slices.Clone(dtype.Bytes(v)), dtype.Int64, len(v))
}
