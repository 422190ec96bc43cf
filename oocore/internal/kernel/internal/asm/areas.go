package main

import "math"

func init() {
	define("Arcsinh", definition{double: areaSine, single: areaSineSingle})
	define("Arccosh", definition{double: areaCosine, single: areaCosineSingle})
	define("Arctanh", definition{double: areaTangent, single: areaTangentSingle})
}

// artanhRest is (artanh(s)/s - 1) / s² in powers of s².
var artanhRest = economize(func(k int64) real { return fractionOf(1, 2*k+3) }, 0, 0.0313, 7)

// inverseExponent is 2⁻ᵉ of u = m·2ᵉ, by way of four times it, which is never subnormal.
func (p *formula) inverseExponent(m, u *value) *value {
	return p.mul(p.number(0.25), p.addBits(p.number(4), p.subBits(m, u)))
}

// oneMore is ln(1 + v) for a tidy pair, or one number. With 1+v = m·2ᵉ, what m has
// beyond one is v·2⁻ᵉ - (1 - 2⁻ᵉ), where no digit is lost unless e is so large that it
// does not matter.
func (p *formula) oneMore(v pair) *value {
	one := p.number(1)
	u := p.add(one, v.hi)
	m, e := p.frexp(u)
	w := p.inverseExponent(m, u)
	f := p.fms(v.hi, w, p.sub(one, w))
	half, rest, s := p.logarithmParts(f)
	rest = p.fnma(half, f, rest)
	if v.lo != nil {
		// By the derivative, 1/(1+f) = (1-s)/(1+s).
		slope := p.fma(p.add(s, s), p.sub(s, one), one)
		rest = p.fma(p.mul(v.lo, w), slope, rest)
	}
	return p.withExponent(e, p.constantPair(ln2(), 11), pair{f, rest})
}

// root of a tidy pair, and what it lacks, over twice the root: of that few digits count,
// which a difference of exponents and a step of I. Newton's give, for zero as well.
func (p *formula) root(a pair) pair {
	r := p.sqrt(a.hi)
	lack := p.add(p.fnma(r, r, a.hi), a.lo)
	half := p.subBits(p.word(math.Float64bits(0.5)+math.Float64bits(1)), r)
	return pair{r, p.mul(p.mul(p.add(lack, lack), half), p.fnma(r, half, p.number(1)))}
}

// areaSine is ln(1 + a + (√(a²+1) - 1)), and rare from 2⁴⁰⁰ on.
func areaSine(p *formula) {
	x := p.params[0]
	a, one := p.abs(x), p.number(1)
	p.rare = p.is(a, cmpGE, p.number(0x1p400))
	square := p.exactProduct(a, a)
	more := p.tidy(p.max(one, square.hi), p.min(one, square.hi))
	more.lo = p.add(more.lo, square.lo)
	r := p.root(more)
	v := p.tidy(a, p.sub(r.hi, one))
	v.lo = p.add(v.lo, r.lo)
	p.result = p.signed(p.oneMore(v), x)
	p.keep(false)
}

// areaCosine is ln(x + √(x²-1)), rare from 2⁴⁰⁰ on.
func areaCosine(p *formula) {
	x, one := p.params[0], p.number(1)
	p.rare = p.is(x, cmpGE, p.number(0x1p400))
	square := p.exactProduct(x, x)
	less := p.tidy(square.hi, p.number(-1))
	less = p.tidy(less.hi, p.add(less.lo, square.lo))
	r := p.root(less)
	t := p.sub(x, one)
	over := p.sub(p.sub(x, t), one) // what t rounds off
	v := p.tidy(p.max(r.hi, t), p.min(r.hi, t))
	v.lo = p.add(v.lo, p.add(r.lo, over))
	p.result = p.choose(p.is(x, cmpLT, one), p.number(nan), p.oneMore(v))
	p.keep(false)
}

// areaTangent is ½·ln((1+a)/(1-a)) = k·½·ln 2 + artanh(s), where s = (u-v)/(u+v) with
// u = 1+a and v = (1-a)·2ᵏ, which is near to u.
func areaTangent(p *formula) {
	x, one := p.params[0], p.number(1)
	a := p.abs(x)
	u, v := p.tidy(one, a), p.tidy(one, p.neg(a))
	m, e := p.frexp(v.hi)
	times := p.choose(p.is(u.hi, cmpGT, p.mul(p.number(1.4), m)), p.number(2), one)
	k := p.sub(p.sub(times, one), e)
	v.lo = p.mul(p.mul(v.lo, p.inverseExponent(m, v.hi)), times)
	v.hi = p.mul(m, times)
	d := p.tidy(u.hi, v.hi)
	d.lo = p.add(d.lo, p.add(u.lo, v.lo))
	s := p.ratio(pair{p.sub(u.hi, v.hi), p.sub(u.lo, v.lo)}, d)
	z := p.mul(s.hi, s.hi)
	s.lo = p.fma(p.mul(s.hi, z), p.horner(z, artanhRest), s.lo)
	p.result = p.signed(p.withExponent(k, p.constantPair(newReal().Mul(ln2(), realOf(0.5)), 11), s), x)
}
