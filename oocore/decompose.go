package oocore

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// decompose runs a decomposition for an expression. Where it is planned, nothing is to be
// computed: the parts have their shapes, and Errors, whose length nobody knows, is nil.
type decompose = func(ctx context.Context, x *Array, d op.Decomposition, planned bool, opts []Option) (*door.Decomposed[*Array], error)

var decomposer atomic.Pointer[decompose]

// host computes what an expression needs while it is built.
type host struct {
	ctx  context.Context
	opts []Option
	// whole plans the whole expression, as the first of its runs is to be made; nil where
	// that has been done. What cannot be planned, since it follows from values, does not
	// stop it from being computed.
	whole func(opts []Option) error
}

func (h *host) fits() error {
	if h.whole == nil {
		return nil
	}
	whole := h.whole
	h.whole = nil
	opts, err := internals{}.Fits(h.opts, func(opts []Option) error {
		err := whole(opts)
		if errors.As(err, new(*MemoryError)) {
			return err
		}
		return nil
	})
	if err == nil {
		h.opts = opts
	}
	return err
}

func (h *host) Integers(op string, n *graph.Node) ([]int64, error) {
	if err := h.fits(); err != nil {
		return nil, graph.Reject(n.Site, op, err, n)
	}
	return counter(h.ctx, op, h.opts)(n)
}

func (h *host) Decompose(d op.Decomposition) (*op.Decomposed, error) {
	if err := h.fits(); err != nil {
		return nil, graph.Reject(d.Site, d.Op, err, d.X)
	}
	out, err := h.decompose(d)
	if err != nil {
		return nil, graph.Reject(d.Site, d.Op, err, d.X)
	}
	return out, nil
}

func (h *host) decompose(d op.Decomposition) (*op.Decomposed, error) {
	f := decomposer.Load()
	if f == nil {
		return nil, errors.New("this program has no decompositions: import github.com/gonbext/gonbext/oocore/decomp")
	}
	s, err := applyOptions(h.opts)
	if err != nil {
		return nil, err
	}
	all, err := (*f)(h.ctx, made(d.X, nil), d, s.PlanOnly, append(h.opts[:len(h.opts):len(h.opts)], unstored))
	if err != nil {
		return nil, unwrapped(err)
	}
	out := &op.Decomposed{Factors: make([]*graph.Node, len(all.Factors))}
	part := func(to **graph.Node, a *Array) {
		if a != nil && err == nil {
			*to, err = a.expression()
		}
	}
	part(&out.Whole, all.Whole)
	part(&out.Core, all.Core)
	part(&out.Weights, all.Weights)
	part(&out.Errors, all.Errors)
	for i, a := range all.Factors {
		part(&out.Factors[i], a)
	}
	return out, err
}

// SetDecomposer sets what decompositions in expressions call.
func (internals) SetDecomposer(f decompose) { decomposer.Store(&f) }
