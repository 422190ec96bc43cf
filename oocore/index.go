package oocore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/edit"
	"github.com/gonbext/gonbext/oocore/internal/op/elements"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
)

// RavelMultiIndex returns the places in C order of the elements of an array of some lengths
// that indices, one array for each axis, point to, as int64. One that is negative or out
// of range is an error when it is computed. It is part of whatever reads it.
func RavelMultiIndex(indices []*Array, lengths ...int) *Array {
	return build("ravel_multi_index", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return index.RavelMulti(site, in, lengths)
	}, anys(indices)...)
}

// The length of what a mask selects is known once its true elements have been counted. The
// functions that take a context count them when they are called, in a pass over the
// mask within the budget that the options say. After that they are lazy like others:
// nothing is read until the result is, which costs no pass of its own, or one
// where few elements are selected. They hold a block of 1 MiB, and 8 bytes for each block of the
// mask. The mask must not change in between.

// counted makes nodes whose shapes follow from values, which run computes. Before that it
// plans the runs, and those that will save the nodes, with the largest counts that there
// can be. Nodes may be nil.
func counted(ctx context.Context, op string, opts []Option, make func(run op.Run) ([]*graph.Node, error)) ([]*graph.Node, error) {
	opts, err := internals{}.Fits(opts, func(opts []Option) error {
		nodes, err := make(counter(ctx, op, opts))
		if err != nil {
			return err
		}
		s, err := applyOptions(opts)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n == nil {
				continue
			}
			// What this format cannot hold is left to the run that saves it.
			_, _ = made(n, nil).Save(ctx, s.SomeFile(op), append(opts[:len(opts):len(opts)], unstored)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return make(counter(ctx, op, opts))
}

// counter computes what shapes depend on, within the budget and on the workers that
// options say. Options of how the result is stored do not apply to it.
func counter(ctx context.Context, op string, opts []Option) op.Run {
	return func(n *graph.Node) ([]int64, error) {
		counts, err := Collect[int64](ctx, made(n, nil), append(opts[:len(opts):len(opts)], unstored)...)
		if errors.Is(err, ErrPlanned) {
			err = fmt.Errorf("a shape follows from values, and %w", ErrPlanned)
		}
		if err != nil {
			return nil, graph.Reject(n.Site, op, unwrapped(err), n)
		}
		s, err := applyOptions(opts)
		if err != nil {
			return nil, err
		}
		return s.Counts(n, counts), nil
	}
}

// unwrapped is why an operation was rejected, to be returned under another name.
func unwrapped(err error) error {
	if e, ok := err.(*Error); ok {
		return e.Err
	}
	return err
}

// Select returns, for each element, the choice that belongs to the first condition that is true
// there, and otherwise where none is. Choices and otherwise are arrays or numbers of Go, with as many
// choices as conditions. It is computed in the pass that reads it.
func Select(conditions []*Array, choices []any, otherwise any) *Array {
	return build("select", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		k := len(conditions)
		return elements.Select(site, in[1:1+k], in[1+k:], in[0])
	}, slices.Concat([]any{otherwise}, anys(conditions), choices)...)
}

// Closeness says how close two numbers must be to count as equal: |a-b| is at most Absolute +
// Relative·|b|. NumPy's are Relative: 1e-5 and Absolute: 1e-8.
type Closeness struct {
	Relative, Absolute float64
	EqualNaN           bool // NaN is close to NaN
}

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
