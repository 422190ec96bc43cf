package main

import "math"

func init() {
	define("Cbrt", definition{double: cubeRoot, single: cubeRootSingle})
	define("Hypot", definition{double: hypotenuse, single: hypotenuseSingle})
}

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

// cbrtStart is (1+f)^(-⅓) for 1+f from ¾ up to 1½.
var cbrtStart = economize(func(k int64) real { return binomial(-1, 3, k) }, -0.25, 0.5, 5)

// cubeRoot begins with a polynomial r for the inverse, cut off so that its square is
// exact. With 1-d = m·r³ the root is m·r²·(1-d)^(-⅔), and d so small that a few terms do.
func cubeRoot(p *formula) {
	x := p.params[0]
	m, e := p.frexp(p.abs(x))
	third, word := p.wholeNear(e, 1./3)
	left, zero, one := p.fnma(p.number(3), third, e), p.number(0), p.number(1)
	more, less := p.is(left, cmpGT, zero), p.is(left, cmpLT, zero)
	r := p.mul(p.horner(p.sub(m, one), cbrtStart), p.choose(more, p.number(math.Cbrt(0.5)), p.choose(less, p.number(math.Cbrt(2)), one)))
	r = p.and(r, p.word(math.MaxUint64&^(1<<27-1)))
	m = p.mul(m, p.choose(more, p.number(2), p.choose(less, p.number(0.5), one)))
	t := p.exactProduct(m, p.mul(r, r))
	d := p.fnma(t.lo, r, p.fnma(t.hi, r, one))
	rest := p.horner(d, []float64{2. / 3, 5. / 9, 40. / 81})
	y := p.add(t.hi, p.fma(p.mul(t.hi, d), rest, t.lo))
	y = p.signed(p.addBits(y, p.shl(word, p.shift)), x)
	// Zero, infinity and NaN are their own.
	p.result = p.choose(p.is(p.sub(e, e), cmpEQ, zero), y, x)
}
