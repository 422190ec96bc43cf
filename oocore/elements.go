package oocore

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Signbit returns which elements have their sign bit set: negative ones, -0 and NaN with a
// sign. It is part of whatever reads it.
func (a *Array) Signbit() *Array { return a.view("signbit", elements.Signbit) }

// LogAddExp returns log(exp(a) + exp(b)), without overflow between; b is an array or a number
// of Go. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) LogAddExp(b any) *Array { return both("logaddexp", elements.LogAddExp, a, b) }

// NextAfter returns the float that comes after a on the way to b, an array or a number of Go;
// b where they are equal. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) NextAfter(b any) *Array { return both("nextafter", elements.NextAfter, a, b) }

// Spacing returns the distance of each element to the next float away from zero, with its sign;
// of float16, as in NumPy, to the next larger one. It is part of whatever reads it. Complex numbers
// are an error.
func (a *Array) Spacing() *Array { return a.view("spacing", elements.Spacing) }

// Frexp returns the elements as mantissas, from a half to one, and exponents of two, as int32:
// a is mantissa·2^exponent. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) Frexp() (mantissa, exponent *Array) {
	mantissa = a.view("frexp", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		m, e, err := elements.Frexp(site, n)
		exponent = made(e, err)
		return m, err
	})
	if exponent == nil {
		exponent = mantissa
	}
	return mantissa, exponent
}

// Ldexp returns a·2^exponents, rounded once; exponents are an array of integers or an integer.
// It is part of whatever reads it. Complex numbers are an error.
func (a *Array) Ldexp(exponents any) *Array { return both("ldexp", elements.Ldexp, a, exponents) }

// I0 returns the modified Bessel function of the first kind and order zero (NumPy's i0). It is
// part of whatever reads it. Complex numbers are an error.
func (a *Array) I0() *Array { return a.view("i0", elements.I0) }

// Select is, of each element, the choice of the first condition that is true there, and
// otherwise where none is: choices and otherwise are arrays or numbers of Go, as many
// choices as conditions. It is part of whatever reads it.
func Select(conditions []*Array, choices []any, otherwise any) *Array {
	return build("select", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		k := len(conditions)
		return elements.Select(site, in[1:1+k], in[1+k:], in[0])
	}, slices.Concat([]any{otherwise}, anys(conditions), choices)...)
}

// FullLike returns one value, an array of one element or a number of Go, everywhere in the
// array's shape and in its type. It takes no memory.
func (a *Array) FullLike(value any) *Array { return both("full_like", elements.Filled, a, value) }

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

// NaNToNum returns the array with nan for NaN, and with high and low for positive and negative
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
