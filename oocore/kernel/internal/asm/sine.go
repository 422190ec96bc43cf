package main

import (
	"math/big"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// Beyond wideAngle a quotient by π/2 loses its fraction, and multiples of π/2
// are counted by a table instead, up to the largest exponent of a float32.
const (
	wideAngle    = 40
	maxExponent  = 127
	mantissaBits = 23
)

// sine is sin(x + quarter·π/2).
func (m *machine) sine(x vec, quarter int) vec {
	t := m.load64(m.f64(magic))
	m.do(fma231, t, m.f64(float(twoOverPi())), x)
	n := m.to(sub64, m.f64(magic), t)
	high, low := halfPi()
	r := m.vector()
	m.VMOVUPD(x, r)
	m.do(fnma231, r, m.f64(high), n)
	m.do(fnma231, r, m.f64(low), n)
	m.wideAngles(x, t, r)
	if quarter == 1 {
		t = m.to(add64, m.f64(1), t)
	}
	square := m.to(mul64, r, r)
	sin := m.to(mul64, r, m.polynomial(square, append([]float64{1}, sinTail...)))
	cos := m.polynomial(square, append([]float64{1, -0.5}, cosTail...))
	odd := m.vector()
	m.VPSLLQ(operand.U8(63), t, odd)
	y := m.vector()
	if m.wide {
		k := m.K()
		m.VPMOVQ2M(odd, k)
		m.VBLENDMPD(cos, sin, k, y)
	} else {
		m.VBLENDVPD(odd, cos, sin, y)
	}
	half := m.vector()
	m.VPSLLQ(operand.U8(62), t, half)
	return m.to(xor, y, m.to(and, m.q(1<<63), half))
}

// wideAngles puts right the angle r and its quadrant (the low bits of t) where
// |x| ≥ 2^wideAngle. There x is a whole number of mantissaBits+1 bits times a
// power of two, and the table holds how many quarter turns, less whole ones,
// that power is: in three parts, the products with which are exact.
func (m *machine) wideAngles(x, t, r vec) {
	done := m.label("narrow")
	magnitude := m.to(and, m.q(1<<63-1), x)
	bound := m.f64(float(new(big.Float).SetMantExp(big.NewFloat(1), wideAngle)))
	mask := m.compare64(cmpGE, bound, magnitude)
	if m.wide {
		m.KORTESTB(mask, mask)
	} else {
		any := m.GP32()
		m.VMOVMSKPD(mask, any)
		m.TESTL(any, any)
	}
	m.JZ(operand.LabelRef(done))

	// Infinity has no angle: r is NaN already.
	finite := m.compare64(cmpLT, m.q(0x7ff<<52), magnitude)
	if m.wide {
		m.KANDB(finite, mask, mask)
	} else {
		m.VPAND(finite, mask, mask)
	}
	whole := m.to(or, m.q((1023+mantissaBits)<<52), m.to(and, m.q(1<<63|1<<52-1), x))
	row := m.blend64(mask, magnitude, m.load64(bound))
	m.VPSRLQ(operand.U8(52), row, row)
	turns := m.GP64()
	m.LEAQ(m.turnTable(), turns)
	part := func(i int) vec {
		v := m.vector()
		m.zero(v)
		at := operand.Mem{Base: turns, Index: row, Scale: 8, Disp: 8 * (i*(maxExponent-wideAngle+1) - 1023 - wideAngle)}
		if m.wide {
			ones, k := m.GP64(), m.K()
			m.MOVQ(operand.I64(-1), ones)
			m.KMOVQ(ones, k)
			m.VGATHERQPD(at, k, v)
		} else {
			ones := m.YMM()
			m.VPCMPEQQ(ones, ones, ones)
			m.VGATHERQPD(ones, at, v)
		}
		return v
	}
	nearest := func(v vec) vec {
		return m.round(floatTypes[1], 0, v)
	}
	a := m.to(mul64, part(0), whole)
	n := nearest(a)
	b := m.to(sub64, n, a)
	m.do(fma231, b, part(1), whole)
	n1 := nearest(b)
	b = m.to(sub64, n1, b)
	m.do(fma231, b, part(2), whole)
	high, _ := halfPi()
	b = m.to(mul64, m.f64(high), b)
	n = m.to(add64, m.f64(magic), m.to(add64, n, n1))
	m.VMOVUPD(m.blend64(mask, b, r), r)
	m.VMOVUPD(m.blend64(mask, n, t), t)
	m.Label(done)
}

// turnTable has, for each exponent from wideAngle on, the quarter turns modulo
// four of the last place's unit: multiples of 2⁻²⁶, then of 2⁻⁵³, then the rest.
func (m *machine) turnTable() operand.Mem {
	const name = "quarter_turns"
	if c, ok := m.constants[name]; ok {
		return c.Mem
	}
	mem := m.StaticGlobal(name)
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	m.constants[name] = constant{mem}
	rows := maxExponent - wideAngle + 1
	table := make([]float64, 3*rows)
	for i := range rows {
		turn := new(big.Float).SetMantExp(twoOverPi(), wideAngle+i-mantissaBits)
		four := big.NewFloat(4)
		rest := new(big.Float).Sub(turn, new(big.Float).Mul(four, floor(new(big.Float).Quo(turn, four))))
		for p, bits := range []int{26, 53} {
			unit := new(big.Float).SetMantExp(big.NewFloat(1), -bits)
			v := new(big.Float).Mul(unit, floor(new(big.Float).Quo(rest, unit)))
			table[p*rows+i] = float(v)
			rest.Sub(rest, v)
		}
		table[2*rows+i] = float(rest)
	}
	for _, v := range table {
		m.AppendDatum(operand.U64(float64bits(v)))
	}
	return mem
}

const precision = 512

// pi is Machin's formula: 16·arctan(1/5) - 4·arctan(1/239).
func pi() *big.Float {
	arctan := func(n int64) *big.Float {
		power := new(big.Float).SetPrec(precision).Quo(big.NewFloat(1).SetPrec(precision), new(big.Float).SetInt64(n))
		sum := new(big.Float).SetPrec(precision)
		for k := int64(0); k < precision; k++ {
			term := new(big.Float).Quo(power, new(big.Float).SetInt64(2*k+1))
			if k%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, new(big.Float).SetInt64(n*n))
		}
		return sum
	}
	a := new(big.Float).Mul(big.NewFloat(16), arctan(5))
	return a.Sub(a, new(big.Float).Mul(big.NewFloat(4), arctan(239)))
}

func twoOverPi() *big.Float {
	return new(big.Float).SetPrec(precision).Quo(big.NewFloat(2).SetPrec(precision), pi())
}

// halfPi is π/2 in two float64.
func halfPi() (high, low float64) {
	half := new(big.Float).Quo(pi(), big.NewFloat(2))
	high = float(half)
	return high, float(new(big.Float).Sub(half, big.NewFloat(high)))
}

func float(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// floor is of a positive number.
func floor(x *big.Float) *big.Float {
	i, _ := x.Int(nil)
	return new(big.Float).SetPrec(precision).SetInt(i)
}
