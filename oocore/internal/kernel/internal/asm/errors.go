package main

func init() {
	define("Erf", definition{double: errorFunction, single: errorFunctionSingle})
}

// From a split on, the error function is one less what is left, of which the logarithm
// is a polynomial. At that of float64 a quarter is left, so that the logarithm of four
// times it begins near zero, where little is rounded off. From erfEnd on it is one.
const (
	erfSplit       = 0.8125
	erfSplitSingle = 0.9375
	erfEnd         = 5.9375
)

var (
	// erf(x)/x - 1 in powers of x²
	erfRest   = economize(erfTerm, 0, erfSplit*erfSplit, 11)
	erfSingle = economize(erfTerm, 0, erfSplitSingle*erfSplitSingle, 5)
	// ln(4·(1 - erf(a))) in powers of a - erfSplit
	erfTail = erfLeft(erfSplit, erfEnd, 22, func(a, left real) real {
		return left.Add(left, newReal().Mul(realOf(2), ln2()))
	})
	// ln(1 - erf(a)) + a² in powers of a - erfSplitSingle
	erfTailSingle = erfLeft(erfSplitSingle, 4, 7, func(a, left real) real { return left.Add(left, a.Mul(a, a)) })
	// (exp(r) - 1) / r for |r| ≤ ln 2 / 2
	erfPower = economize(func(k int64) real { return inverseFactorial(k + 1) }, -halfLn2, halfLn2, 10)
)

// erfTerm is the coefficient of x²ᵏ in erf(x)/x - 1: 2/√π·(-1)ᵏ/(k!·(2k+1)).
func erfTerm(k int64) real {
	c := newReal().Quo(inverseFactorial0(k), newReal().SetInt64(2*k+1))
	c = alternating(k, c.Mul(c, newReal().Quo(realOf(2), newReal().Sqrt(pi()))))
	if k == 0 {
		c.Sub(c, realOf(1))
	}
	return c
}

// erfLeft is a polynomial for a function of a and of ln(1 - erf(a)). Points near its
// start count most.
func erfLeft(start, end float64, degree int, of func(a, left real) real) (out []float64) {
	rest := series(erfTerm).at(0)
	f := func(t real) real {
		a := newReal().Add(t, realOf(start))
		left := newReal().Sub(realOf(1), newReal().Mul(a, newReal().Add(rest(newReal().Mul(a, a)), realOf(1))))
		m := newReal()
		e := left.MantExp(m)
		return of(a, newReal().Add(ln(m), newReal().Mul(ln2(), newReal().SetInt64(int64(e)))))
	}
	for _, v := range interpolate(f, 0, end-start, degree, 1.625) {
		out = append(out, float(v))
	}
	return out
}

// errorFunction is x + x·rest, or from erfSplit on 1 - ¼·exp(g).
func errorFunction(p *formula) {
	x, one := p.params[0], p.number(1)
	near := p.fma(x, p.horner(p.mul(x, x), erfRest), x)
	a := p.abs(x)
	g := p.horner(p.sub(p.min(p.number(erfEnd), a), p.number(erfSplit)), erfTail)
	_, word, r := p.reducedOnce(g)
	left := p.addBits(p.fma(p.horner(r, erfPower), r, one), p.shl(word, p.shift))
	far := p.signed(p.fnma(p.number(0.25), left, one), x)
	p.result = p.choose(p.is(a, cmpGT, p.number(erfSplit)), far, near)
}

func errorFunctionSingle(p *formula) {
	x := p.params[0]
	near := p.fma(x, p.horner(p.mul(x, x), erfSingle), x)
	a := p.min(p.number(4), p.abs(x))
	g := p.fnma(a, a, p.horner(p.sub(a, p.number(erfSplitSingle)), erfTailSingle))
	_, word, r := p.reducedOnce(g)
	left := p.addBits(p.add(p.number(1), p.lessOneSingle(r)), p.shl(word, p.shift))
	far := p.signed(p.sub(p.number(1), left), x)
	p.result = p.choose(p.is(p.abs(x), cmpGT, p.number(erfSplitSingle)), far, near)
}
