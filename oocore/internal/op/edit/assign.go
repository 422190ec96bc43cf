// Package edit has the operations that assign, insert or delete elements where a mask or
// indices point to. All of it is composed of sorting, searching and
// taking, so that neither indices nor values have to fit into memory.
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
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
)

// SetMask is NumPy's x[mask] = values of a new array: elements where a mask of the first
// axes is true are values, which broadcast to what x[mask] is, in the order of x. One
// value for all is part of whatever reads the result; a list takes the passes of Cumsum
// over the mask, and is read in its order.
func SetMask(site graph.Site, n, mask, values *graph.Node) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "set", n, mask, values)
	m := &graph.Maker{Site: site}
	k := len(mask.Shape)
	if mask.DType != dtype.Bool {
		return nil, fmt.Errorf("a mask has bools, not %s", mask.DType)
	}
	if k > len(n.Shape) || !slices.Equal(mask.Shape, n.Shape[:k]) {
		return nil, fmt.Errorf("a mask of shape %s is not for the first axes of shape %s", grid.Format(mask.Shape), grid.Format(n.Shape))
	}
	values, err = index.Fitting(m.Site, values, n.DType)
	if err != nil {
		return nil, err
	}
	rest := n.Shape[k:]
	wide := m.Reshape(mask, append(slices.Clone(mask.Shape), slices.Repeat([]int{1}, len(rest))...)...)
	if len(values.Shape) > len(rest)+1 {
		return nil, fmt.Errorf("values of shape %s have more axes than the elements that the mask selects", grid.Format(values.Shape))
	}
	count := 1
	if len(values.Shape) == len(rest)+1 {
		count = values.Shape[0]
	}
	if count == 1 { // for all
		if len(values.Shape) == len(rest)+1 {
			values = m.Squeeze(values, 0)
		}
		values = m.BroadcastTo(values, rest...)
		return m.Apply(kernel.Where, wide, values, n), m.Err
	}
	values = m.BroadcastTo(values, append([]int{count}, rest...)...)
	trues := m.Reduce(kernel.CountNonzero, mask, graph.ReduceOptions{})
	other := m.Apply(kernel.NotEqual, trues, m.Number(count))
	reason := fmt.Sprintf("%d values are not for as many elements as the mask selects", count)
	if grid.Size(values.Shape) == 0 {
		return m.FailIf(m.BroadcastTo(other, n.Shape...), n, reason), m.Err
	}
	zero := m.FailIf(other, m.Full(dtype.ValueOf(int64(0))), reason)
	flat := m.Reshape(m.Cast(mask, dtype.Int64), -1)
	at := m.Make(func() (*graph.Node, error) { return scan.Cumulative(m.Site, "cumsum", false, flat, 0) })
	at = m.Apply(kernel.Maximum, m.Apply(kernel.Minimum, m.Apply(kernel.Subtract, at, m.Number(1)), m.Number(count-1)), zero)
	at = m.Reshape(at, mask.Shape...)
	taken := m.Make(func() (*graph.Node, error) { return index.Take(m.Site, values, at, 0) })
	return m.Apply(kernel.Where, wide, taken, n), m.Err
}

// SetAt is NumPy's x[indices] = values of a new array, or x[:, indices] = values and so on
// for another axis: values broadcast to what is pointed to, and of several for one place
// the last counts. The indices are sorted, with the passes of Argsort; the rest is part of
// whatever reads the result.
func SetAt(site graph.Site, n, indices, values *graph.Node, axis int) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "set", n, indices, values)
	m := &graph.Maker{Site: site}
	at, err := grid.Axis(axis, len(n.Shape))
	if err != nil {
		return nil, err
	}
	length, before, after := n.Shape[at], n.Shape[:at], n.Shape[at+1:]
	if values, err = index.Fitting(m.Site, values, n.DType); err != nil {
		return nil, err
	}
	region := slices.Concat(before, indices.Shape, after)
	for len(values.Shape) > len(region) && values.Shape[0] == 1 {
		if values, err = graph.Squeeze(m.Site, values, 0); err != nil {
			return nil, err
		}
	}
	if _, err := grid.BroadcastTo(values.Shape, region); err != nil {
		return nil, fmt.Errorf("values of shape %s do not broadcast to shape %s of what the indices point to", grid.Format(values.Shape), grid.Format(region))
	}
	count := grid.Size(indices.Shape)
	if count == 0 || grid.Size(n.Shape) == 0 && length > 0 {
		return n, nil
	}
	if indices, err = index.Integers(m.Site, indices); err != nil {
		return nil, err
	}
	values = m.Reshape(m.BroadcastTo(values, region...), slices.Concat(before, []int{count}, after)...)
	indices = m.Reshape(indices, count)
	indices = m.Apply(kernel.Where, m.Apply(kernel.Less, indices, m.Number(0)), m.Apply(kernel.Add, indices, m.Number(length)), indices)
	outside := m.Apply(kernel.LogicalOr, m.Apply(kernel.Less, indices, m.Number(0)), m.Apply(kernel.GreaterEqual, indices, m.Number(length)))
	indices = m.FailIf(outside, indices, fmt.Sprintf("an index is out of bounds for axis %d with size %d", at, length))
	if length == 0 {
		return nil, fmt.Errorf("axis %d has no elements to assign to", at)
	}
	// The last of the indices that point to each place.
	by := graph.Call(m, order.Argsort, order.SortArgs{X: indices, Axis: 0})
	take := func(n, at *graph.Node, axis int) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return index.Take(m.Site, n, at, axis) })
	}
	sorted := take(indices, by, 0)
	place := m.Arange(length)
	last := m.Make(func() (*graph.Node, error) { return order.SearchSorted(m.Site, sorted, place, true) })
	last = m.Apply(kernel.Maximum, m.Apply(kernel.Subtract, last, m.Number(1)), m.Number(0))
	found := m.Apply(kernel.Equal, take(sorted, last, 0), place)
	taken := take(values, take(by, last, 0), at)
	found = m.Reshape(found, slices.Concat([]int{length}, slices.Repeat([]int{1}, len(after)))...)
	return m.Apply(kernel.Where, found, taken, n), m.Err
}
