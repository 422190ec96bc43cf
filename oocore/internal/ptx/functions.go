package ptx

import (
	"fmt"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// formula instantiates a formula's text. Whether the operands are rare is added to a
// predicate.
func (e *emitter) formula(text string, t dtype.Type, rare string, a ...string) string {
	result := e.register(prefixOf(t))
	replace := []string{"$d", result, "$r", rare}
	for i, x := range a {
		replace = append(replace, fmt.Sprint("$", i), x)
	}
	e.body.WriteString(strings.NewReplacer(replace...).Replace(text) + "\n")
	return result
}

// function is that of a formula. What the formula calls rare is computed as package kernel
// does, as far as no loop is needed for it.
func (e *emitter) function(op kernel.Op, t dtype.Type, text string, a []string) string {
	rarely := e.rarely(op, t)
	if rarely == nil {
		return e.formula(text, op.Result(t), e.rare, a...)
	}
	rare := e.is("ne.u32", 0, 0)
	result := e.formula(text, t, rare, a...)
	usual := e.label()
	e.under(e.not(rare), "bra %s", usual)
	e.do("mov.b%d %s, %s", bits(t), result, rarely(a))
	e.at(usual)
	return result
}

// rarely computes a function of operands that its formula calls rare; nil where all of
// them are left to the CPU.
func (e *emitter) rarely(op kernel.Op, t dtype.Type) func(a []string) string {
	wide := dtype.Float64
	switch op {
	case kernel.Sin, kernel.Cos, kernel.Tan:
		return func(a []string) string { return e.circular(op, t, a[0]) }
	case kernel.Power:
		return func(a []string) string { return e.powerRarely(t, a[0], a[1]) }
	}
	if t != wide {
		return nil
	}
	switch op {
	case kernel.Arcsinh, kernel.Arccosh:
		return func(a []string) string { return e.area(op, a[0]) }
	case kernel.Hypot:
		return func(a []string) string { return e.hypotRarely(a[0], a[1]) }
	case kernel.Arctan2:
		return func(a []string) string { return e.angleRarely(a[0], a[1]) }
	}
	return nil
}

// circular is a sine, cosine or tangent by the formula of float64, beyond which only the
// CPU reduces the angle. Those of what is not finite are NaN.
func (e *emitter) circular(op kernel.Op, t dtype.Type, x string) string {
	wide := dtype.Float64
	rare, angle := e.is("ne.u32", 0, 0), x
	y := ""
	if t == wide {
		rare, y = e.is("eq.u32", 0, 0), e.constant(wide, math.Float64bits(math.NaN()))
	} else {
		angle = e.double("cvt.f64.f32", x)
		y = e.formula(formulas[operation{op, wide}], wide, rare, angle)
	}
	defined := e.finite(wide, angle)
	e.isRare(e.and(rare, defined))
	y = e.choose(wide, defined, y, e.bitsOf(wide, math.NaN()))
	return e.cast(wide, t, y)
}

// area is that of an area sine or cosine of large numbers: ln 2x = 2·ln(2·√(x/2)).
func (e *emitter) area(op kernel.Op, x string) string {
	t := dtype.Float64
	root := e.double("sqrt.rn.f64", e.double("mul.rn.f64", e.double("abs.f64", x), float(t, 0.5)))
	if op == kernel.Arccosh {
		root = e.double("sqrt.rn.f64", e.double("mul.rn.f64", x, float(t, 0.5)))
	}
	log := e.formula(formulas[operation{kernel.Log, t}], t, e.rare, e.double("mul.rn.f64", root, float(t, 2)))
	y := e.double("mul.rn.f64", log, float(t, 2))
	if op == kernel.Arcsinh {
		y = e.copysign(t, y, x)
	}
	return y
}

// hypotRarely scales the legs first; with an infinite one it is infinite.
func (e *emitter) hypotRarely(x, y string) string {
	t, inf := dtype.Float64, float(dtype.Float64, math.Inf(1))
	a, b := e.double("abs.f64", x), e.double("abs.f64", y)
	one := float(t, 1)
	large := e.or(e.is("gt.f64", a, one), e.is("gt.f64", b, one))
	scale := e.choose(t, large, e.bitsOf(t, 0x1p-700), e.bitsOf(t, 0x1p700))
	ignored := e.is("ne.u32", 0, 0)
	v := e.formula(formulas[operation{kernel.Hypot, t}], t, ignored, e.double("mul.rn.f64", x, scale), e.double("mul.rn.f64", y, scale))
	v = e.double("div.rn.f64", v, scale)
	v = e.choose(t, e.is("nan.f64", x, y), e.bitsOf(t, math.NaN()), v)
	return e.choose(t, e.or(e.is("eq.f64", a, inf), e.is("eq.f64", b, inf)), e.bitsOf(t, math.Inf(1)), v)
}

// angleRarely is the angle of points on an axis, of infinite ones and of NaN. Others are
// left to the CPU.
func (e *emitter) angleRarely(y, x string) string {
	t, zero, inf := dtype.Float64, float(dtype.Float64, 0), float(dtype.Float64, math.Inf(1))
	onX, onY := e.is("eq.f64", y, zero), e.is("eq.f64", x, zero)
	endX := e.is("eq.f64", e.double("abs.f64", x), inf)
	endY := e.is("eq.f64", e.double("abs.f64", y), inf)
	left := e.is("lt.s64", x, 0)
	angle := func(p string, ifLeft, ifRight float64) string {
		return e.choose(t, p, e.bitsOf(t, ifLeft), e.bitsOf(t, ifRight))
	}
	flat := angle(left, math.Pi, 0)
	v := e.choose(t, e.or(onY, endY), e.bitsOf(t, math.Pi/2), flat)
	v = e.choose(t, endX, e.choose(t, endY, angle(left, 3*math.Pi/4, math.Pi/4), flat), v)
	v = e.copysign(t, e.choose(t, onX, flat, v), y)
	nan := e.is("nan.f64", x, y)
	defined := e.or(e.or(onX, onY), e.or(e.or(endX, endY), nan))
	e.isRare(e.not(defined))
	return e.choose(t, nan, e.bitsOf(t, math.NaN()), v)
}

// powerRarely is a power by definition, and of float64 one out of range.
func (e *emitter) powerRarely(t dtype.Type, x, y string) string {
	kind, zero, one, inf := arithmetic(t), float(t, 0), float(t, 1), float(t, math.Inf(1))
	number := func(f float64) string { return e.bitsOf(t, f) }
	a := e.of(t, "abs."+kind, x)
	ignored := e.is("ne.u32", 0, 0)
	v := e.constant(t, 0)
	if t == dtype.Float64 {
		v = e.formula(powerWide, t, ignored, a, y)
	}
	// Of zero and of infinity, and to an infinite power.
	grows := e.not(e.xor(e.is("gt."+kind, a, one), e.is("gt."+kind, y, zero)))
	limit := e.choose(t, grows, number(math.Inf(1)), number(0))
	limit = e.choose(t, e.is("eq."+kind, a, one), number(1), limit)
	endless := e.is("eq."+kind, e.of(t, "abs."+kind, y), inf)
	at := e.or(endless, e.or(e.is("eq."+kind, x, zero), e.is("eq."+kind, a, inf)))
	v = e.choose(t, at, limit, v)
	// The sign of a whole y that is odd; no power of another y below zero.
	half := e.of(t, "mul.rn."+kind, y, float(t, 0.5))
	whole := e.is("eq."+kind, e.rounded(t, "rni", y), y)
	odd := e.and(whole, e.is("neu."+kind, e.rounded(t, "rni", half), half))
	v = e.choose(t, odd, e.copysign(t, v, x), v)
	broken := e.and(e.not(whole), e.and(e.is("lt."+kind, x, zero), e.not(at)))
	v = e.choose(t, e.or(broken, e.is("nan."+kind, x, y)), number(math.NaN()), v)
	return e.choose(t, e.or(e.is("eq."+kind, y, zero), e.is("eq."+kind, x, one)), number(1), v)
}
