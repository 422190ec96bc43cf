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

// both is build for an operation of two operands.
func both(op string, f func(site graph.Site, a, b *graph.Node) (*graph.Node, error), a, b any) *Array {
	return build(op, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0], in[1]) }, a, b)
}
