package main

import "math"

// Functions of float32 have formulas of their own, in float32: they err by less
// than two units in the last place.
var (
	// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2, and 2ʳ less one over r for |r| ≤ ½
	expSingle  = economize(func(k int64) real { return inverseFactorial(k + 2) }, -halfLn2, halfLn2, 4)
	exp2Single = economize(func(k int64) real { return newReal().Mul(powerOf(ln2(), k+1), inverseFactorial(k+1)) }, -0.5, 0.5, 5)
	// (sinh(r)/r - 1) / r² and (cosh(r) - 1) / r² in powers of r²
	sinhSingle = economize(func(k int64) real { return inverseFactorial(2*k + 3) }, 0, halfLn2*halfLn2, 2)
	coshSingle = economize(func(k int64) real { return inverseFactorial(2*k + 2) }, 0, halfLn2*halfLn2, 2)
	// (ln(1+f) - f) / f² for f from -¼ to ½, and the same over ln 2 and ln 10
	logSingle   = logarithmRest(realOf(1))
	log2Single  = logarithmRest(ln2())
	log10Single = logarithmRest(ln10())
	// (sin(r)/r - 1) / r² and (cos(r) - 1) / r² in powers of r² for |r| ≤ π/4
	sinSingle = economize(func(k int64) real { return alternating(k+1, inverseFactorial(2*k+3)) }, 0, quarter*quarter, 2)
	cosSingle = economize(func(k int64) real { return alternating(k+1, inverseFactorial(2*k+2)) }, 0, quarter*quarter, 3)
	// (tan(r)/r - 1) / r² in powers of r² for |r| ≤ π/4
	tanSingle = economize(func(k int64) real { return tanSeries(k + 1) }, 0, 0.64, 6)
	tanSeries = quotientOf(func(k int64) real { return alternating(k, inverseFactorial(2*k+1)) }, func(k int64) real { return alternating(k, inverseFactorial0(2*k)) })
	// arctan(t)/t in powers of t² up to 1
	arctanSingle = economizeAt(arctanOfRoot, 0.5, 0, 1, 9)
	// (arcsin(s)/s - 1) / s² in powers of s² up to ¼
	arcsinSingle = economize(arcsinTerm, 0, 0.25, 5)
	// (1+f)^(-⅓) for 1+f from ¾ up to 1½
	cbrtSingle = economize(func(k int64) real { return binomial(-1, 3, k) }, -0.25, 0.5, 5)
)

func logarithmRest(over real) []float64 {
	term := func(k int64) real { return alternating(k+1, inverse(newReal().Mul(over, realOf(float64(k+2))))) }
	return economize(term, -0.25, 0.5, 8)
}

func inverseFactorial0(k int64) real {
	if k == 0 {
		return realOf(1)
	}
	return inverseFactorial(k)
}

func powerOf(x real, n int64) real {
	y := realOf(1)
	for range n {
		y.Mul(y, x)
	}
	return y
}

// binomial is the coefficient of fᵏ in (1+f)^(a/b).
func binomial(a, b, k int64) real {
	c := realOf(1)
	for j := range k {
		c.Mul(c, fractionOf(a-b*j, b*(j+1)))
	}
	return c
}

// wholeNear is the whole number nearest to x·by, and the word of which the low bits
// hold it.
func (p *formula) wholeNear(x *value, by float64) (n, word *value) {
	word = p.fma(x, p.number(by), p.number(p.magic))
	return p.sub(word, p.number(p.magic)), word
}

// lessOneSingle is exp(r) - 1 of a reduced r.
func (p *formula) lessOneSingle(r *value) *value {
	return p.fma(p.mul(r, r), p.horner(r, expSingle), r)
}

func exponentialSingle(p *formula) {
	n, _, r := p.reducedOnce(p.clamp(p.params[0], -104, 89))
	p.result = p.scale(p.add(p.number(1), p.lessOneSingle(r)), n)
}

func exponentialOfTwoSingle(p *formula) {
	x := p.clamp(p.params[0], -151, 128)
	n, _ := p.wholeNear(x, 1)
	r := p.sub(x, n)
	p.result = p.scale(p.fma(r, p.horner(r, exp2Single), p.number(1)), n)
}

// exponentialLessOneSingle is 2ⁿ·((1 - 2⁻ⁿ) + (exp(r) - 1)).
func exponentialLessOneSingle(p *formula) {
	x := p.params[0]
	n, _, r := p.reducedOnce(p.clamp(x, -18, 89))
	ln2 := p.constantPair(ln2(), 8)
	first := p.fnma(n, ln2.hi, p.clamp(x, -18, 89))
	lost := p.fnma(n, ln2.lo, p.sub(first, r))
	first = p.sub(p.number(1), p.powerOfTwo(p.sub(p.number(0), p.min(p.number(100), n))))
	rest := p.fma(p.mul(r, r), p.horner(r, expSingle), lost)
	sum := p.tidy(first, r)
	y := p.scale(p.add(sum.hi, p.add(sum.lo, rest)), n)
	p.result = p.or(y, p.signOf(x))
}

// hyperbolicTangentSingle is tanh(c) + r·q(r), where c is near the middle of one of twelve
// intervals, two between powers of two from a quarter to 12, or zero, and r = |x| - c. The
// word that counts them is the exponent's last bits and the fraction's first.
func hyperbolicTangentSingle(p *formula) {
	const lowest, highest = 0.1875, 11.9999 // of the first interval, but for what is below, and of the last
	x := p.params[0]
	a := p.min(p.number(highest), p.abs(x))
	word := p.shr(p.max(p.number(lowest), a), 22)
	t := tanhTables()
	r := p.sub(a, p.lookup(word, t[0]))
	y := p.lookup(word, t[len(t)-1])
	for i := len(t) - 2; i > 0; i-- {
		y = p.fma(y, r, p.lookup(word, t[i]))
	}
	p.result = p.signed(y, x)
}

// tanhTables are the centres of intervals, their tangents, and the coefficients of q for
// each. A centre's tangent is all but a float32.
func tanhTables() (t [9][16]float64) {
	sinh := series(func(k int64) real { return newReal().Mul(realOf(float64(k%2)), inverseFactorial0(k)) }).at(0)
	cosh := series(func(k int64) real { return newReal().Mul(realOf(float64((k+1)%2)), inverseFactorial0(k)) }).at(0)
	tanh := func(x real) real { return newReal().Quo(sinh(x), cosh(x)) }
	for i, low := 0, 0.1875; low < 12; i++ {
		high := low * 4 / 3
		if i%2 == 1 {
			high = low * 1.5
		}
		at := math.Float32bits(float32(low)) >> 22 & 15
		first, c := low, 0.0
		if i == 0 {
			first = 0
		} else {
			c = exactNear(tanh, math.Tanh, (low+high)/2)
		}
		of := tanh(realOf(c))
		quotient := func(r real) real {
			return newReal().Quo(newReal().Sub(tanh(newReal().Add(realOf(c), r)), of), r)
		}
		t[0][at], t[1][at] = c, float(of)
		for k, v := range interpolate(quotient, first-c, high-c, len(t)-3, 1) {
			t[2+k][at] = float(v)
		}
		low = high
	}
	return t
}

// exactNear is a float32 after x at which f is within 1/16 of the last place of one. Most are
// passed over by rough, which is f in float64.
func exactNear(f func(real) real, rough func(float64) float64, x float64) float64 {
	for c := math.Nextafter32(float32(x), inf32); ; c = math.Nextafter32(c, inf32) {
		about := rough(float64(c))
		nearby := float32(about)
		if math.Abs(about-float64(nearby)) > float64(math.Nextafter32(nearby, inf32)-nearby)/8 {
			continue
		}
		y := f(realOf(float64(c)))
		near := float32(float(y))
		unit := float64(math.Nextafter32(near, inf32) - near)
		if math.Abs(float(newReal().Sub(y, realOf(float64(near))))) < unit/16 {
			return float64(c)
		}
	}
}

var inf32 = float32(inf)

// halvesSingle is as halves.
func (p *formula) halvesSingle(x *value, sine bool) {
	n, _, r := p.reducedOnce(p.min(p.number(90), p.abs(x)))
	u := p.powerOfTwo(p.mul(p.number(-2), p.min(p.number(30), n)))
	one := p.number(1)
	withCosh, withSinh := p.add(one, u), p.sub(one, u)
	if sine {
		withCosh, withSinh = withSinh, withCosh
	}
	square := p.mul(r, r)
	sinh := p.fma(p.mul(square, r), p.horner(square, sinhSingle), r)
	cosh := p.mul(square, p.horner(square, coshSingle))
	y := p.add(withCosh, p.fma(withSinh, sinh, p.mul(withCosh, cosh)))
	y = p.scale(p.mul(p.number(0.5), y), n)
	if sine {
		y = p.signed(y, x)
	}
	p.result = y
}

// logarithmOfParts is ln(1+f) + e·ln 2, infinite where e is.
func (p *formula) logarithmOfParts(f, e *value) *value {
	ln2 := p.constantPair(ln2(), 8)
	rest := p.fma(e, ln2.lo, p.mul(p.mul(f, f), p.horner(f, logSingle)))
	return p.fma(e, ln2.hi, p.add(f, rest))
}

func naturalLogarithmSingle(p *formula) {
	m, e := p.frexp(p.params[0])
	p.result = p.logarithmOfParts(p.sub(m, p.number(1)), e)
}

// otherLogarithmSingle is to a base of which the logarithm's inverse is per, and that of
// two over it perExponent; rest is (ln(1+f) - f) / f² over it.
func (p *formula) otherLogarithmSingle(per, perExponent real, rest []float64) {
	m, e := p.frexp(p.params[0])
	f := p.sub(m, p.number(1))
	first, two := p.constantPair(per, 0), p.constantPair(perExponent, 8)
	lo := p.mul(f, first.lo)
	if two.lo.bits != 0 {
		lo = p.fma(e, two.lo, lo)
	}
	y := p.fma(f, first.hi, p.fma(p.mul(f, f), p.horner(f, rest), lo))
	p.result = p.fma(e, two.hi, y)
}

func binaryLogarithmSingle(p *formula) {
	p.otherLogarithmSingle(inverse(ln2()), realOf(1), log2Single)
}

func decimalLogarithmSingle(p *formula) {
	p.otherLogarithmSingle(inverse(ln10()), newReal().Quo(ln2(), ln10()), log10Single)
}

// oneMoreParts is 1+v as (1+f)·2ᵉ, with what the sum loses of v.
func (p *formula) oneMoreParts(v *value) (f, e *value) {
	one := p.number(1)
	u := p.add(one, v)
	large, small := p.max(v, one), p.min(v, one)
	lost := p.sub(small, p.sub(u, large))
	m, e := p.frexp(u)
	f = p.sub(m, one)
	some := p.is(p.abs(lost), cmpGT, p.number(0)) // neither of zero nor of infinity
	return p.choose(some, p.fma(lost, p.powerOfTwo(p.sub(p.number(0), p.min(p.number(100), e))), f), f), e
}

func logarithmOfOneMoreSingle(p *formula) {
	x := p.params[0]
	p.result = p.or(p.logarithmOfParts(p.oneMoreParts(x)), p.signOf(x))
}

// areaSineSingle is ln(1 + a + a²/(1+√(a²+1))), or ln 2a.
func areaSineSingle(p *formula) {
	x, one := p.params[0], p.number(1)
	a := p.abs(x)
	square := p.mul(a, a)
	root := p.sqrt(p.fma(a, a, one))
	p.result = p.signed(p.areaSingle(a, p.add(a, p.div(square, p.add(root, one)))), x)
}

// areaSingle is ln(1+v), or for an a so large that one and a's inverse do not count, ln 2a.
func (p *formula) areaSingle(a, v *value) *value {
	large := p.is(a, cmpGT, p.number(1<<28))
	f, e := p.oneMoreParts(p.choose(large, a, v))
	return p.logarithmOfParts(f, p.add(e, p.choose(large, p.number(1), p.number(0))))
}

func areaCosineSingle(p *formula) {
	x, one := p.params[0], p.number(1)
	t := p.sub(x, one)
	y := p.areaSingle(x, p.add(t, p.sqrt(p.fma(t, t, p.add(t, t)))))
	p.result = p.choose(p.is(x, cmpLT, one), p.number(nan), y)
}

// areaTangentSingle is ½·ln(1 + 2a/(1-a)). What the quotient lacks counts by the
// derivative: over 1+a, of which a few bits will do.
func areaTangentSingle(p *formula) {
	x, one := p.params[0], p.number(1)
	a := p.abs(x)
	twice, d := p.add(a, a), p.sub(one, a)
	q := p.div(twice, d)
	lost := p.sub(p.sub(one, d), a)
	lack := p.min(p.fnma(q, lost, p.fnma(q, d, twice)), one) // none of infinity
	f, e := p.oneMoreParts(q)
	y := p.fma(lack, p.fnma(p.number(0.5), a, one), p.logarithmOfParts(f, e))
	p.result = p.signed(p.mul(p.number(0.5), y), x)
}

// widestAngleSingle is to circular functions of float32 what widestAngle is to those
// of float64.
const widestAngleSingle = 1 << 17

// thirds of a number take three of a float32 each to all the digits that count.
func (p *formula) thirds(x real) (out [3]*value) {
	rest := newReal().Set(x)
	for i := range out {
		v := p.decode(p.encode(float(rest)))
		out[i] = p.number(v)
		rest.Sub(rest, realOf(v))
	}
	return out
}

// lessMultiples is x - n·of.
func (p *formula) lessMultiples(x, n *value, of real) pair {
	c := p.thirds(of)
	first := p.fnma(n, c[0], x)
	hi := p.fnma(n, c[1], first)
	// What that rounds off, though first may be the lesser.
	second := p.sub(first, hi)
	lost := p.sub(p.sub(first, second), hi)
	return pair{hi, p.fnma(n, c[2], p.add(p.fnma(n, c[1], second), lost))}
}

// sineSingle is sin(x + quarter·π/2).
func (p *formula) sineSingle(quarter uint64) {
	x := p.params[0]
	p.rare = p.is(p.abs(x), cmpGE, p.number(widestAngleSingle))
	n, word := p.wholeNear(x, 2/math.Pi)
	c := p.thirds(halfTurn(2))
	r := p.fnma(n, c[2], p.fnma(n, c[1], p.fnma(n, c[0], x)))
	if quarter == 1 {
		word = p.addBits(word, p.word(1))
	}
	square := p.mul(r, r)
	sin := p.fma(p.mul(square, r), p.horner(square, sinSingle), r)
	cos := p.fma(square, p.horner(square, cosSingle), p.number(1))
	y := p.choose(p.negative(p.shl(word, 31)), cos, sin)
	p.result = p.xor(y, p.signOf(p.shl(word, 30)))
	p.keep(quarter == 0)
}

// tangentSingle is the tangent of what is left of right angles, or less one over it.
func tangentSingle(p *formula) {
	x := p.params[0]
	p.rare = p.is(p.abs(x), cmpGE, p.number(widestAngleSingle))
	n, word := p.wholeNear(x, 2/math.Pi)
	r := p.lessMultiples(x, n, halfTurn(2))
	square := p.mul(r.hi, r.hi)
	// The derivative of the tangent is at most two.
	t := p.add(r.hi, p.fma(p.mul(square, r.hi), p.horner(square, tanSingle), p.fma(square, r.lo, r.lo)))
	odd := p.negative(p.shl(word, 31))
	p.result = p.div(p.choose(odd, p.number(-1), t), p.choose(odd, t, p.number(1)))
	p.keep(true)
}

// slopeAngleSingle is the angle of a slope t up to one, or a right one less that.
func (p *formula) slopeAngleSingle(t, steep *value) *value {
	y := p.mul(t, p.horner(p.mul(t, t), arctanSingle))
	right := p.constantPair(halfTurn(2), 0)
	return p.choose(steep, p.add(p.sub(right.hi, y), right.lo), y)
}

func arctangentSingle(p *formula) {
	x := p.params[0]
	a, one := p.abs(x), p.number(1)
	y := p.slopeAngleSingle(p.div(p.min(one, a), p.max(one, a)), p.is(a, cmpGT, one))
	p.result = p.signed(y, x)
}

func angleSingle(p *formula) {
	y, x := p.params[0], p.params[1]
	a, b := p.abs(y), p.abs(x)
	small, large := p.min(a, b), p.max(p.number(0x1p-149), p.max(a, b))
	// Two infinities are as one and one; zero over zero is zero.
	t := p.choose(p.is(small, cmpEQ, large), p.number(1), p.div(small, large))
	v := p.slopeAngleSingle(t, p.is(a, cmpGT, b))
	v = p.choose(p.negative(x), p.sub(p.number(math.Pi), v), v)
	v = p.choose(p.is(a, cmpUNORD, b), p.number(nan), v)
	p.result = p.signed(v, y)
}

// arcsineSingleParts is the arcsine s + rest of |x| up to ½, or beyond half the angle
// from a right one.
func (p *formula) arcsineSingleParts(a *value) (s, rest, beyond *value) {
	beyond = p.is(a, cmpGT, p.number(0.5))
	half := p.fnma(p.number(0.5), a, p.number(0.5))
	s = p.choose(beyond, p.sqrt(half), a)
	z := p.choose(beyond, half, p.mul(a, a))
	return s, p.mul(p.mul(z, s), p.horner(z, arcsinSingle)), beyond
}

func arcsineSingle(p *formula) {
	x, two := p.params[0], p.number(2)
	s, rest, beyond := p.arcsineSingleParts(p.abs(x))
	right := p.constantPair(halfTurn(2), 0)
	// The error of π/2 is as large as a rounding: it is subtracted with the smaller part.
	far := p.fnma(two, p.add(s, p.sub(rest, p.number(p.decode(right.lo.bits)/2))), right.hi)
	p.result = p.signed(p.choose(beyond, far, p.add(s, rest)), x)
}

func arccosineSingle(p *formula) {
	x := p.params[0]
	s, rest, beyond := p.arcsineSingleParts(p.abs(x))
	y := p.add(s, rest)
	near := p.sub(p.number(math.Pi/2), p.xor(y, p.signOf(x)))
	twice := p.add(y, y)
	far := p.choose(p.negative(x), p.sub(p.number(math.Pi), twice), twice)
	p.result = p.choose(beyond, far, near)
}

// hypotenuseSingle scales both legs by a power of two near the longer one.
func hypotenuseSingle(p *formula) {
	x, y := p.params[0], p.params[1]
	a, b := p.abs(x), p.abs(y)
	size := p.and(p.clamp(p.max(a, b), 0x1p-100, 0x1p125), p.word(0xff<<23))
	inverse := p.subBits(p.word(2*0x7f<<23), size)
	u, v := p.mul(x, inverse), p.mul(y, inverse)
	h := p.mul(size, p.sqrt(p.fma(u, u, p.mul(v, v))))
	far := p.number(inf)
	p.result = p.choose(p.any(p.is(a, cmpEQ, far), p.is(b, cmpEQ, far)), far, h)
}

// cubeRootSingle begins with a polynomial of the mantissa for the inverse of the root,
// and takes a step of I. Newton's with the root.
func cubeRootSingle(p *formula) {
	x, zero := p.params[0], p.number(0)
	m, e := p.frexp(p.abs(x))
	third, _ := p.wholeNear(e, 1./3)
	left := p.fnma(p.number(3), third, e)
	more, less := p.is(left, cmpGT, zero), p.is(left, cmpLT, zero)
	over := p.choose(more, p.number(math.Cbrt(0.5)), p.choose(less, p.number(math.Cbrt(2)), p.number(1)))
	inverse := p.mul(over, p.horner(p.sub(m, p.number(1)), cbrtSingle))
	m = p.mul(m, p.choose(more, p.number(2), p.choose(less, p.number(0.5), p.number(1))))
	square := p.mul(inverse, inverse)
	y := p.mul(m, square)
	off := p.fms(p.mul(y, y), y, m)
	y = p.fnma(p.mul(off, square), p.number(1./3), y)
	y = p.signed(p.scale(y, third), x)
	// Zero, infinity and NaN are their own.
	p.result = p.choose(p.is(p.sub(e, e), cmpEQ, zero), y, x)
}

// What follows is computed in float64 and rounded once.
var (
	expOnce = economize(inverseFactorial0, -halfLn2, halfLn2, 7)
	logOnce = economize(func(k int64) real { return fractionOf(2, 2*k+1) }, 0, 0.0401, 7)
)

func (p *formula) expOnce(x *value) *value {
	x = p.clamp(x, -700, 700)
	n, _ := p.wholeNear(x, math.Log2E)
	return p.scale(p.horner(p.fnma(n, p.number(math.Ln2), x), expOnce), n)
}

func (p *formula) logarithmOnce(x *value) *value {
	m, e := p.frexp(x)
	f := p.sub(m, p.number(1))
	s := p.div(f, p.add(p.number(2), f))
	return p.fma(e, p.number(math.Ln2), p.mul(s, p.horner(p.mul(s, s), logOnce)))
}

// powerSingle is exp(y·ln|x|); what is neither above nor below one to an infinite
// power, and the like, is rare.
func powerSingle(p *formula) {
	x, y := p.params[0], p.params[1]
	e := p.mul(y, p.logarithmOnce(p.abs(x)))
	p.rare = p.any(p.is(e, cmpUNORD, e), p.is(x, cmpEQ, p.number(-inf)))
	p.result = p.withSquare(p.powerSign(p.expOnce(e)))
}
