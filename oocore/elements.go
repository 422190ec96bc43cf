package oocore

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Select is, of each element, the choice of the first condition that is true there, and
// otherwise where none is: choices and otherwise are arrays or numbers of Go, as many
// choices as conditions. It is part of whatever reads it.
func Select(conditions []*Array, choices []any, otherwise any) *Array {
	return build("select", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		k := len(conditions)
		return elements.Select(site, in[1:1+k], in[1+k:], in[0])
	}, slices.Concat([]any{otherwise}, anys(conditions), choices)...)
}

// LinspaceTo returns count numbers at equal distances from each element to that of stop, both
// included, along a new first axis (NumPy's linspace of arrays). It is part of whatever reads it.
func (a *Array) LinspaceTo(stop *Array, count int) *Array {
	return both("linspace", func(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
		return elements.Linspace(site, a, b, count)
	}, a, stop)
}

// Closeness says how close numbers are that count as equal: |a-b| is at most Absolute +
// Relative·|b|. NumPy's are 1e-8 and 1e-5.
type Closeness struct {
	Relative, Absolute float64
	EqualNaN           bool // NaN is close to NaN
}

// IsClose returns which elements are close to b's, an array or a number of Go, as NumPy's
// isclose. It is part of whatever reads it.
func (a *Array) IsClose(b any, c Closeness) *Array {
	return both("isclose", func(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
		return elements.IsClose(site, a, b, elements.Closeness(c))
	}, a, b)
}

// AllClose returns whether all elements are close to b's, an array or a number of Go: one pass.
func (a *Array) AllClose(b any, c Closeness) *Array {
	return both("allclose", func(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
		return elements.AllClose(site, a, b, elements.Closeness(c))
	}, a, b)
}

// both is build for an operation of two operands.
func both(op string, f func(site graph.Site, a, b *graph.Node) (*graph.Node, error), a, b any) *Array {
	return build(op, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0], in[1]) }, a, b)
}
