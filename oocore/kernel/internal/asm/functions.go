package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// Functions of float32 are computed in float64 and rounded once: no range
// of float32 then needs care for overflow, subnormal numbers or a second word
// of the result, and they err by at most 0.54 units in the last place.

// Polynomials from coefficients.py, lowest power first.
var (
	// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2
	expTail = []float64{0.5000000013465808, 0.166666666816232, 0.0416664649252993, 0.008333310925493047, 0.0013933649994898347, 0.00019890990815546128}
	// (log(1+f) - f) / f² for 1+f between √½ and √2
	logTail = []float64{-0.5000000005545164, 0.33333332792998616, -0.24999971698144052, 0.20000057388341005, -0.1666900630702014, 0.14285624986342585, -0.12432268060137122, 0.11037689316083586, -0.1076947247850695, 0.1058988165596247, -0.060209560123356855}
	// (sin(r)/r - 1) / r² in powers of r², for |r| ≤ π/4
	sinTail = []float64{-0.1666666666383276, 0.008333331865959534, -0.00019840082012809244, 2.7249314057949064e-06}
	// (cos(r) - 1 + r²/2) / r⁴ in powers of r²
	cosTail = []float64{0.04166666666430241, -0.0013888887664714527, 2.4800596435958215e-05, -2.7300448654169567e-07}
	// (tanh(x)/x - 1) / x² in powers of x², for |x| ≤ 0.55
	tanhTail = []float64{-0.33333331985060477, 0.13333110740060342, -0.05390884165887939, 0.0213057919040358, -0.006603473754186858}
)

// magic added to a float64 rounds it to a whole number, which the low bits of
// the sum then hold.
const magic = 3 << 51

func functionLoops() (all []loop) {
	for _, f := range []struct {
		op   string
		body func(m *machine, x vec) vec
	}{
		{"Exp2", (*machine).exp2},
		{"Expm1", (*machine).expm1},
		{"Log", func(m *machine, x vec) vec { return m.log(x, math.Ln2, 1) }},
		{"Log2", func(m *machine, x vec) vec { return m.log(x, 1, math.Log2E) }},
		{"Log10", func(m *machine, x vec) vec { return m.log(x, math.Ln2/math.Ln10, math.Log10E) }},
		{"Log1p", (*machine).log1p},
		{"Sin", func(m *machine, x vec) vec { return m.sine(x, 0) }},
		{"Cos", func(m *machine, x vec) vec { return m.sine(x, 1) }},
	} {
		all = append(all, loop{
			name: "vec" + f.op + "Float32", keys: []key{{op: f.op, from: "Float32"}},
			in: []int{4}, out: 4, lanes: perElement(8),
			body: func(m *machine, in []vec) vec {
				x := m.vector()
				m.VCVTPS2PD(in[0], x)
				return m.shorten(f.body(m, x))
			},
		})
	}
	return all
}

// shorten rounds a vector of float64 to half a vector of float32.
func (m *machine) shorten(x vec) vec {
	if m.wide {
		v := m.YMM()
		m.VCVTPD2PS(x, v)
		return v
	}
	v := m.XMM()
	m.VCVTPD2PSY(x, v)
	return v
}

// polynomial is Horner's scheme.
func (m *machine) polynomial(x vec, c []float64) vec {
	p := m.load64(m.f64(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		m.do(fma213, p, m.f64(c[i]), x)
	}
	return p
}

// clamp64 keeps x within bounds; NaN stays.
func (m *machine) clamp64(x vec, low, high float64) vec {
	x = m.to(min64, x, m.load64(m.f64(high)))
	return m.to(max64, x, m.load64(m.f64(low)))
}

// withSign gives y, which has x's sign but for zero, the sign of x.
func (m *machine) withSign(y, x vec) vec {
	return m.to(or, y, m.to(and, m.q(1<<63), x))
}

// reduced is what exponentials share: with n the whole number nearest to
// perUnit·x and r·log₂e the rest, it gives exp(r) - 1, and n where a float64 has
// its exponent. x is overwritten.
func (m *machine) reduced(x vec, perUnit float64) (tail, exponent vec) {
	t := m.load64(m.f64(magic))
	m.do(fma231, t, m.f64(perUnit), x)
	n := m.to(sub64, m.f64(magic), t)
	var r vec
	if perUnit == 1 {
		r = m.to(mul64, m.f64(math.Ln2), m.to(sub64, n, x))
	} else {
		r = x
		m.do(fnma231, r, m.f64(math.Ln2), n)
	}
	p := m.polynomial(r, expTail)
	m.do(fma213, p, r, m.to(mul64, r, r))
	exponent = m.vector()
	m.VPSLLQ(operand.U8(52), t, exponent)
	return p, exponent
}

func (m *machine) exp2(x vec) vec {
	tail, exponent := m.reduced(m.clamp64(x, -160, 130), 1)
	return m.to(addq, exponent, m.to(add64, m.f64(1), tail))
}

// expm1 is 2ⁿ·tail + (2ⁿ - 1).
func (m *machine) expm1(x vec) vec {
	tail, exponent := m.reduced(m.clamp64(x, -110, 90), math.Log2E)
	scale := m.to(addq, m.f64(1), exponent)
	m.do(fma213, tail, m.to(sub64, m.f64(1), scale), scale)
	return m.withSign(tail, x)
}

// log is exponent·perExponent + perLn·ln(mantissa), the mantissa of x being
// between √½ and √2.
func (m *machine) log(x vec, perExponent, perLn float64) vec {
	const one = 1023 << 52
	t := m.to(addq, m.q(one-math.Float64bits(math.Sqrt2/2)), x)
	shifted := m.vector()
	m.VPSRLQ(operand.U8(52), t, shifted)
	// The biased exponent under the bits of 2⁵² is 2⁵² + exponent + 1023.
	e := m.to(sub64, m.f64(1<<52+1023), m.to(or, m.f64(1<<52), shifted))
	mantissa := m.to(subq, m.to(and, m.q(0xfff<<52), t), x)
	f := m.to(sub64, m.f64(1), m.to(addq, m.q(one), mantissa))
	p := m.polynomial(f, logTail)
	m.do(fma213, p, f, m.to(mul64, f, f))
	if perLn != 1 {
		p = m.to(mul64, m.f64(perLn), p)
	}
	m.do(fma231, p, m.f64(perExponent), e)
	// Infinity and NaN are their own logarithms; below zero there is none.
	y := m.blend64(m.compare64(cmpNLT, m.f64(math.Inf(1)), x), x, p)
	zero := m.vector()
	m.zero(zero)
	y = m.blend64(m.compare64(cmpLT, zero, x), m.q(0x7ff8<<48), y)
	return m.blend64(m.compare64(cmpEQ, zero, x), m.f64(math.Inf(-1)), y)
}

func (m *machine) zero(v vec) {
	if m.wide {
		m.VPXORQ(v, v, v)
	} else {
		m.VPXOR(v, v, v)
	}
}

// log1p is x - x²/2 where 1+x would lose too much of x.
func (m *machine) log1p(x vec) vec {
	y := m.log(m.to(add64, m.f64(1), x), math.Ln2, 1)
	small := m.to(mul64, m.f64(-0.5), x)
	m.do(fma213, small, x, x)
	magnitude := m.to(and, m.q(1<<63-1), x)
	return m.blend64(m.compare64(cmpLT, m.f64(0x1p-20), magnitude), small, y)
}
