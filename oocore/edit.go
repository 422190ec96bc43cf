package oocore

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/edit"
)

// SetMask returns a new array with values where a mask of its first axes is true: NumPy's
// x[mask] = values. Values, an array or a number, broadcast to what x[mask] is, and take
// the array's type. A list whose length is not the number of selected elements is an error when it
// is computed. A list takes the passes of Cumsum over the mask; other values take none.
func (a *Array) SetMask(mask *Array, values any) *Array {
	return build("set", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return edit.SetMask(site, in[0], in[1], in[2])
	}, a, mask, values)
}

// SetAt returns a new array with values where indices along an axis point to: NumPy's
// x[indices] = values for the first axis. Values, an array or a number, broadcast to the
// elements at the indices; where an index is repeated its last value stays. The indices are
// sorted, with the passes of Argsort.
func (a *Array) SetAt(indices *Array, values any, axis int) *Array {
	return build("set", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return edit.SetAt(site, in[0], in[1], in[2], axis)
	}, a, indices, values)
}

// Piecewise returns, for each element, the value that belongs to the last condition that is true
// there, in the array's type; where none is, the value after those of the conditions, or zero. It is
// NumPy's piecewise with its functions computed from the whole array. Values are arrays or numbers of
// Go, as many as conditions or one more. It is computed in the pass that reads it.
func (a *Array) Piecewise(conditions []*Array, values []any) *Array {
	return build("piecewise", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		k := 1 + len(conditions)
		return edit.Piecewise(site, in[0], in[1:k], in[k:])
	}, slices.Concat([]any{a}, anys(conditions), values)...)
}

// Insert returns the array with values before each of the indices along an axis, in the array's
// type: NumPy's insert with a list of indices. It has no pass of its own.
func (a *Array) Insert(indices []int, values any, axis int) *Array {
	return build("insert", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return edit.Insert(site, in[0], indices, false, in[1], axis)
	}, a, values)
}

// Delete returns the array without the elements of indices along an axis. It has no pass of its
// own.
func (a *Array) Delete(axis int, indices ...int) *Array {
	return door.One("delete", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return edit.Delete(site, n, indices, axis)
	}, a)
}
