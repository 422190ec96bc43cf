package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"
)

// Exp and tanh, wanted fast more than the others, stay in float32 with twice the
// elements in a vector. They err by up to two units in the last place.

var (
	// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2
	expTail = economize(func(k int64) real { return inverseFactorial(k + 2) }, -halfLn2, halfLn2, 5)
	// (tanh(x)/x - 1) / x² in powers of x², for |x| ≤ 0.55
	tanhTail = economize(tanhTerm, 0, 0.551*0.551, 4)
)

var (
	fma213s  = op{x86.VFMADD213PS, nil, x86.VFMADD213PS_BCST}
	fma231s  = op{x86.VFMADD231PS, nil, x86.VFMADD231PS_BCST}
	fnma231s = op{x86.VFNMADD231PS, nil, x86.VFNMADD231PS_BCST}
	addd     = op{x86.VPADDD, nil, x86.VPADDD_BCST}
	subd     = op{x86.VPSUBD, nil, x86.VPSUBD_BCST}
)

var tanhSeries = quotientOf(func(k int64) real { return inverseFactorial(2*k + 1) }, func(k int64) real { return inverseFactorial0(2 * k) })

func tanhTerm(k int64) real { return tanhSeries(k + 1) }

// magic32 is to float32 what magic is to float64.
const magic32 = 3 << 22

// ln 2 in two float32, the first of few enough bits that multiples are exact.
const (
	ln2High = 0x1.62e4p-1
	ln2Low  = math.Ln2 - ln2High
)

func singleLoops() (all []loop) {
	for _, f := range []struct {
		op   string
		body func(m *machine, in []vec) vec
	}{
		{"Exp", func(m *machine, in []vec) vec { return m.exp32(in[0]) }},
		{"Tanh", func(m *machine, in []vec) vec { return m.tanh32(in[0]) }},
	} {
		all = append(all, loop{
			name: "vec" + f.op + "Float32", keys: []key{{op: f.op, from: "Float32"}},
			in: []int{4}, out: 4, lanes: perElement(4), body: f.body,
		})
	}
	return all
}

// clamp32 keeps x within bounds; NaN stays.
func (m *machine) clamp32(x vec, low, high float32) vec {
	x = m.to(min32, x, m.load32(m.f32(high)))
	return m.to(max32, x, m.load32(m.f32(low)))
}

// reduced32 is, with n the whole number nearest to x·log₂e and r the rest,
// exp(r) - 1, and n as a number and in the low bits of a word. x is overwritten.
func (m *machine) reduced32(x vec) (tail, n, word vec) {
	word = m.load32(m.f32(magic32))
	m.do(fma231s, word, m.f32(math.Log2E), x)
	n = m.to(sub32, m.f32(magic32), word)
	m.do(fnma231s, x, m.f32(ln2High), n)
	m.do(fnma231s, x, m.f32(ln2Low), n)
	tail = m.polynomial32(x, expTail)
	m.do(fma213s, tail, x, m.to(mul32, x, x))
	return tail, n, word
}

// exp32 scales once by AVX-512's instruction for it. AVX2 multiplies by two
// powers of two, of which neither, nor the first product, leaves the range.
func (m *machine) exp32(x vec) vec {
	tail, n, word := m.reduced32(m.clamp32(x, -104, 89))
	e := m.to(add32, m.f32(1), tail)
	if m.wide {
		m.VSCALEFPS(n, e, e)
		return e
	}
	whole := m.to(subd, m.f32(magic32), word)
	half := m.vector()
	m.VPSRAD(operand.U8(1), whole, half)
	return m.to(mul32, m.power32(m.to(subd, half, whole)), m.to(mul32, m.power32(half), e))
}

// power32 is two to the power of whole numbers.
func (m *machine) power32(n vec) vec {
	shifted := m.vector()
	m.VPSLLD(operand.U8(23), n, shifted)
	return m.to(addd, m.f32(1), shifted)
}

// tanh32 is a polynomial, or 1 - 2/(exp(2|x|)+1) where that quotient is at most
// one half.
func (m *machine) tanh32(x vec) vec {
	t := floatTypes[0]
	magnitude := m.to(andnot, x, m.load64(t.sign(m)))
	large := m.compareFloat(t, cmpGT, m.load32(m.f32(0.55)), magnitude)
	square := m.to(mul32, magnitude, magnitude)
	small := m.to(mul32, square, m.polynomial32(square, tanhTail))
	m.do(fma213s, small, magnitude, magnitude)
	tail, _, word := m.reduced32(m.to(min32, m.to(add32, magnitude, magnitude), m.load32(m.f32(20))))
	shifted := m.vector()
	m.VPSLLD(operand.U8(23), word, shifted)
	e := m.to(addd, shifted, m.to(add32, m.f32(1), tail))
	quotient := m.to(div32, m.to(add32, m.f32(1), e), m.load32(m.f32(-2)))
	y := m.blend32(large, m.to(add32, m.f32(1), quotient), small)
	return m.to(or, y, m.to(and, t.sign(m), x))
}

// polynomial32 is Horner's scheme in float32.
func (m *machine) polynomial32(x vec, c []float64) vec {
	p := m.load32(m.f32(float32(c[len(c)-1])))
	for i := len(c) - 2; i >= 0; i-- {
		m.do(fma213s, p, m.f32(float32(c[i])), x)
	}
	return p
}
