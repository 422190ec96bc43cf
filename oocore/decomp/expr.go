package decomp

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// parts are what an expression takes of a decomposition.
type parts = door.Decomposed[*oocore.Array]

func init() { internals.SetDecomposer(decomposed) }

// decomposed is a decomposition in an expression.
func decomposed(ctx context.Context, x *oocore.Array, d op.Decomposition, planned bool, opts []oocore.Option) (*parts, error) {
	var out *parts
	var err error
	switch o := (TuckerOptions{Modes: d.Modes, Iterations: d.Iterations, Tolerance: d.Tolerance, Seed: d.Seed}); {
	case d.Op == "cp":
		out, err = cpParts(ctx, x, d, planned, opts)
	case planned:
		out, err = tuckerPlanned(x, d, opts)
	case d.Op == "hosvd":
		out, err = tuckerParts(HOSVD(ctx, x, d.Ranks, o, opts...))
	default:
		out, err = tuckerParts(Tucker(ctx, x, d.Ranks, o, opts...))
	}
	if inner := errors.Unwrap(err); inner != nil && !planned { // the name is the expression's to say
		err = inner
	}
	return out, err
}

func cpParts(ctx context.Context, x *oocore.Array, d op.Decomposition, planned bool, opts []oocore.Option) (out *parts, err error) {
	rank := d.Ranks[0]
	p := &CPResult{}
	if !planned {
		p, err = CP(ctx, x, rank, CPOptions{Iterations: d.Iterations, Tolerance: d.Tolerance, SVD: d.SVD, Seed: d.Seed, NonNegative: d.NonNegative}, opts...)
	} else if err = ranked(x, rank); err == nil {
		t := &tensor{opts: opts, shape: x.Shape(), given: floats(x)}
		if err = t.share(func(int) int { return rank }); err != nil {
			return nil, err
		}
		p.Weights = make([]float64, rank)
		for _, n := range x.Shape() {
			p.Factors = append(p.Factors, zeros(n, rank))
		}
	}
	if err != nil {
		return nil, err
	}
	out = &parts{Whole: p.Reconstruct(), Weights: oocore.FromSlice(p.Weights), Factors: p.Factors}
	if !planned {
		out.Errors = oocore.FromSlice(p.Errors)
	}
	return out, nil
}

func tuckerParts(k *TuckerResult, err error) (*parts, error) {
	if err != nil {
		return nil, err
	}
	return &parts{Whole: k.Reconstruct(), Core: k.Core, Factors: k.Factors, Errors: oocore.FromSlice(k.Errors)}, nil
}

// tuckerPlanned has zeros for all that would be computed.
func tuckerPlanned(x *oocore.Array, d op.Decomposition, opts []oocore.Option) (*parts, error) {
	modes, err := shortenable(x, d.Ranks, d.Modes)
	if err != nil {
		return nil, err
	}
	t := &tensor{opts: opts, shape: x.Shape(), x: floats(x), given: floats(x)}
	if err = t.share(rankOf(modes, d.Ranks)); err != nil {
		return nil, err
	}
	k := &TuckerResult{Modes: modes, Core: t.given}
	shape := x.Shape()
	for i, m := range modes {
		k.Factors = append(k.Factors, zeros(shape[m], d.Ranks[i]))
		k.Core = along(t, k.Core, m, mat.NewDense(shape[m], d.Ranks[i], nil))
	}
	if k.Core.Bytes() <= t.inMemory {
		shape := k.Core.Shape()
		if k.Core.DType() == oocore.Float32 {
			k.Core = oocore.FromSlice(make([]float32, k.Core.Size()), shape...)
		} else {
			k.Core = oocore.FromSlice(make([]float64, k.Core.Size()), shape...)
		}
	}
	out, err := tuckerParts(k, nil)
	out.Errors = nil
	return out, err
}

// zeros is a matrix in memory, as factors are.
func zeros(rows, cols int) *oocore.Array {
	return oocore.FromSlice(make([]float64, rows*cols), rows, cols)
}
