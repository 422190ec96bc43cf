package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// comparison is an operation on integers with its predicate by AVX-512; AVX2 has only equality and greater-than of signed integers, whose
// operands may be swapped and whose result negated.
type comparison struct {
	op           string
	integer      uint8
	equal        bool
	swap, negate bool
}

var comparisons = []comparison{
	{"Equal", 0, true, false, false},
	{"NotEqual", 4, true, false, true},
	{"Less", 1, false, true, false},
	{"LessEqual", 2, false, false, true},
	{"Greater", 6, false, false, false},
	{"GreaterEqual", 5, false, true, true},
}

// masks are the instructions that depend on the size of an integer.
type masks struct {
	signed, unsigned, blend inst // AVX-512
	equal, greater, widen   inst // AVX2
}

var masksOf = map[int]masks{
	1: {x86.VPCMPB, x86.VPCMPUB, x86.VPBLENDMB, x86.VPCMPEQB, x86.VPCMPGTB, nil},
	2: {x86.VPCMPW, x86.VPCMPUW, x86.VPBLENDMW, x86.VPCMPEQW, x86.VPCMPGTW, x86.VPMOVZXBW},
	4: {x86.VPCMPD, x86.VPCMPUD, x86.VPBLENDMD, x86.VPCMPEQD, x86.VPCMPGTD, x86.VPMOVZXBD},
	8: {x86.VPCMPQ, x86.VPCMPUQ, x86.VPBLENDMQ, x86.VPCMPEQQ, x86.VPCMPGTQ, x86.VPMOVZXBQ},
}

// compareLoops is what gives or takes bools, of integers.
func compareLoops() (all []loop) {
	for _, t := range integerTypes {
		for signedness, name := range t.types() {
			for _, c := range comparisons {
				all = append(all, newLoop(c.op+name, []key{{op: c.op, from: name}}, []int{t.bits / 8, t.bits / 8}, 1, func(m *machine, in []vec) vec {
					return m.compareInteger(c, t.bits/8, signedness == 1, in[0], in[1])
				}))
			}
		}
	}
	return append(all, whereLoops()...)
}

func (m *machine) compareInteger(c comparison, size int, unsigned bool, x, y vec) vec {
	f := masksOf[size]
	if m.wide {
		compare := f.signed
		if unsigned {
			compare = f.unsigned
		}
		k := m.K()
		m.emitTo(compare, operand.U8(c.integer), y, x, k)
		return m.bools(k, size, false)
	}
	if c.swap {
		x, y = y, x
	}
	compare := f.greater
	if c.equal {
		compare = f.equal
	} else if unsigned {
		top := m.constant(fmt.Sprint("top", size), size, topBit(size))
		x, y = m.to(xor, top, x), m.to(xor, top, y)
	}
	v := m.vector()
	m.emitTo(compare, y, x, v)
	return m.bools(v, size, c.negate)
}

func topBit(size int) operand.Constant {
	return map[int]operand.Constant{1: operand.U8(1 << 7), 2: operand.U16(1 << 15), 4: operand.U32(1 << 31), 8: operand.U64(1 << 63)}[size]
}

// bools turns a comparison's mask over elements of a size into bytes of 0 or 1.
func (m *machine) bools(mask reg.Register, size int, negate bool) vec {
	if m.wide {
		v := m.sized(64 / size)
		m.VPMOVM2B(mask, v)
		m.VPABSB(v, v)
		return v
	}
	v := mask.(vec)
	if size > 1 {
		low, high := m.XMM(), m.XMM()
		m.VEXTRACTI128(operand.U8(0), v, low)
		m.VEXTRACTI128(operand.U8(1), v, high)
		switch size {
		case 8:
			m.VSHUFPS(operand.U8(0x88), high, low, low)
			m.VPACKSSDW(low, low, low)
			m.VPACKSSWB(low, low, low)
		case 4:
			m.VPACKSSDW(high, low, low)
			m.VPACKSSWB(low, low, low)
		case 2:
			m.VPACKSSWB(high, low, low)
		}
		v = low
	}
	if negate {
		m.VPADDB(m.b(1).Mem, v, v) // all ones become 0
	} else {
		m.VPABSB(v, v)
	}
	return v
}

// whereLoops chooses between elements by their size.
func whereLoops() (all []loop) {
	for _, t := range []struct {
		size  int
		types []string
	}{
		{1, []string{"Bool", "Int8", "Uint8"}},
		{2, []string{"Int16", "Uint16", "Float16", "BFloat16"}},
		{4, []string{"Int32", "Uint32", "Float32"}},
		{8, []string{"Int64", "Uint64", "Float64", "Complex64"}},
	} {
		all = append(all, newLoop(fmt.Sprint("Where", 8*t.size), keys(t.types, "Where"), []int{1, t.size, t.size}, t.size, func(m *machine, in []vec) vec {
			return m.where(t.size, in[0], in[1], in[2])
		}))
	}
	return all
}

func (m *machine) where(size int, mask, x, y vec) vec {
	v, f := m.vector(), masksOf[size]
	if m.wide {
		k := m.K()
		m.VPTESTMB(mask, mask, k)
		m.emitTo(f.blend, x, y, k, v)
		return v
	}
	wide := mask
	if size > 1 {
		wide = m.vector()
		m.emitTo(f.widen, mask, wide)
	}
	none := m.vector()
	m.zero(none)
	m.emitTo(f.equal, none, wide, none)
	m.VPBLENDVB(none, y, x, v)
	return v
}
