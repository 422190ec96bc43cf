package main

// From erfSplit on, the error function is 1 - exp(h - a²), of which the exponential is
// the less precise the smaller it is. From erfEnd on it is one.
const (
	erfSplit = 0.9375
	erfEnd   = 5.9375
)

var (
	// erf(x)/x - 1 in powers of x²
	erfRest   = economize(erfTerm, 0, erfSplit*erfSplit, 11)
	erfSingle = economize(erfTerm, 0, erfSplit*erfSplit, 5)
	// h(a) = ln(1 - erf(a)) + a² in powers of a - erfSplit
	erfTail       = erfRestOf(erfEnd, 22)
	erfTailSingle = erfRestOf(4, 7)
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

// erfRestOf is h up to an end. Points near its start count most.
func erfRestOf(end float64, degree int) (out []float64) {
	rest := series(erfTerm).at(0)
	h := func(t real) real {
		a := newReal().Add(t, realOf(erfSplit))
		square := newReal().Mul(a, a)
		left := newReal().Sub(realOf(1), newReal().Mul(a, newReal().Add(rest(square), realOf(1))))
		m := newReal()
		e := left.MantExp(m)
		return newReal().Add(square, newReal().Add(ln(m), newReal().Mul(ln2(), newReal().SetInt64(int64(e)))))
	}
	for _, v := range interpolate(h, 0, end-erfSplit, degree, 1.625) {
		out = append(out, float(v))
	}
	return out
}

// errorFunction is x + x·rest, or from erfSplit on 1 - exp(h - a²).
func errorFunction(p *formula) {
	x := p.params[0]
	near := p.fma(x, p.horner(p.mul(x, x), erfRest), x)
	a := p.min(p.number(erfEnd), p.abs(x))
	g := p.fnma(a, a, p.horner(p.sub(a, p.number(erfSplit)), erfTail))
	n, r := p.reduced(g)
	e := p.add(p.number(1), p.fma(p.mul(r.hi, r.hi), p.horner(r.hi, expRest), r.hi))
	p.result = p.errorChoice(near, p.mul(e, p.powerOfTwo(n)))
}

func errorFunctionSingle(p *formula) {
	x := p.params[0]
	near := p.fma(x, p.horner(p.mul(x, x), erfSingle), x)
	a := p.min(p.number(4), p.abs(x))
	g := p.fnma(a, a, p.horner(p.sub(a, p.number(erfSplit)), erfTailSingle))
	_, word, r := p.reducedSingle(g)
	e := p.add(p.number(1), p.lessOneSingle(r))
	p.result = p.errorChoice(near, p.addBits(e, p.shl(word, p.shift)))
}

func (p *formula) errorChoice(near, left *value) *value {
	x := p.params[0]
	beyond := p.is(p.abs(x), cmpGT, p.number(erfSplit))
	return p.choose(beyond, p.signed(p.sub(p.number(1), left), x), near)
}
