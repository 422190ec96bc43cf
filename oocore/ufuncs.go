package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Angle returns the angles of complex numbers in radians; of real ones 0, or pi below zero. It is
// part of whatever reads it.
func (a *Array) Angle() *Array {
	return a.view("angle", func(site graph.Site, n *graph.Node) (*graph.Node, error) { return elements.Angle(site, n, false) })
}

// Radians returns degrees as radians. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) Radians() *Array { return a.view("radians", elements.Radians) }

// Degrees returns radians as degrees. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) Degrees() *Array { return a.view("degrees", elements.Degrees) }

// Sinc returns sin(pi·x)/(pi·x), and 1 of 0. It is part of whatever reads it. Complex numbers are
// an error.
func (a *Array) Sinc() *Array { return a.view("sinc", elements.Sinc) }

// IsPosInf returns which elements are infinite and positive. It is part of whatever reads it.
func (a *Array) IsPosInf() *Array { return a.view("isposinf", elements.IsPosInf) }

// IsNegInf returns which elements are infinite and negative. It is part of whatever reads it.
func (a *Array) IsNegInf() *Array { return a.view("isneginf", elements.IsNegInf) }

// IsReal returns which elements have no imaginary part. It is part of whatever reads it.
func (a *Array) IsReal() *Array { return a.view("isreal", elements.IsReal) }

// IsComplex returns which elements have an imaginary part. It is part of whatever reads it.
func (a *Array) IsComplex() *Array { return a.view("iscomplex", elements.IsComplex) }

// Fmod returns C's remainder by b, an array or a number of Go: of the sign of a, where Mod's is
// that of b. It is part of whatever reads it. Complex numbers are an error.
func (a *Array) Fmod(b any) *Array { return both("fmod", elements.Fmod, a, b) }

// FloatPower returns the power b, an array or a number of Go, in float64 or complex128. It is part
// of whatever reads it.
func (a *Array) FloatPower(b any) *Array { return both("float_power", elements.FloatPower, a, b) }

// Heaviside returns 0 below zero, b at zero, an array or a number of Go, and 1 above. It is part of
// whatever reads it. Complex numbers are an error.
func (a *Array) Heaviside(b any) *Array { return both("heaviside", elements.Heaviside, a, b) }

// LogAddExp2 returns log2(2^a + 2^b), without overflow between; b is an array or a number of Go. It
// is part of whatever reads it. Complex numbers are an error.
func (a *Array) LogAddExp2(b any) *Array { return both("logaddexp2", elements.LogAddExp2, a, b) }

// Modf returns the fractional and the integral parts, which both have the sign. It is part of
// whatever reads it. Complex numbers are an error.
func (a *Array) Modf() (fraction, integral *Array) {
	part := func(k int) *Array {
		return a.view("modf", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			fraction, integral, err := elements.Modf(site, n)
			return [2]*graph.Node{fraction, integral}[k], err
		})
	}
	return part(0), part(1)
}

// Choose returns, of each element, an integer, the element of the choice with that number: choices
// are arrays or numbers of Go that broadcast with it. A number that no choice has is an error
// of the run. It is part of whatever reads it.
func (a *Array) Choose(choices ...any) *Array {
	return build("choose", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return elements.Choose(site, in[0], in[1:])
	}, append([]any{a}, choices...)...)
}
