// Package elements has functions of each element that are made of others, or that work
// on the bits of floats.
package elements

import (
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
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

// between is NumPy's linspace between arrays: count steps along a new first axis, both
// ends included.
func between(site graph.Site, start, stop *graph.Node, count int) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	shape, err := grid.Broadcast(start.Shape, stop.Shape)
	if err == nil && count < 0 {
		err = fmt.Errorf("a count of %d is negative", count)
	}
	if err != nil {
		return nil, graph.Reject(site, "linspace", err, start, stop)
	}
	t := start.DType
	if start.Weak && !stop.Weak {
		t = stop.DType
	} else if !stop.Weak {
		t = dtype.Promote(t, stop.DType)
	}
	if t.Kind() < dtype.KindFloat {
		t = dtype.Float64
	}
	for _, n := range []*graph.Node{start, stop} {
		if n.DType.Kind() == dtype.KindComplex && t.Kind() < dtype.KindComplex {
			t = dtype.Complex128
		}
	}
	start, stop = m.Cast(start, t), m.Cast(stop, t)
	at := m.Reshape(m.Arange(count), slices.Concat([]int{count}, slices.Repeat([]int{1}, len(shape)))...)
	step := m.Apply(kernel.Divide, m.Apply(kernel.Subtract, stop, start), m.Number(float64(max(count-1, 1))))
	out := m.Apply(kernel.Add, m.Apply(kernel.Multiply, m.Cast(at, t), step), start)
	if count > 1 {
		out = m.Apply(kernel.Where, m.Apply(kernel.Equal, at, m.Number(count-1)), stop, out)
	}
	return m.BroadcastTo(out, slices.Concat([]int{count}, shape)...), m.Err
}
