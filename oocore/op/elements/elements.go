// Package elements has functions of each element that are made of others, or that work
// on the bits of floats.
package elements

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Signbit is which elements have their sign bit set, also -0 and negative NaN, as
// NumPy's signbit.
func Signbit(site graph.Site, n *graph.Node) (*graph.Node, error) {
	signs := n
	zero, err := graph.Scalar(site, 0)
	if err == nil && n.DType.Kind() == dtype.KindFloat {
		var one *graph.Node
		if one, err = graph.Full(site, dtype.FromInt(n.DType, 1)); err == nil {
			signs, err = graph.Apply(site, kernel.Copysign, one, n)
		}
	}
	if err == nil && n.DType.Kind() == dtype.KindComplex {
		err = errComplex
	}
	if err == nil {
		signs, err = graph.Apply(site, kernel.Less, signs, zero)
	}
	if err != nil {
		return nil, graph.Reject(site, "signbit", err, n)
	}
	return signs, nil
}

// LogAddExp is log(exp(a) + exp(b)), without overflow between, as NumPy's logaddexp.
// Shorter floats are computed in float32.
func LogAddExp(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	out, err := logAddExp(site, a, b)
	if err != nil {
		return nil, graph.Reject(site, "logaddexp", err, a, b)
	}
	return out, nil
}

func logAddExp(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	in, t, err := floats(site, a, b)
	if err != nil {
		return nil, err
	}
	if t.Short() {
		for i := range in {
			if in[i], err = graph.AsType(site, in[i], dtype.Float32); err != nil {
				return nil, err
			}
		}
	}
	apply := func(op kernel.Op, in ...*graph.Node) *graph.Node {
		if err != nil {
			return nil
		}
		var n *graph.Node
		n, err = graph.Apply(site, op, in...)
		return n
	}
	ln2, err := graph.Scalar(site, math.Ln2)
	if err != nil {
		return nil, err
	}
	larger, less := apply(kernel.Maximum, in...), apply(kernel.Minimum, in...)
	rest := apply(kernel.Log1p, apply(kernel.Exp, apply(kernel.Subtract, less, larger)))
	// Equal ones may be infinite, and their difference no number.
	out := apply(kernel.Where, apply(kernel.Equal, in...), apply(kernel.Add, larger, ln2), apply(kernel.Add, larger, rest))
	if err != nil {
		return nil, err
	}
	return graph.AsType(site, out, t)
}

// floats are two operands in the float that they meet in.
func floats(site graph.Site, a, b *graph.Node) ([]*graph.Node, dtype.Type, error) {
	if a.DType.Kind() == dtype.KindComplex || b.DType.Kind() == dtype.KindComplex {
		return nil, dtype.Invalid, errComplex
	}
	met, err := graph.Apply(site, kernel.Hypot, a, b) // of the same types
	if err != nil {
		return nil, dtype.Invalid, err
	}
	in := []*graph.Node{a, b}
	for i := range in {
		if in[i], err = graph.AsType(site, in[i], met.DType); err == nil {
			in[i], err = graph.BroadcastTo(site, in[i], met.Shape...)
		}
		if err != nil {
			return nil, dtype.Invalid, err
		}
	}
	return in, met.DType, nil
}
