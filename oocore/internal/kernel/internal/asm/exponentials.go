package main

import "math"

func init() {
	define("Exp", definition{double: exponential, single: exponentialSingle})
	define("Exp2", definition{double: exponentialOfTwo, single: exponentialOfTwoSingle})
	define("Expm1", definition{double: exponentialLessOne, single: exponentialLessOneSingle})
	define("Sinh", definition{
		double: func(p *formula) { p.halves(p.params[0], true) },
		single: func(p *formula) { p.halvesSingle(p.params[0], true) },
	})
	define("Cosh", definition{
		double: func(p *formula) { p.halves(p.params[0], false) },
		single: func(p *formula) { p.halvesSingle(p.params[0], false) },
	})
	define("Tanh", definition{double: hyperbolicTangent, single: hyperbolicTangentSingle})
}

// The degree is that at which the error is some 2⁻⁶⁰ of the result.
var (
	halfLn2 = math.Ln2 / 2 * 1.0001
	// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2
	expRest = economize(func(k int64) real { return inverseFactorial(k + 2) }, -halfLn2, halfLn2, 10)
	// (sinh(r)/r - 1) / r² and (cosh(r) - 1) / r² in powers of r²
	sinhRest = economize(func(k int64) real { return inverseFactorial(2*k + 3) }, 0, halfLn2*halfLn2, 5)
	coshRest = economize(func(k int64) real { return inverseFactorial(2*k + 2) }, 0, halfLn2*halfLn2, 5)
)

// reduced is n, the whole number nearest to x·log₂e, also in the low bits of a word, and x - n·ln 2. The first
// product is exact, and with it the first difference.
func (p *formula) reduced(x *value) (n, word *value, r pair) {
	n, word = p.wholeNear(x, math.Log2E)
	ln2 := p.constantPair(ln2(), 11)
	first := p.fnma(n, ln2.hi, x)
	hi := p.fnma(n, ln2.lo, first)
	return n, word, pair{hi, p.fnma(n, ln2.lo, p.sub(first, hi))}
}

// reducedOnce is the same with the difference in one number, and the n also in the low
// bits of a word.
func (p *formula) reducedOnce(x *value) (n, word, r *value) {
	n, word = p.wholeNear(x, math.Log2E)
	drop := 11
	if p.bytes == 4 {
		drop = 8
	}
	ln2 := p.constantPair(ln2(), drop)
	return n, word, p.fnma(n, ln2.lo, p.fnma(n, ln2.hi, x))
}

// power of e is 1 + r + rest, to be added in this order of size.
func (p *formula) expSum(r pair) *value {
	one := p.tidy(p.number(1), r.hi)
	rest := p.horner(r.hi, expRest)
	rest = p.fma(p.mul(r.hi, r.hi), rest, r.lo)
	return p.add(one.hi, p.add(one.lo, rest))
}

// exponential of what is beyond 746 or 710 is zero or infinite. The difference of x and
// n times the greater part of ln 2 is exact.
func exponential(p *formula) { p.result = p.exp(p.params[0]) }

func (p *formula) exp(x *value) *value {
	usual := p.within(x, 708)
	if !usual {
		x = p.clamp(x, -746, 710)
	}
	n, word := p.wholeNear(x, math.Log2E)
	ln2 := p.constantPair(ln2(), 11)
	first := p.fnma(n, ln2.hi, x)
	r := p.fnma(n, ln2.lo, first)
	rest := p.horner(r, expRest)
	rest = p.fnma(n, ln2.lo, p.mul(p.mul(r, r), rest))
	y := p.add(p.number(1), p.add(first, rest))
	if usual {
		return p.withExponentAdded(y, word)
	}
	return p.scale(y, n)
}

// exp2Rest is (2ʳ - 1 - r·ln 2) / r² for |r| ≤ ½.
var exp2Rest = economize(func(k int64) real { return newReal().Mul(powerOf(ln2(), k+2), inverseFactorial(k+2)) }, -0.5, 0.5, 10)

func exponentialOfTwo(p *formula) {
	x := p.params[0]
	usual := p.within(x, 1021)
	if !usual {
		x = p.clamp(x, -1076, 1025)
	}
	n, word := p.wholeNear(x, 1)
	ln2 := p.constantPair(ln2(), 0)
	r := p.sub(x, n)
	rest := p.horner(r, exp2Rest)
	rest = p.fma(p.mul(r, r), rest, p.mul(r, ln2.lo))
	y := p.add(p.number(1), p.fma(r, ln2.hi, rest))
	if usual {
		p.result = p.withExponentAdded(y, word)
	} else {
		p.result = p.scale(y, n)
	}
}

// powerOfTwo is of a whole number in the range of exponents.
func (p *formula) powerOfTwo(n *value) *value {
	return p.addBits(p.number(1), p.shl(p.add(p.number(p.magic), n), p.shift))
}

// lessOne is (exp(x) - 1)/2ⁿ = (1 - 2⁻ⁿ) + r + rest, and what the first difference
// rounds off. Of a bounded x n is at most 100, and in the low bits of a word.
func (p *formula) lessOne(x *value, bounded bool) (sum pair, n, word, lost *value) {
	n, word, r := p.reduced(x)
	var inverse *value
	if bounded {
		inverse = p.subBits(p.number(1), p.shl(word, p.shift))
	} else {
		inverse = p.powerOfTwo(p.sub(p.number(0), p.min(p.number(100), n)))
	}
	first := p.sub(p.number(1), inverse)
	lost = p.sub(p.sub(p.number(1), first), inverse)
	sum = p.tidy(first, r.hi)
	square := p.exactProduct(p.mul(p.number(0.5), r.hi), r.hi)
	cube := p.mul(p.add(square.hi, square.hi), r.hi)
	rest := p.fma(cube, p.horner(r.hi, expRest[1:]), p.add(r.lo, square.lo))
	sum.lo = p.add(sum.lo, p.add(square.hi, rest))
	return sum, n, word, lost
}

func exponentialLessOne(p *formula) {
	x := p.params[0]
	usual, of := p.within(x, 40), x
	if !usual {
		of = p.clamp(x, -50, 710)
	}
	sum, n, word, lost := p.lessOne(of, usual)
	sum.lo = p.add(sum.lo, lost)
	y := p.total(sum)
	if usual {
		y = p.withExponentAdded(y, word)
	} else {
		y = p.scale(y, n)
	}
	p.result = p.or(y, p.signOf(x))
}

// hyperbolicTangent is E/(E+2) with E = exp(2x) - 1.
func hyperbolicTangent(p *formula) {
	x := p.params[0]
	a := p.min(p.number(22), p.abs(x))
	sum, _, word, _ := p.lessOne(p.add(a, a), true)
	scale := p.withExponentAdded(p.number(1), word)
	e := p.tidy(p.mul(sum.hi, scale), p.mul(sum.lo, scale))
	two := p.number(2)
	d := p.tidy(p.max(two, e.hi), p.min(two, e.hi))
	d.lo = p.add(d.lo, e.lo)
	p.result = p.signed(p.total(p.ratio(e, d)), x)
}

// halves is what sinh and cosh of |x| share: with u = 2⁻²ⁿ, twice the
// function over 2ⁿ is (1±u)·cosh r + (1∓u)·sinh r.
func (p *formula) halves(x *value, sine bool) {
	usual, a := p.within(x, 40), p.abs(x)
	if !usual {
		a = p.min(p.number(711), a)
	}
	n, word, r := p.reduced(a)
	one := p.number(1)
	var u *value
	if usual {
		u = p.subBits(one, p.shl(word, p.shift+1))
	} else {
		u = p.powerOfTwo(p.mul(p.number(-2), p.min(p.number(100), n)))
	}
	withCosh, withSinh := p.add(one, u), p.sub(one, u)
	lost := p.sub(u, p.sub(withCosh, one))
	if sine {
		withCosh, withSinh = withSinh, withCosh
		lost = p.sub(p.sub(one, withCosh), u)
	}
	square := p.mul(r.hi, r.hi)
	sinh := p.fma(p.mul(square, r.hi), p.horner(square, sinhRest), r.lo)
	cosh := p.fma(p.mul(square, p.horner(square, coshRest)), withCosh, lost)
	first := p.exactProduct(withSinh, r.hi)
	s := p.tidy(withCosh, first.hi)
	rest := p.fma(withSinh, sinh, p.add(cosh, first.lo))
	y := p.mul(p.number(0.5), p.add(s.hi, p.add(s.lo, rest)))
	if usual {
		y = p.withExponentAdded(y, word)
	} else {
		y = p.scale(y, n)
	}
	if sine {
		y = p.signed(y, x)
	}
	p.result = y
}
