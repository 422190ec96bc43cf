package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// float8 is the form of a float of 8 bits, as dtype has it.
type float8 struct {
	name           string
	mantissa, bias int
	beyond         uint32 // what is too large, and where there is no infinity NaN
}

var float8s = []float8{{"Float8E4M3FN", 3, 7, 0x7f}, {"Float8E5M2", 2, 15, 0x7c}}

// float8Loops are the conversions between floats of 8 bits and wider ones. A vector of AVX2
// has as many elements as a few instructions need to keep up with memory.
func float8Loops() (all []loop) {
	add := func(from, to string, in, out, lane int, body func(m *machine, x vec) vec) {
		l := newLoop(from+"To"+to, []key{{from: from, to: to}}, []int{in}, out, func(m *machine, in []vec) vec { return body(m, in[0]) })
		l.lanes, l.narrow = perElement(lane), true
		all = append(all, l)
	}
	for _, f := range float8s {
		single := func(m *machine, x vec) vec {
			v := m.vector()
			m.VCVTPH2PS(f.halves(m, x, 16), v)
			return v
		}
		add(f.name, "Float16", 1, 2, 2, func(m *machine, x vec) vec { return f.halves(m, x, 32) })
		add(f.name, "Float32", 1, 4, 4, single)
		add(f.name, "BFloat16", 1, 2, 4, func(m *machine, x vec) vec {
			v := single(m, x)
			m.VPSRLD(operand.U8(16), v, v)
			return m.narrowWords(v)
		})
		add("Float32", f.name, 4, 1, 4, f.rounded)
	}
	return all
}

// halves are codes in a vector of so many bytes as float16, which holds every value. A code is its
// upper byte but for the exponent's bias; every NaN becomes the same.
func (f float8) halves(m *machine, codes vec, bytes int) vec {
	to := func(o op, first operand.Op, rest ...operand.Op) vec { return m.do(o, m.sized(bytes), first, rest...) }
	above := op{plain: x86.VPCMPGTW}
	blend := op{plain: four(x86.VPBLENDVB)}
	const nan, infinity = 0x7e00, 0x7c00
	v := m.sized(bytes)
	m.VPMOVZXBW(codes, v)
	m.VPSLLW(operand.U8(8), v, v)
	sign, code := to(and, m.w(0x8000), v), to(and, m.w(0x7f00), v)
	if f.bias == 15 {
		v = to(blend, to(above, m.w(infinity), code), m.w(nan).Mem, code)
		return to(or, sign, v)
	}
	half := m.sized(bytes)
	m.VPSRLW(operand.U8(1), code, half)
	half = to(op{plain: x86.VPADDW}, m.w(uint16(15-f.bias)<<10), half)
	// Codes without an exponent are so few that they are looked up. The lower byte of each word counts to zero.
	table := m.load(m.smallest(f), bytes)
	small := to(op{plain: x86.VPSHUFB}, code, table)
	half = to(blend, to(above, m.w(1<<(8+f.mantissa)-1), code), half, small)
	half = to(blend, to(op{plain: x86.VPCMPEQW}, m.w(0x7f00), code), m.w(nan).Mem, half)
	return to(or, sign, half)
}

// smallest are the upper bytes of the float16 of codes without an exponent, of which the lower ones are zero.
func (m *machine) smallest(f float8) operand.Mem {
	name := "smallest" + f.name
	if c, ok := m.constants[name]; ok {
		return c.Mem
	}
	mem := m.StaticGlobal(name)
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 32 { // the same for either half of a vector
		var upper uint16
		if code := i % 16; code < 1<<f.mantissa {
			upper = uint16(dtype.ToFloat16(float32(math.Ldexp(float64(code), 1-f.bias-f.mantissa)))) >> 8
		}
		m.AddDatum(i, operand.U8(upper))
	}
	m.constants[name] = constant{mem}
	return mem
}

// rounded is dtype.ToFloat8s of a vector of float32.
func (f float8) rounded(m *machine, x vec) vec {
	m.single = true
	shift := func(n int, v vec) vec {
		s := m.vector()
		m.VPSRLD(operand.U8(n), v, s)
		return s
	}
	add, sub := binary[bitAdd][1], binary[bitSub][1]
	above := op{plain: x86.VPCMPGTD}
	drop := 23 - f.mantissa
	normal := uint32(128-f.bias) << 23
	rebias := uint32(127-f.bias) << 23
	aligned := uint32(127+24-f.bias-f.mantissa) << 23
	u := m.to(and, m.d(1<<31-1), x)
	odd := m.to(and, m.d(1), shift(drop, u))
	full := shift(drop, m.to(add, odd, m.to(add, m.d(1<<(drop-1)-1-rebias), u)))
	small := m.to(sub, m.d(aligned), m.to(binary[sum][1], m.d(aligned), u))
	code := m.blended(m.to(above, m.d(normal-1), u), full, small)
	code = m.to(op{plain: x86.VPMINSD}, m.d(f.beyond), code)
	if f.beyond != 0x7f {
		code = m.blended(m.to(above, m.d(0x7f800000), u), m.d(0x7e), code)
	}
	words := m.narrowWords(m.to(or, m.to(and, m.d(0x80), shift(24, x)), code))
	m.VPACKUSWB(words, words, words)
	return words
}
