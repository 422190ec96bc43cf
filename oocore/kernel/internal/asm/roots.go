package main

// hypotenuse is the root of x²+y², rounded once before. Legs of which a square, or
// the error of one, leaves the range are rare.
func hypotenuse(p *formula) {
	a, b := p.abs(p.params[0]), p.abs(p.params[1])
	large, small := p.max(a, b), p.min(a, b)
	tiny := p.all(p.is(large, cmpLT, p.number(0x1p-450)), p.is(large, cmpGT, p.number(0)))
	p.rare = p.any(tiny, p.is(p.add(a, b), cmpNLT, p.number(0x1p500)))
	x, y := p.exactProduct(large, large), p.exactProduct(small, small)
	s := p.tidy(x.hi, y.hi)
	p.result = p.sqrt(p.add(s.hi, p.add(s.lo, p.add(x.lo, y.lo))))
}

// cbrtStart is (1+f)^⅓ for 1+f from ¾ up to 1½.
var cbrtStart = economize(func(k int64) real { return binomial(1, 3, k) }, -0.25, 0.5, 5)

// cubeRoot begins with a polynomial of the mantissa, of which a step of E. Halley's
// makes 2⁻⁵⁰, and one of I. Newton's with all digits the rest.
func cubeRoot(p *formula) {
	x := p.params[0]
	m, e := p.frexp(p.abs(x))
	third := p.nearest(p.mul(p.number(1./3), e))
	left := p.fnma(p.number(3), third, e)
	zero := p.number(0)
	root := p.choose(p.is(left, cmpGT, zero), p.number(1.259921049894873), p.choose(p.is(left, cmpLT, zero), p.number(0.7937005259840998), p.number(1)))
	y := p.mul(root, p.horner(p.sub(m, p.number(1)), cbrtStart))
	m = p.scale(m, left)
	cube := p.mul(p.mul(y, y), y)
	inverse := p.div(p.number(1), p.add(p.add(cube, cube), m))
	y = p.mul(p.mul(y, p.add(p.add(m, m), cube)), inverse)
	square := p.exactProduct(y, y)
	whole := p.exactProduct(square.hi, y)
	over := p.add(p.sub(whole.hi, m), p.fma(square.lo, y, whole.lo))
	y = p.fnma(p.mul(over, y), inverse, y)
	y = p.signed(p.scale(y, third), x)
	// Zero, infinity and NaN are their own.
	p.result = p.choose(p.is(p.sub(e, e), cmpEQ, zero), y, x)
}
