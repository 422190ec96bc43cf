package main

// Operations of IEEE 754: a step, or a few, exact or rounded once.
func init() {
	pair := func(f func(p *formula, x, y *value) *value) func(p *formula) *value {
		return func(p *formula) *value { return f(p, p.params[0], p.params[1]) }
	}
	one := func(f func(p *formula, x *value) *value) func(p *formula) *value {
		return func(p *formula) *value { return f(p, p.params[0]) }
	}
	is := func(predicate uint8) func(p *formula) *value {
		return pair(func(p *formula, x, y *value) *value { return p.is(x, predicate, y) })
	}
	magnitude := func(predicate uint8) func(p *formula) *value {
		return one(func(p *formula, x *value) *value { return p.is(p.abs(x), predicate, p.number(inf)) })
	}
	rounded := func(mode uint8) func(p *formula) *value {
		return one(func(p *formula, x *value) *value { return p.shaped(rounding, mode, x) })
	}
	defineAlike(map[string]func(p *formula) *value{
		"Add":      pair((*formula).add),
		"Subtract": pair((*formula).sub),
		"Multiply": pair((*formula).mul),
		"Divide":   pair((*formula).div),
		// The least of two is the second where one is NaN: the first is put in its place
		// where it is the NaN that wins, or where the second is the one that loses.
		"Minimum": pair(func(p *formula, x, y *value) *value { return p.unlessNaN(x, p.min(x, y), x) }),
		"Maximum": pair(func(p *formula, x, y *value) *value { return p.unlessNaN(x, p.max(x, y), x) }),
		"Fmin":    pair(func(p *formula, x, y *value) *value { return p.unlessNaN(y, p.min(x, y), x) }),
		"Fmax":    pair(func(p *formula, x, y *value) *value { return p.unlessNaN(y, p.max(x, y), x) }),

		"Copysign":     pair(func(p *formula, x, y *value) *value { return p.signed(p.abs(x), y) }),
		"Equal":        is(cmpEQ),
		"NotEqual":     is(cmpNEQ),
		"Less":         is(cmpLT),
		"LessEqual":    is(cmpLE),
		"Greater":      is(cmpGT),
		"GreaterEqual": is(cmpGE),
		"Negative":     one((*formula).neg),
		"Absolute":     one((*formula).abs),
		"Sign": one(func(p *formula, x *value) *value {
			zero := p.number(0)
			below := p.choose(p.is(x, cmpLT, zero), p.number(-1), p.choose(p.is(x, cmpEQ, zero), zero, x))
			return p.choose(p.is(x, cmpGT, zero), p.number(1), below)
		}),
		"Square":     one(func(p *formula, x *value) *value { return p.mul(x, x) }),
		"Sqrt":       one((*formula).sqrt),
		"Reciprocal": one(func(p *formula, x *value) *value { return p.div(p.number(1), x) }),
		"Rint":       rounded(0),
		"Floor":      rounded(1),
		"Ceil":       rounded(2),
		"Trunc":      rounded(3),
		"IsNaN":      one(func(p *formula, x *value) *value { return p.is(x, cmpUNORD, x) }),
		"IsInf":      magnitude(cmpEQ),
		"IsFinite":   magnitude(cmpLT),
		"MulAdd":     func(p *formula) *value { return p.fma(p.params[0], p.params[1], p.params[2]) },
	})
}

// unlessNaN is y, or other where x is NaN.
func (p *formula) unlessNaN(x, y, other *value) *value {
	return p.choose(p.is(x, cmpUNORD, x), other, y)
}
