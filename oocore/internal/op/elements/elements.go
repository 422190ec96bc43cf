// Package elements has functions of each element that are made of others, or that work
// on the bits of floats.
package elements

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Signbit is which elements have their sign bit set, also -0 and negative NaN, as
// NumPy's signbit.
func Signbit(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	signs := n
	switch n.DType.Kind() {
	case dtype.KindFloat:
		signs = m.Apply(kernel.Copysign, m.Full(dtype.FromInt(n.DType, 1)), n)
	case dtype.KindComplex:
		m.Fail(errComplex)
	}
	return m.Result("signbit", m.Apply(kernel.Less, signs, m.Number(0)), n)
}

// LogAddExp is log(exp(a) + exp(b)), without overflow between, as NumPy's logaddexp.
// Shorter floats are computed in float32.
func LogAddExp(site graph.Site, args op.Binary) (_ *graph.Node, err error) {
	a, b := args.A, args.B
	defer graph.Named(&err, site, "logaddexp", a, b)
	a, b, t, err := floats(site, a, b)
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	if t.Short() {
		a, b = m.Cast(a, dtype.Float32), m.Cast(b, dtype.Float32)
	}
	larger, less := m.Apply(kernel.Maximum, a, b), m.Apply(kernel.Minimum, a, b)
	rest := m.Apply(kernel.Log1p, m.Apply(kernel.Exp, m.Apply(kernel.Subtract, less, larger)))
	// Equal ones may be infinite, and their difference no number.
	out := m.Apply(kernel.Where, m.Apply(kernel.Equal, a, b), m.Apply(kernel.Add, larger, m.Number(math.Ln2)), m.Apply(kernel.Add, larger, rest))
	return m.Cast(out, t), m.Err
}

// floats are two operands in the float that they meet in.
func floats(site graph.Site, a, b *graph.Node) (_, _ *graph.Node, t dtype.Type, err error) {
	if a.DType.Kind() == dtype.KindComplex || b.DType.Kind() == dtype.KindComplex {
		return nil, nil, t, errComplex
	}
	m := &graph.Maker{Site: site}
	met := m.Apply(kernel.Hypot, a, b) // of the same types
	if m.Err != nil {
		return nil, nil, t, m.Err
	}
	meet := func(n *graph.Node) *graph.Node { return m.BroadcastTo(m.Cast(n, met.DType), met.Shape...) }
	return meet(a), meet(b), met.DType, m.Err
}
