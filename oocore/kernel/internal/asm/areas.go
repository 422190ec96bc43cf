package main

// oneMore is ln(1 + v) for a tidy pair, or one number. What the sum loses counts by
// the derivative.
func (p *formula) oneMore(v pair) *value {
	one := p.number(1)
	large, small := p.max(v.hi, one), p.min(v.hi, one)
	u := p.add(one, v.hi)
	lost := p.sub(small, p.sub(u, large))
	if v.lo != nil {
		lost = p.add(lost, v.lo)
	}
	lost = p.div(lost, u)
	m, e := p.frexp(u)
	f, half, rest := p.logarithmParts(m)
	y := p.withExponent(e, p.constantPair(ln2(), 11), pair{f, p.add(p.sub(rest, half), lost)})
	// Of the least, the series has two terms; zero keeps its sign.
	series := p.mul(p.mul(p.number(-0.5), v.hi), v.hi)
	if v.lo != nil {
		series = p.add(series, v.lo)
	}
	least := p.is(p.abs(v.hi), cmpLT, p.number(0x1p-30))
	return p.choose(least, p.choose(p.is(v.hi, cmpEQ, p.number(0)), v.hi, p.add(v.hi, series)), y)
}

// root of a tidy pair; half what it lacks is over the root, of which zero has none.
func (p *formula) root(a pair) pair {
	r := p.sqrt(a.hi)
	lack := p.add(p.fnma(r, r, a.hi), a.lo)
	return pair{r, p.div(lack, p.max(p.number(0x1p-600), p.add(r, r)))}
}

// areaSine is ln(1 + a + a²/(1+√(a²+1))), and rare from 2⁴⁰⁰ on.
func areaSine(p *formula) {
	x := p.params[0]
	a, one := p.abs(x), p.number(1)
	p.rare = p.is(a, cmpGE, p.number(0x1p400))
	square := p.exactProduct(a, a)
	more := p.tidy(p.max(one, square.hi), p.min(one, square.hi))
	more.lo = p.add(more.lo, square.lo)
	r := p.root(more)
	d := p.tidy(r.hi, one)
	d.lo = p.add(d.lo, r.lo)
	q := p.ratio(square, d)
	v := p.tidy(a, q.hi)
	v.lo = p.add(v.lo, q.lo)
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

// areaTangent is ½·ln(1 + 2a/(1-a)).
func areaTangent(p *formula) {
	x := p.params[0]
	a, one := p.abs(x), p.number(1)
	d := p.tidy(one, p.neg(a))
	q := p.ratio(pair{p.add(a, a), nil}, d)
	// At one the quotient is infinite, and what is left of it goes unnoticed.
	q.hi = p.choose(p.is(a, cmpEQ, one), p.number(inf), q.hi)
	p.result = p.signed(p.mul(p.number(0.5), p.oneMore(q)), x)
}
