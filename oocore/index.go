package oocore

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/op/index"
)

// RavelMultiIndex returns the places in C order of the elements of an array of some lengths
// that indices, one array for each axis, point to, as int64. One that is negative or out
// of range is an error when it is computed. It is part of whatever reads it.
func RavelMultiIndex(indices []*Array, lengths ...int) *Array {
	return build("ravel_multi_index", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return index.RavelMulti(site, in, lengths)
	}, anys(indices)...)
}

// UnravelIndex returns the indices along each axis of an array of some lengths, of places in C
// order of its elements, as int64. One that is negative or out of range is an error when
// it is computed. It is part of whatever reads it.
func (a *Array) UnravelIndex(lengths ...int) []*Array {
	return a.several("unravel_index", len(lengths), func(site graph.Site, n *graph.Node) ([]*graph.Node, error) {
		return index.Unravel(site, n, lengths)
	})
}

// Set returns a new array with a region replaced by values, an array or a number: NumPy's
// x[spec] = values. Values broadcast to the region and take the array's type; a number
// that the type does not have is rejected. It has no pass of its own.
func (a *Array) Set(spec string, values any) *Array {
	return build("set", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return index.Set(site, in[0], spec, in[1])
	}, a, values)
}

// What a mask selects has a length that is known when its trues have been counted. The
// functions that take a context count them when they are called, in a pass over the
// mask within the budget that the options say. After that they are as lazy as others:
// nothing is read again before the result is, and that costs no pass of its own, or one
// where few elements are selected. They hold a block of 1 MiB, and 8 bytes for each in
// all. The mask must not change between.

// Mask returns the elements where a mask of bools is true, in C order: NumPy's x[mask]. A
// mask of the first axes selects along those.
func (a *Array) Mask(ctx context.Context, mask *Array, opts ...Option) *Array {
	return computed(ctx, opts, "mask", a, mask)[0]
}

// Compress returns the parts along an axis where a condition of one dimension is not zero.
func (a *Array) Compress(ctx context.Context, condition *Array, axis int, opts ...Option) *Array {
	return computed(ctx, opts, "compress", condition, a, axis)[0]
}

// Nonzero returns where elements are not zero: their indices along each axis, as int64.
// Where that fails, each of the arrays that are returned says why.
func (a *Array) Nonzero(ctx context.Context, opts ...Option) []*Array {
	return computed(ctx, opts, "nonzero", a)
}

// ArgWhere returns where elements are not zero: a row of indices for each.
func (a *Array) ArgWhere(ctx context.Context, opts ...Option) *Array {
	return computed(ctx, opts, "argwhere", a)[0]
}

// FlatNonzero returns where elements are not zero, as if the array were flat.
func (a *Array) FlatNonzero(ctx context.Context, opts ...Option) *Array {
	return computed(ctx, opts, "flatnonzero", a)[0]
}

// counted makes nodes whose shapes follow from values, which run computes. Before that it
// plans the runs, and those that will save the nodes, with the largest counts that there
// can be. Nodes may be nil.
func counted(ctx context.Context, op string, opts []Option, make func(run op.Run) ([]*graph.Node, error)) ([]*graph.Node, error) {
	opts, err := fits(opts, func(opts []Option) error {
		nodes, err := make(counter(ctx, op, opts))
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n == nil {
				continue
			}
			// What this format cannot hold is left to the run that saves it.
			_, _ = made(n, nil).Save(ctx, op+".npy", append(opts[:len(opts):len(opts)], unstored)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return make(counter(ctx, op, opts))
}

// counter computes what shapes depend on, within the budget and on the workers that
// options say. How the result is to be stored is none of its business.
func counter(ctx context.Context, op string, opts []Option) op.Run {
	return func(n *graph.Node) ([]int64, error) {
		counts, err := Collect[int64](ctx, made(n, nil), append(opts[:len(opts):len(opts)], unstored)...)
		if errors.Is(err, ErrPlanned) {
			err = fmt.Errorf("a shape follows from values, and %w", ErrPlanned)
		}
		if err != nil {
			return nil, graph.Reject(n.Site, op, unwrapped(err), n)
		}
		if isDry(opts) && n.Blocks != nil {
			if c, ok := n.Blocks.Op.(interface{ Most() []int64 }); ok {
				counts = c.Most()
			}
		}
		return counts, nil
	}
}

// unstored takes back what options say of how a result is stored.
var unstored = option(func(s *settings) error {
	s.chunks, s.shards, s.codec, s.region = nil, nil, "", ""
	s.dims, s.attributes, s.fill = nil, nil, nil
	return nil
})

// unwrapped is why an operation was rejected, to be returned under another name.
func unwrapped(err error) error {
	if e, ok := err.(*Error); ok {
		return e.Err
	}
	return err
}
