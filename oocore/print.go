package oocore

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/arraytext"
)

// Print writes the elements as NumPy prints them: all of an array of up to 1000, and of a
// larger one those in its corners, with ... between. It computes only what it writes.
func (a *Array) Print(ctx context.Context, w io.Writer, opts ...Option) error {
	n, err := a.expression()
	if err != nil {
		return err
	}
	abridged := a.Size() > arraytext.Threshold
	corners := a
	if abridged {
		corners = a.corners()
	}
	words, err := corners.words(ctx, opts)
	if err != nil {
		return err
	}
	if len(n.Shape) == 0 {
		words[0] = strings.TrimLeft(words[0], " ")
	}
	_, err = fmt.Fprintln(w, arraytext.Layout(n.Shape, words, abridged))
	return err
}

// corners are the first and the last elements along each axis that is long.
func (a *Array) corners() *Array {
	for axis, n := range a.Shape() {
		if n <= 2*arraytext.Edge {
			continue
		}
		ends := [2]Selector{Range{0, arraytext.Edge}, Range{n - arraytext.Edge, n}}
		var parts [2]*Array
		for i, end := range ends {
			selectors := append(slices.Repeat([]Selector{Whole}, axis), end)
			parts[i] = a.Index(selectors...)
		}
		a = Concatenate(axis, parts[0], parts[1])
	}
	return a
}

// words are the elements of a small array as texts, all of one width.
func (a *Array) words(ctx context.Context, opts []Option) ([]string, error) {
	switch t := a.DType(); t {
	case Bool:
		v, err := Collect[bool](ctx, a, opts...)
		return arraytext.Bools(v), err
	case Float8E4M3FN, Float8E5M2, Float16, BFloat16, Float32, Float64:
		v, err := Collect[float64](ctx, a.AsType(Float64), opts...)
		if a.Dims() == 0 && err == nil {
			return []string{arraytext.Float(v[0], precisionOf(t))}, nil
		}
		return arraytext.Floats(v, precisionOf(t)), err
	case Complex64, Complex128:
		part := Float64
		if t == Complex64 {
			part = Float32
		}
		v, err := Collect[complex128](ctx, a.AsType(Complex128), opts...)
		if a.Dims() == 0 && err == nil {
			return []string{arraytext.Complex(v[0], precisionOf(part))}, nil
		}
		return arraytext.Complexes(v, precisionOf(part)), err
	case Uint64:
		v, err := Collect[uint64](ctx, a, opts...)
		return arraytext.Integers(v), err
	default:
		v, err := Collect[int64](ctx, a.AsType(Int64), opts...)
		return arraytext.Integers(v), err
	}
}

func precisionOf(t DType) arraytext.Precision {
	p := arraytext.Precision{Round: func(v float64) float64 { return dtype.FromFloat(t, v).Float() }, Digits: 15}
	switch t {
	case Float32:
		p.Digits = 6
	case Float16:
		p.Digits = 3
	case BFloat16, Float8E4M3FN, Float8E5M2:
		p.Digits = 2
	}
	return p
}
