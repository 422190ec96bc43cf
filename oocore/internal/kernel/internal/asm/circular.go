package main

import "math"

func init() {
	for quarter, op := range []string{"Sin", "Cos"} {
		define(op, definition{
			double: func(p *formula) { circular(p, quarter) },
			single: func(p *formula) { p.sineSingle(uint64(quarter)) },
		})
	}
	define("Tan", definition{double: tangent, single: tangentSingle})
}

// Angles from widestAngle on are rare: below, the multiple of π/2 nearest to x is
// found with certainty and the rest is right to 2⁻¹¹⁰.
const widestAngle = 1 << 30

var (
	quarter = math.Pi / 4 * 1.0001
	// (sin(r)/r - 1) / r² and (cos(r) - 1 + r²/2) / r⁴ in powers of r²
	sinRest = economize(func(k int64) real { return alternating(k+1, inverseFactorial(2*k+3)) }, 0, quarter*quarter, 6)
	// (tan(r)/r - 1) / r² in powers of r²
	tanRest = economize(func(k int64) real { return tanSeries(k + 1) }, 0, quarter*quarter, 14)
	cosRest = economize(func(k int64) real { return alternating(k, inverseFactorial(2*k+4)) }, 0, quarter*quarter, 6)
)

// rightAngles is x - n·π/2, and the n in the low bits of a word. The first
// product is exact within its difference from x, which is below one and a
// multiple of the last places of both.
func (p *formula) rightAngles(x *value) (r pair, word *value) {
	if !p.within(x, widestAngle) {
		p.rare = p.is(p.abs(x), cmpGE, p.number(widestAngle))
	}
	word = p.fma(x, p.number(float(twoOverPi())), p.number(p.magic))
	n := p.sub(word, p.number(p.magic))
	a, b, c := thirds()
	first := p.fnma(n, p.number(a), x)
	hi := p.fnma(n, p.number(b), first)
	// What that rounds off, though first may be the lesser.
	second := p.sub(first, hi)
	lost := p.sub(p.sub(first, second), hi)
	lo := p.add(p.fnma(n, p.number(b), second), lost)
	return pair{hi, p.fnma(n, p.number(c), lo)}, word
}

// thirds is π/2 in three float64.
func thirds() (a, b, c float64) {
	rest := newReal().Quo(pi(), realOf(2))
	for _, part := range []*float64{&a, &b, &c} {
		*part = float(rest)
		rest.Sub(rest, realOf(*part))
	}
	return a, b, c
}

// sineOf and cosineOf a reduced angle, given the polynomials. The greater part of a cosine is exact.
func (p *formula) sineOf(r pair, square, rest *value) pair {
	cube := p.mul(square, r.hi)
	return pair{r.hi, p.fma(cube, rest, r.lo)}
}

func (p *formula) cosineOf(r pair, square, rest *value) pair {
	one, half := p.number(1), p.number(0.5)
	hi := p.fnma(half, square, one)
	lo := p.fnma(half, square, p.sub(one, hi))
	rest = p.fnma(r.hi, r.lo, p.mul(p.mul(square, square), rest))
	return pair{hi, p.add(lo, rest)}
}

// circular is sin(x + quarter·π/2).
func circular(p *formula, quarter int) {
	r, word := p.rightAngles(p.params[0])
	if quarter == 1 {
		word = p.add(p.number(1), word)
	}
	p.result = p.quadrant(r, word)
	if quarter == 0 || !p.usual {
		p.keep(quarter == 0)
	}
}

// keep makes the result of a NaN, and if so of zero, the operand itself: a NaN's
// sign and payload must not depend on who computes it.
func (p *formula) keep(zero bool) {
	x := p.params[0]
	own := p.is(x, cmpUNORD, x)
	if zero {
		own = p.is(x, cmpEQOrNaN, p.number(0))
	}
	p.result = p.choose(own, x, p.result)
}

// quadrant is the sine of r and so many right angles.
func (p *formula) quadrant(r pair, word *value) *value {
	square := p.mul(r.hi, r.hi)
	odd := p.negative(p.shl(word, 63))
	var sinPoly, cosPoly *value
	if p.usual { // one polynomial, of either's numbers
		sinPoly = p.hornerOf(square, p.picks(p.shl(word, 1), sinRest, cosRest))
		cosPoly = sinPoly
	} else {
		sinPoly, cosPoly = p.horner(square, sinRest), p.horner(square, cosRest)
	}
	sin, cos := p.sineOf(r, square, sinPoly), p.cosineOf(r, square, cosPoly)
	y := p.add(p.choose(odd, cos.hi, sin.hi), p.choose(odd, cos.lo, sin.lo))
	return p.xor(y, p.signOf(p.shl(word, 62)))
}

// tangent is that of r, or less its inverse.
func tangent(p *formula) {
	r, word := p.rightAngles(p.params[0])
	p.result = p.slope(r, word)
	p.keep(true)
}

func (p *formula) slope(r pair, word *value) *value {
	one := p.number(1)
	square := p.mul(r.hi, r.hi)
	flip := p.shl(word, 63)
	rest := p.mul(r.hi, p.horner(square, tanRest))
	t := pair{hi: p.fma(square, rest, r.hi)}
	t.lo = p.fma(square, rest, p.sub(r.hi, t.hi))
	t.lo = p.fma(p.fms(r.hi, r.hi, square), rest, t.lo) // what rounding cuts off r²
	t.lo = p.fma(r.lo, p.fma(t.hi, t.hi, one), t.lo)
	y := p.div(one, t.hi)
	over := p.fma(p.fnma(t.lo, y, p.fnma(t.hi, y, one)), y, y)
	return p.xor(p.choose(p.negative(flip), over, p.total(t)), flip)
}

// reducedCircular and reducedTangent continue from a reduced angle x+y and a
// word z, for what is reduced otherwise.
func reducedCircular(p *formula) {
	p.result = p.quadrant(pair{p.params[0], p.params[1]}, p.params[2])
}

func reducedTangent(p *formula) {
	p.result = p.slope(pair{p.params[0], p.params[1]}, p.params[2])
}
