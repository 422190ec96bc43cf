package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// castLoops is the conversions that one to a few instructions do.
func castLoops() (all []loop) {
	sizes := map[string]int{"Bool": 1, "Int8": 1, "Uint8": 1, "Int16": 2, "Uint16": 2, "Int32": 4, "Int64": 8,
		"Float16": 2, "BFloat16": 2, "Float32": 4, "Float64": 8}
	add := func(from, to string, wide bool, body func(m *machine, x vec) vec) {
		l := newLoop(from+"To"+to, []key{{from: from, to: to}}, []int{sizes[from]}, sizes[to], func(m *machine, in []vec) vec { return body(m, in[0]) })
		l.wide = wide
		all = append(all, l)
	}
	plain := func(from, to string, wide bool, f inst) {
		add(from, to, wide, func(m *machine, x vec) vec {
			v := m.vector()
			m.emitTo(f, x, v)
			return v
		})
	}
	plain("Float32", "Float64", false, x86.VCVTPS2PD)
	add("Float64", "Float32", false, (*machine).shorten)
	plain("Float16", "Float32", false, x86.VCVTPH2PS)
	add("Float32", "Float16", false, func(m *machine, x vec) vec {
		v := m.sized(m.bytes() / 2)
		m.VCVTPS2PH(operand.U8(0), x, v)
		return v
	})
	add("BFloat16", "Float32", false, func(m *machine, x vec) vec {
		v := m.vector()
		m.VPMOVZXWD(x, v)
		m.VPSLLD(operand.U8(16), v, v)
		return v
	})
	add("Float32", "BFloat16", false, (*machine).toBFloat16)

	plain("Int32", "Float32", false, x86.VCVTDQ2PS)
	plain("Float32", "Int32", false, x86.VCVTTPS2DQ)
	plain("Int32", "Float64", false, x86.VCVTDQ2PD)
	add("Float64", "Int32", false, func(m *machine, x vec) vec {
		v := m.sized(m.bytes() / 2)
		if m.wide {
			m.VCVTTPD2DQ(x, v)
		} else {
			m.VCVTTPD2DQY(x, v)
		}
		return v
	})
	plain("Int64", "Float64", true, x86.VCVTQQ2PD)
	plain("Float64", "Int64", true, x86.VCVTTPD2QQ)
	plain("Float32", "Int64", true, x86.VCVTTPS2QQ)
	for _, c := range []struct {
		from  string
		widen inst
	}{{"Int8", x86.VPMOVSXBD}, {"Uint8", x86.VPMOVZXBD}, {"Int16", x86.VPMOVSXWD}, {"Uint16", x86.VPMOVZXWD}} {
		add(c.from, "Float32", false, func(m *machine, x vec) vec {
			v := m.vector()
			m.emitTo(c.widen, x, v)
			m.VCVTDQ2PS(v, v)
			return v
		})
	}
	add("Bool", "Float32", false, func(m *machine, x vec) vec {
		v := m.vector()
		m.VPMINUB(m.b(1).Mem, x, x)
		m.VPMOVZXBD(x, v)
		m.VCVTDQ2PS(v, v)
		return v
	})
	return all
}

// toBFloat16 adds half of what is cut off, less a bit where the place kept is
// even; NaN keeps its upper bits, and one that leaves it a NaN.
func (m *machine) toBFloat16(x vec) vec {
	shift := func(v vec) vec {
		s := m.vector()
		m.VPSRLD(operand.U8(16), v, s)
		return s
	}
	add := binary[bitAdd][1]
	top := shift(x)
	odd := m.to(and, m.constant("one32", 4, operand.U32(1)), top)
	rounded := shift(m.to(add, m.d(0x7fff), m.to(add, odd, x)))
	m.single = true
	v := m.blended(m.compared(cmpUNORD, x, x), m.to(or, m.constant("quiet32", 4, operand.U32(0x40)), top), rounded)
	return m.narrowWords(v)
}

// narrowWords keeps the lower half of each 32 bits, the upper being zero.
func (m *machine) narrowWords(v vec) vec {
	if m.wide {
		half := m.YMM()
		m.VPMOVDW(v, half)
		return half
	}
	var low, high reg.VecVirtual = m.XMM(), m.XMM()
	m.VEXTRACTI128(operand.U8(0), v, low)
	m.VEXTRACTI128(operand.U8(1), v, high)
	m.VPACKUSDW(high, low, low)
	return low
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
