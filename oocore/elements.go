package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Signbit is which elements have their sign bit set: negative ones, -0 and NaN with a
// sign. It is part of whatever reads it.
func (a *Array) Signbit() *Array { return a.view("signbit", elements.Signbit) }

// LogAddExp is log(exp(a) + exp(b)), without overflow between; b is an array or a number
// of Go. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) LogAddExp(b any) *Array { return both("logaddexp", elements.LogAddExp, a, b) }

// NextAfter is the float that comes after a on the way to b, an array or a number of Go;
// b where they are equal. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) NextAfter(b any) *Array { return both("nextafter", elements.NextAfter, a, b) }

// Closeness says how close numbers are that count as equal: |a-b| is at most Absolute +
// Relative·|b|. NumPy's are 1e-8 and 1e-5.
type Closeness = elements.Closeness

// IsClose is which elements are close to b's, an array or a number of Go, as NumPy's
// isclose. It is part of whatever reads it.
func (a *Array) IsClose(b any, c Closeness) *Array {
	return both("isclose", func(site graph.Site, a, b *graph.Node) (*graph.Node, error) { return elements.IsClose(site, a, b, c) }, a, b)
}

// AllClose is whether all elements are close to b's, an array or a number of Go: one pass.
func (a *Array) AllClose(b any, c Closeness) *Array {
	return both("allclose", func(site graph.Site, a, b *graph.Node) (*graph.Node, error) { return elements.AllClose(site, a, b, c) }, a, b)
}

// NaNToNum is the array with nan for NaN, and with high and low for positive and negative
// infinity: the type's largest and smallest finite number where they are infinite. It is
// part of whatever reads it. Complex numbers are an error.
func (a *Array) NaNToNum(nan, high, low float64) *Array {
	return a.view("nan_to_num", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return elements.NaNToNum(site, n, nan, high, low)
	})
}

// both is build for an operation of two operands.
func both(op string, f func(site graph.Site, a, b *graph.Node) (*graph.Node, error), a, b any) *Array {
	return build(op, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0], in[1]) }, a, b)
}
