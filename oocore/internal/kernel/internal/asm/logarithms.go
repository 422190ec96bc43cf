package main

import "math"

func init() {
	define("Log", definition{double: naturalLogarithm, single: naturalLogarithmSingle})
	define("Log2", definition{double: binaryLogarithm, single: binaryLogarithmSingle})
	define("Log10", definition{double: decimalLogarithm, single: decimalLogarithmSingle})
	define("Log1p", definition{double: logarithmOfOneMore, single: logarithmOfOneMoreSingle})
	define("Power", definition{double: power, rounded: powerSingle})
}

// The mantissa m = 1+f, from ¾ up to 1½, has the logarithm f - f²/2 + s·(f²/2 + rest)
// with s = f/(2+f), as in W. Cody and W. Waite, "Software manual for the
// elementary functions", 1980.
var (
	// 2·artanh(s)/s - 2 in powers of s²
	logRest = economize(func(k int64) real { return fractionOf(2, 2*k+3) }, 0, 0.0401, 7)
	// (artanh(t/2)/(t/2) - 1 - t²/12) / t⁴ - 1/80 in powers of t², for t = 2s
	powerRest = economize(func(k int64) real {
		return newReal().SetMantExp(fractionOf(1, 2*k+7), -2*int(k)-6)
	}, 0, 4*0.0401, 6)
)

// logarithmParts of 1+f: f less f²/2, of which half is f/2, and the rest.
func (p *formula) logarithmParts(f *value) (half, rest, s *value) {
	s = p.div(f, p.add(p.number(2), f))
	z := p.mul(s, s)
	half = p.mul(p.number(0.5), f)
	rest = p.mul(s, p.fma(z, p.horner(z, logRest), p.mul(half, f)))
	return half, rest, s
}

// withExponent is e·perExponent + a, of which the product's first part is exact
// and not the lesser; it is infinite where e is.
func (p *formula) withExponent(e *value, perExponent, a pair) *value {
	if perExponent.hi.bits != math.Float64bits(1) {
		a.lo = p.fma(e, perExponent.lo, a.lo)
		e = p.mul(e, perExponent.hi)
	}
	s := p.tidy(e, a.hi)
	lo := p.add(s.lo, a.lo)
	if !p.usual {
		lo = p.min(lo, p.number(1)) // which is also for the NaN of an infinite e
	}
	return p.add(s.hi, lo)
}

func naturalLogarithm(p *formula) {
	m, e := p.frexp(p.params[0])
	f := p.sub(m, p.number(1))
	half, rest, _ := p.logarithmParts(f)
	p.result = p.withExponent(e, p.constantPair(ln2(), 11), pair{f, p.fnma(half, f, rest)})
}

// otherLogarithm is to a base of which the logarithm's inverse is per, and that
// of two over it perExponent.
func (p *formula) otherLogarithm(per, perExponent real) {
	m, e := p.frexp(p.params[0])
	f := p.sub(m, p.number(1))
	half, rest, _ := p.logarithmParts(f)
	c := p.constantPair(per, 0)
	l := p.fnma(half, f, f)
	rest = p.add(p.fnma(half, f, p.sub(f, l)), rest)
	y := p.exactProduct(l, c.hi)
	y.lo = p.fma(rest, c.hi, p.fma(l, c.lo, y.lo))
	p.result = p.withExponent(e, p.constantPair(perExponent, 11), y)
}

func binaryLogarithm(p *formula) { p.otherLogarithm(inverse(ln2()), realOf(1)) }

func decimalLogarithm(p *formula) {
	p.otherLogarithm(inverse(ln10()), newReal().Quo(ln2(), ln10()))
}

func logarithmOfOneMore(p *formula) {
	x := p.params[0]
	p.result = p.oneMore(pair{x, nil})
	p.keep(true)
}

// logarithmPair is ln x to some 2⁻⁶⁶ of it: with t = 2f/(2+f), it is t + t³·(1/12 + t²/80 + …).
func (p *formula) logarithmPair(x *value) pair {
	m, e := p.frexp(x)
	f := p.sub(m, p.number(1))
	t := p.ratio(pair{p.add(f, f), nil}, p.tidy(p.number(2), f))
	z := p.exactProduct(t.hi, t.hi)
	z.lo = p.fma(p.add(t.hi, t.hi), t.lo, z.lo)
	q := p.horner(z.hi, powerRest)
	q80 := p.sumWith(fractionOf(1, 80), z.hi, pair{q, nil})
	q80.lo = p.fma(z.lo, q, q80.lo)
	q12 := p.sumWith(fractionOf(1, 12), z.hi, q80)
	q12.lo = p.fma(z.lo, q80.hi, q12.lo)
	w := p.pairProduct(z, q12)
	w = p.pairProduct(t, w)
	l := p.tidy(t.hi, w.hi)
	l.lo = p.add(l.lo, p.add(t.lo, w.lo))
	ln2 := p.constantPair(ln2(), 11)
	s := p.tidy(p.mul(e, ln2.hi), l.hi)
	return p.tidy(s.hi, p.fma(e, ln2.lo, p.add(s.lo, l.lo)))
}

// sumWith is c + z·a, the lesser, less what z lacks.
func (p *formula) sumWith(c real, z *value, a pair) pair {
	k := p.constantPair(c, 0)
	hi := p.fma(z, a.hi, k.hi)
	lo := p.add(p.fma(z, a.hi, p.sub(k.hi, hi)), k.lo)
	if a.lo != nil {
		lo = p.fma(z, a.lo, lo)
	}
	return pair{hi, lo}
}

func (p *formula) pairProduct(a, b pair) pair {
	y := p.exactProduct(a.hi, b.hi)
	y.lo = p.fma(a.hi, b.lo, p.fma(a.lo, b.hi, y.lo))
	return y
}

// expPair is the exponential of a tidy pair.
func (p *formula) expPair(e pair) *value {
	n, word, r := p.reduced(e.hi)
	y := p.expSum(p.tidy(r.hi, p.add(r.lo, e.lo)))
	if p.usual {
		return p.withExponentAdded(y, word)
	}
	return p.scale(y, n)
}

// wholePower is that of a positive x also where the result is out of range.
func wholePower(p *formula) {
	x, y := p.params[0], p.params[1]
	l := p.logarithmPair(x)
	e := p.exactProduct(y, l.hi)
	inside := p.is(p.abs(e.hi), cmpLT, p.number(750))
	lo := p.choose(inside, p.fma(y, l.lo, e.lo), p.number(0))
	p.result = p.expPair(p.tidy(p.clamp(e.hi, -750, 750), lo))
}

// power is exp(y·ln|x|). Zeros, what is not finite and results out of range are
// rare.
func power(p *formula) {
	x, y := p.params[0], p.params[1]
	if !p.usual { // which a sign is not
		x = p.abs(x)
	}
	l := p.logarithmPair(x)
	e := p.exactProduct(y, l.hi)
	if !p.within(e.hi, 708) {
		p.rare = p.is(p.abs(e.hi), cmpNLT, p.number(708))
	}
	v := p.expPair(p.tidy(e.hi, p.fma(y, l.lo, e.lo)))
	if !p.usual {
		v = p.powerSign(v)
	}
	p.result = p.withSquare(v)
}

// powerSign gives |x| to the power of y the sign that a whole y has it have, and
// makes it NaN for others below zero.
func (p *formula) powerSign(v *value) *value {
	x, y := p.params[0], p.params[1]
	half := p.mul(p.number(0.5), y)
	whole := p.is(p.nearest(y), cmpEQ, y)
	odd := p.choose(p.all(whole, p.is(p.nearest(half), cmpNEQ, half)), p.signOf(x), p.number(0))
	broken := p.all(p.is(p.nearest(y), cmpNEQ, y), p.is(x, cmpLT, p.number(0)))
	return p.choose(broken, p.number(nan), p.xor(v, odd))
}

// withSquare is v, or the square that is asked for.
func (p *formula) withSquare(v *value) *value {
	x, y := p.params[0], p.params[1]
	return p.choose(p.is(y, cmpEQ, p.number(2)), p.mul(x, x), v)
}
