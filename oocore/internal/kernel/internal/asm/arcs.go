package main

import "math/big"

func init() {
	define("Arctan", definition{double: arctangent, single: arctangentSingle})
	define("Arctan2", definition{double: angle, single: angleSingle})
	define("Arcsin", definition{double: arcsine, single: arcsineSingle})
	define("Arccos", definition{double: arccosine, single: arccosineSingle})
}

const (
	// middle is a slope with few bits near tan(π/6), and arctangents are taken
	// of what is left by it from lowest on.
	middle = 37. / 64
	lowest = 19. / 64
)

var (
	// (arctan(t)/t - 1) / t² in powers of t²
	arctanRest = economize(func(k int64) real { return alternating(k+1, fractionOf(1, 2*k+3)) }, 0, 0.0895, 9)
	// (arcsin(s)/s - 1) / s² in powers of s², for s² ≤ ¼
	arcsinRest = economize(arcsinTerm, 0, 0.25, 14)
)

// arcsinTerm is the coefficient of s^(2k+3): (2j-1)!!/(2j)!!/(2j+1) with j = k+1.
func arcsinTerm(k int64) real {
	j := k + 1
	c := newReal().SetInt(new(big.Int).Binomial(2*j, j))
	return newReal().Quo(c.SetMantExp(c, int(-2*j)), newReal().SetInt64(2*j+1))
}

// arctan is of a real number up to one.
func arctan(x float64) real {
	c := newReal()
	power, square := realOf(x), realOf(x*x)
	for k := int64(0); k < seriesTerms; k++ {
		c.Add(c, alternating(k, newReal().Quo(power, newReal().SetInt64(2*k+1))))
		power.Mul(power, square)
	}
	return c
}

// slopeAngle is the angle in the first quadrant of a slope above/below. What
// either may be: zero over what is not; both within 2^±500.
func (p *formula) slopeAngle(above, below *value) pair {
	steep := p.is(above, cmpGT, below)
	v, w := p.min(below, above), p.max(below, above)
	beyond := p.is(v, cmpGT, p.mul(p.number(lowest), w))
	c := p.choose(beyond, p.number(middle), p.number(0))
	part := p.exactProduct(c, w)
	n := pair{p.sub(v, part.hi), p.neg(part.lo)}
	d := pair{p.fma(c, v, w), nil}
	d.lo = p.fma(c, v, p.sub(w, d.hi))
	t := p.ratio(n, d)
	square := p.mul(t.hi, t.hi)
	rest := p.fma(p.mul(square, t.hi), p.horner(square, arctanRest), t.lo)
	of := p.constantPair(arctan(middle), 0)
	s := p.tidy(p.choose(beyond, of.hi, p.number(0)), t.hi)
	rest = p.add(p.add(s.lo, p.choose(beyond, of.lo, p.number(0))), rest)
	// π/2 less that of a steep slope.
	right := p.constantPair(halfTurn(2), 0)
	over := p.tidy(right.hi, p.neg(s.hi))
	last := p.sub(p.add(over.lo, right.lo), rest)
	return pair{p.choose(steep, over.hi, s.hi), p.choose(steep, last, rest)}
}

// halfTurn is π over a whole number.
func halfTurn(over float64) real { return newReal().Quo(pi(), realOf(over)) }

func arctangent(p *formula) {
	x := p.params[0]
	p.result = p.signed(p.total(p.slopeAngle(p.min(p.number(0x1p60), p.abs(x)), p.number(1))), x)
}

// angle is that of the point (y, x). Coordinates that are not finite, and those
// of which a quotient or a product may leave the range, are rare.
func angle(p *formula) {
	y, x := p.params[0], p.params[1]
	above, below := p.abs(y), p.abs(x)
	large, small := p.max(above, below), p.min(above, below)
	out := p.any(p.is(p.add(above, below), cmpNLT, p.number(0x1p500)), p.is(large, cmpLT, p.number(0x1p-500)))
	tiny := p.all(p.is(small, cmpLT, p.number(0x1p-400)), p.is(small, cmpGT, p.number(0)))
	p.rare = p.any(out, tiny)
	a := p.slopeAngle(above, below)
	behind := p.negative(x)
	turn := p.constantPair(halfTurn(1), 0)
	b := p.tidy(turn.hi, p.neg(a.hi))
	b.lo = p.sub(p.add(b.lo, turn.lo), a.lo)
	p.result = p.signed(p.add(p.choose(behind, b.hi, a.hi), p.choose(behind, b.lo, a.lo)), y)
}

// arcsineParts is s + rest, the arcsine of |x| up to ½, or beyond of √((1-|x|)/2),
// which is half the angle from a right one.
func (p *formula) arcsineParts(a *value) (s pair, beyond *value) {
	beyond = p.is(a, cmpGT, p.number(0.5))
	half := p.fnma(p.number(0.5), a, p.number(0.5))
	root := p.sqrt(half)
	// What the root lacks, of which zero has nothing.
	lack := p.div(p.fnma(root, root, half), p.max(p.number(0x1p-600), p.add(root, root)))
	s.hi = p.choose(beyond, root, a)
	z := p.choose(beyond, half, p.mul(a, a))
	s.lo = p.fma(p.mul(z, s.hi), p.horner(z, arcsinRest), p.choose(beyond, lack, p.number(0)))
	return s, beyond
}

func arcsine(p *formula) {
	x := p.params[0]
	s, beyond := p.arcsineParts(p.abs(x))
	right := p.constantPair(halfTurn(2), 0)
	d := p.fnma(p.number(2), s.hi, right.hi)
	lost := p.fnma(p.number(2), s.hi, p.sub(right.hi, d))
	far := p.add(d, p.fnma(p.number(2), s.lo, p.add(lost, right.lo)))
	p.result = p.signed(p.choose(beyond, far, p.total(s)), x)
}

// arccosine is π/2 less the arcsine of what is up to ½, else twice the angle of
// the root, or π less that.
func arccosine(p *formula) {
	x := p.params[0]
	s, beyond := p.arcsineParts(p.abs(x))
	sign := p.signOf(x)
	below := p.negative(x)
	two := p.number(2)
	turn, right := p.constantPair(halfTurn(1), 0), p.constantPair(halfTurn(2), 0)
	// base - sign·times·s, with times 2 and base 0 or π, or 1 and π/2.
	ends := p.choose(below, turn.hi, p.number(0))
	endsLo := p.choose(below, turn.lo, p.number(0))
	base := p.choose(beyond, ends, right.hi)
	baseLo := p.choose(beyond, endsLo, right.lo)
	times := p.choose(beyond, p.neg(two), p.number(1))
	times = p.xor(times, sign)
	d := p.tidy(base, p.neg(p.mul(times, s.hi)))
	p.result = p.add(d.hi, p.fnma(times, s.lo, p.add(d.lo, baseLo)))
}

// arctanOfRoot is the coefficients of arctan(√z)/√z in powers of z - ½. With
// g that function, 2z·g' + g = 1/(1+z) gives them one after the other.
func arctanOfRoot(k int64) real {
	for int64(len(arctanTerms)) <= k {
		n := int64(len(arctanTerms))
		if n == 0 {
			arctanTerms = append(arctanTerms, newReal().Quo(arctanRoot(), newReal().Sqrt(realOf(0.5))))
			continue
		}
		// At z = ½+h: (1+2h)·g' + g = ⅔/(1+⅔h): n·g_n = (⅔)ⁿ·(-1)ⁿ⁻¹ - (2(n-1)+1)·g_(n-1).
		c := fractionOf(2, 3)
		for j := int64(1); j < n; j++ {
			c.Mul(c, fractionOf(-2, 3))
		}
		c.Sub(c, newReal().Mul(newReal().SetInt64(2*n-1), arctanTerms[n-1]))
		arctanTerms = append(arctanTerms, c.Quo(c, newReal().SetInt64(n)))
	}
	return arctanTerms[k]
}

var arctanTerms []real

// arctanRoot is arctan √½, by the series of which each term is 2n/(2n+1)·⅓ of the last.
func arctanRoot() real {
	// arctan x = x/(1+x²) · Σ Π 2n/(2n+1) · x²/(1+x²)
	term := newReal().Quo(newReal().Sqrt(realOf(0.5)), realOf(1.5))
	sum := newReal()
	for n := int64(1); n < 4*seriesTerms; n++ {
		sum.Add(sum, term)
		term.Mul(term, fractionOf(2*n, 3*(2*n+1)))
	}
	return sum
}
