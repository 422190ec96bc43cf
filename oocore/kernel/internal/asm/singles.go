package main

import "math"

// Functions of float32 are computed in float64 and rounded once: no range of
// float32 then needs care for overflow, subnormal numbers or a second word of the
// result. Polynomials are right to some 2⁻³⁰, and the results to 0.53 units in the
// last place.
var (
	// exp(r) for |r| ≤ ln 2 / 2, and exp(r) - 1 over r
	expSingle   = economize(inverseFactorial0, -halfLn2, halfLn2, 7)
	expm1Single = economize(func(k int64) real { return inverseFactorial(k + 1) }, -halfLn2, halfLn2, 6)
	// sinh(r)/r and cosh(r) in powers of r²
	sinhSingle = economize(func(k int64) real { return inverseFactorial(2*k + 1) }, 0, halfLn2*halfLn2, 3)
	coshSingle = economize(func(k int64) real { return inverseFactorial0(2 * k) }, 0, halfLn2*halfLn2, 3)
	// sin(r)/r and cos(r) in powers of r²
	sinSingle = economize(func(k int64) real { return alternating(k, inverseFactorial(2*k+1)) }, 0, quarter*quarter, 4)
	cosSingle = economize(func(k int64) real { return alternating(k, inverseFactorial0(2*k)) }, 0, quarter*quarter, 4)
	// arctan(t)/t in powers of t² up to 1
	arctanSingle = economizeAt(arctanOfRoot, 0.5, 0, 1, 11)
	// arcsin(s)/s in powers of s² up to ¼
	arcsinSingle = economize(func(k int64) real { return arcsinTerm(k - 1) }, 0, 0.25, 8)
)

func inverseFactorial0(k int64) real {
	if k == 0 {
		return realOf(1)
	}
	return inverseFactorial(k)
}

// reducedOnce is n, the whole number nearest to x·log₂e, and x - n·ln 2.
func (p *formula) reducedOnce(x *value) (n, r *value) {
	n = p.nearest(p.mul(p.number(math.Log2E), x))
	return n, p.fnma(n, p.number(math.Ln2), x)
}

func exponentialOfTwoSingle(p *formula) {
	x := p.clamp(p.params[0], -160, 130)
	n := p.nearest(x)
	r := p.mul(p.number(math.Ln2), p.sub(x, n))
	p.result = p.scale(p.polynomial(r, expSingle), n)
}

func (p *formula) expOnce(x *value) *value {
	n, r := p.reducedOnce(p.clamp(x, -700, 700))
	return p.scale(p.polynomial(r, expSingle), n)
}

func exponentialLessOneSingle(p *formula) {
	x := p.params[0]
	n, r := p.reducedOnce(p.clamp(x, -110, 90))
	scale := p.powerOfTwo(n)
	y := p.fma(p.mul(r, p.polynomial(r, expm1Single)), scale, p.sub(scale, p.number(1)))
	p.result = p.or(y, p.and(p.word(signBit), x))
}

func (p *formula) halvesOnce(x *value, sine bool) {
	n, r := p.reducedOnce(p.min(p.number(100), p.abs(x)))
	up := p.powerOfTwo(p.sub(n, p.number(1)))
	down := p.powerOfTwo(p.sub(p.number(-1), n))
	square := p.mul(r, r)
	withCosh, withSinh := p.add(up, down), p.sub(up, down)
	if sine {
		withCosh, withSinh = withSinh, withCosh
	}
	s := p.mul(p.mul(r, withSinh), p.polynomial(square, sinhSingle))
	y := p.fma(withCosh, p.polynomial(square, coshSingle), s)
	if sine {
		y = p.signed(y, x)
	}
	p.result = y
}

// logarithmOnce is e·perExponent + perLn·ln m.
func (p *formula) logarithmOnce(x *value, perExponent, perLn float64, terms int) *value {
	m, e := p.frexp(x)
	f := p.sub(m, p.number(1))
	s := p.div(f, p.add(p.number(2), f))
	c := make([]float64, 0, terms)
	for _, v := range economize(func(k int64) real { return fractionOf(2, 2*k+1) }, 0, 0.0401, terms-1) {
		c = append(c, perLn*v)
	}
	z := p.mul(s, s)
	y := p.mul(s, p.polynomial(z, c))
	if perExponent == 1 {
		return p.add(y, e)
	}
	return p.fma(e, p.number(perExponent), y)
}

func logarithmSingle(perExponent, perLn float64) func(p *formula) {
	return func(p *formula) { p.result = p.logarithmOnce(p.params[0], perExponent, perLn, 5) }
}

// oneMoreOnce is ln(1+x). What the sum loses of x counts where it is small.
func (p *formula) oneMoreOnce(x *value) *value {
	u := p.add(p.number(1), x)
	lost := p.sub(x, p.sub(u, p.number(1)))
	lost = p.choose(p.is(lost, cmpUNORD, lost), p.number(0), lost)
	return p.add(p.logarithmOnce(u, math.Ln2, 1, 5), lost)
}

func logarithmOfOneMoreSingle(p *formula) {
	x := p.params[0]
	p.result = p.or(p.oneMoreOnce(x), p.and(p.word(signBit), x))
}

func areaSineSingle(p *formula) {
	x := p.params[0]
	a := p.abs(x)
	square := p.mul(a, a)
	root := p.sqrt(p.add(square, p.number(1)))
	// Of an infinite a the quotient is none, and is taken for a.
	more := p.min(p.div(square, p.add(root, p.number(1))), a)
	p.result = p.signed(p.oneMoreOnce(p.add(more, a)), x)
}

func areaCosineSingle(p *formula) {
	x := p.params[0]
	t := p.sub(x, p.number(1))
	y := p.oneMoreOnce(p.add(t, p.sqrt(p.mul(t, p.add(t, p.number(2))))))
	p.result = p.choose(p.is(x, cmpLT, p.number(1)), p.number(nan), y)
}

func areaTangentSingle(p *formula) {
	x := p.params[0]
	a := p.abs(x)
	y := p.oneMoreOnce(p.div(p.add(a, a), p.sub(p.number(1), a)))
	p.result = p.signed(p.mul(p.number(0.5), y), x)
}

// rightAnglesOnce is x less the nearest multiple of π/2.
func (p *formula) rightAnglesOnce(x *value) (r, word *value) {
	p.rare = p.is(p.abs(x), cmpGE, p.number(widestAngle))
	word = p.fma(x, p.number(float(twoOverPi())), p.number(magic))
	n := p.sub(word, p.number(magic))
	a, b, _ := thirds()
	return p.fnma(n, p.number(b), p.fnma(n, p.number(a), x)), word
}

func circularSingle(p *formula, quarter int) {
	r, word := p.rightAnglesOnce(p.params[0])
	if quarter == 1 {
		word = p.add(p.number(1), word)
	}
	square := p.mul(r, r)
	sin := p.mul(r, p.polynomial(square, sinSingle))
	cos := p.polynomial(square, cosSingle)
	y := p.choose(p.negative(p.shl(word, 63)), cos, sin)
	p.result = p.xor(y, p.and(p.word(signBit), p.shl(word, 62)))
	p.keep(false)
}

func tangentSingle(p *formula) {
	r, word := p.rightAnglesOnce(p.params[0])
	flip := p.shl(word, 63)
	odd := p.negative(flip)
	square := p.mul(r, r)
	sin := p.mul(r, p.polynomial(square, sinSingle))
	cos := p.polynomial(square, cosSingle)
	p.result = p.xor(p.div(p.choose(odd, cos, sin), p.choose(odd, sin, cos)), flip)
	p.keep(false)
}

// slopeAngleOnce is the angle of above/below in the first quadrant.
func (p *formula) slopeAngleOnce(above, below, small, large *value) *value {
	t := p.div(small, large)
	y := p.mul(t, p.polynomial(p.mul(t, t), arctanSingle))
	return p.choose(p.is(above, cmpGT, below), p.sub(p.number(math.Pi/2), y), y)
}

func arctangentSingle(p *formula) {
	x := p.params[0]
	a, one := p.abs(x), p.number(1)
	p.result = p.signed(p.slopeAngleOnce(a, one, p.min(one, a), p.max(one, a)), x)
}

func angleSingle(p *formula) {
	y, x := p.params[0], p.params[1]
	// Infinities are as far as anything need be, and zero over zero is zero.
	a, b := p.min(p.number(1e300), p.abs(y)), p.min(p.number(1e300), p.abs(x))
	v := p.slopeAngleOnce(a, b, p.min(a, b), p.max(p.number(1e-300), p.max(a, b)))
	v = p.choose(p.negative(x), p.sub(p.number(math.Pi), v), v)
	v = p.choose(p.is(a, cmpUNORD, b), p.number(nan), v)
	p.result = p.signed(v, y)
}

func (p *formula) arcsineOnce(a *value) (y, beyond *value) {
	beyond = p.is(a, cmpGT, p.number(0.5))
	half := p.fnma(p.number(0.5), a, p.number(0.5))
	s := p.choose(beyond, p.sqrt(half), a)
	z := p.choose(beyond, half, p.mul(a, a))
	return p.mul(s, p.polynomial(z, arcsinSingle)), beyond
}

func arcsineSingle(p *formula) {
	x := p.params[0]
	y, beyond := p.arcsineOnce(p.abs(x))
	y = p.choose(beyond, p.fnma(p.number(2), y, p.number(math.Pi/2)), y)
	p.result = p.signed(y, x)
}

func arccosineSingle(p *formula) {
	x := p.params[0]
	y, beyond := p.arcsineOnce(p.abs(x))
	near := p.sub(p.number(math.Pi/2), p.xor(y, p.and(p.word(signBit), x)))
	twice := p.add(y, y)
	far := p.choose(p.negative(x), p.sub(p.number(math.Pi), twice), twice)
	p.result = p.choose(beyond, far, near)
}

func hypotenuseSingle(p *formula) {
	x, y := p.params[0], p.params[1]
	h := p.sqrt(p.fma(x, x, p.mul(y, y)))
	far := p.number(inf)
	either := p.any(p.is(p.abs(x), cmpEQ, far), p.is(p.abs(y), cmpEQ, far))
	p.result = p.choose(either, far, h)
}

// powerSingle is exp(y·ln|x|); what is neither above nor below one to an infinite
// power, and the like, is rare.
func powerSingle(p *formula) {
	x, y := p.params[0], p.params[1]
	e := p.mul(y, p.logarithmOnce(p.abs(x), math.Ln2, 1, 8))
	p.rare = p.any(p.is(e, cmpUNORD, e), p.is(x, cmpEQ, p.number(-inf)))
	p.result = p.withSquare(p.powerSign(p.expOnce(e)))
}
