package oocore

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
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
