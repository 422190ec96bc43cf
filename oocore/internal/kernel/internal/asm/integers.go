package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"
)

// integerType is one size of integers; the arithmetic that wraps around is
// alike for signed and unsigned ones.
type integerType struct {
	bits     int
	add, sub op
	min, max [2]op // signed, unsigned
	abs      inst
}

var integerTypes = []integerType{
	{8, op{plain: x86.VPADDB}, op{plain: x86.VPSUBB},
		[2]op{{plain: x86.VPMINSB}, {plain: x86.VPMINUB}}, [2]op{{plain: x86.VPMAXSB}, {plain: x86.VPMAXUB}}, x86.VPABSB},
	{16, op{plain: x86.VPADDW}, op{plain: x86.VPSUBW},
		[2]op{{plain: x86.VPMINSW}, {plain: x86.VPMINUW}}, [2]op{{plain: x86.VPMAXSW}, {plain: x86.VPMAXUW}}, x86.VPABSW},
	{32, op{plain: x86.VPADDD}, op{plain: x86.VPSUBD},
		[2]op{{plain: x86.VPMINSD}, {plain: x86.VPMINUD}}, [2]op{{plain: x86.VPMAXSD}, {plain: x86.VPMAXUD}}, x86.VPABSD},
	{64, op{plain: x86.VPADDQ}, op{plain: x86.VPSUBQ},
		[2]op{{plain: x86.VPMINSQ}, {plain: x86.VPMINUQ}}, [2]op{{plain: x86.VPMAXSQ}, {plain: x86.VPMAXUQ}}, x86.VPABSQ},
}

// types are the names of the integers of a size, signed and unsigned.
func (t integerType) types() []string {
	return []string{fmt.Sprint("Int", t.bits), fmt.Sprint("Uint", t.bits)}
}

func keys(types []string, ops ...string) (all []key) {
	for _, o := range ops {
		for _, t := range types {
			all = append(all, key{op: o, from: t})
		}
	}
	return all
}

// integerLoops is arithmetic that wraps around, the logic of bits and of bools.
func integerLoops() (all []loop) {
	for _, t := range integerTypes {
		both, size := t.types(), t.bits/8
		add := func(name string, operands int, keys []key, wide bool, body func(m *machine, in []vec) vec) {
			l := newLoop(name, keys, slices.Repeat([]int{size}, operands), size, body)
			l.wide = wide && t.bits == 64
			all = append(all, l)
		}
		pair := func(o op) func(m *machine, in []vec) vec {
			return func(m *machine, in []vec) vec { return m.to(o, in[1], in[0]) }
		}
		name := func(op string) string { return fmt.Sprint(op, "Int", t.bits) }
		add(name("Add"), 2, keys(both, "Add"), false, pair(t.add))
		add(name("Subtract"), 2, keys(both, "Subtract"), false, pair(t.sub))
		add(name("Multiply"), 2, keys(both, "Multiply"), true, func(m *machine, in []vec) vec { return m.product(t.bits, in[0], in[1]) })
		add(name("Square"), 1, keys(both, "Square"), true, func(m *machine, in []vec) vec { return m.product(t.bits, in[0], in[0]) })
		add(name("Negative"), 1, keys(both, "Negative"), false, func(m *machine, in []vec) vec {
			v := m.vector()
			m.zero(v)
			return m.to(t.sub, in[0], v)
		})
		add(name("Absolute"), 1, keys(both[:1], "Absolute"), true, func(m *machine, in []vec) vec { return m.to(op{plain: t.abs}, in[0]) })
		for i, name := range both {
			add("Minimum"+name, 2, keys(both[i:i+1], "Minimum", "Fmin"), true, pair(t.min[i]))
			add("Maximum"+name, 2, keys(both[i:i+1], "Maximum", "Fmax"), true, pair(t.max[i]))
		}
		for _, o := range []struct {
			name string
			op   op
		}{{"BitAnd", and}, {"BitOr", or}, {"BitXor", xor}} {
			add(fmt.Sprint(o.name, t.bits), 2, keys(both, o.name), false, pair(o.op))
		}
		add(fmt.Sprint("Invert", t.bits), 1, keys(both, "Invert"), false, func(m *machine, in []vec) vec { return m.to(xor, m.q(1<<64-1), in[0]) })
	}
	return append(all, boolLoops()...)
}

// product is the low half of each product. There is no multiplication of
// bytes: the odd ones are multiplied in the upper halves of words.
func (m *machine) product(bits int, x, y vec) vec {
	switch bits {
	case 16:
		return m.to(op{plain: x86.VPMULLW}, x, y)
	case 32:
		return m.to(op{plain: x86.VPMULLD}, x, y)
	case 64:
		return m.to(op{plain: x86.VPMULLQ}, x, y)
	}
	words := op{plain: x86.VPMULLW}
	low := m.constant("low_bytes", 8, operand.U64(0x00ff00ff00ff00ff))
	even := m.to(and, low, m.to(words, x, y))
	shifted := m.vector()
	m.VPSRLW(operand.U8(8), x, shifted)
	odd := m.to(words, shifted, m.to(andnot, y, m.load64(low)))
	return m.to(or, even, odd)
}

// boolLoops takes every byte but 0 for true and gives 0 or 1.
func boolLoops() (all []loop) {
	least := op{plain: x86.VPMINUB}
	truth := func(m *machine, v vec) vec { return m.to(least, v, m.load64(m.b(1))) }
	for _, l := range []struct {
		name string
		ops  []string
		body func(m *machine, x, y vec) vec
	}{
		{"And", []string{"LogicalAnd", "BitAnd", "Multiply", "Minimum", "Fmin"},
			func(m *machine, x, y vec) vec { return truth(m, m.to(least, y, x)) }},
		{"Or", []string{"LogicalOr", "BitOr", "Add", "Maximum", "Fmax"},
			func(m *machine, x, y vec) vec { return truth(m, m.to(or, y, x)) }},
		{"Xor", []string{"LogicalXor", "BitXor", "NotEqual"},
			func(m *machine, x, y vec) vec { return m.to(xor, truth(m, y), truth(m, x)) }},
	} {
		all = append(all, newLoop(l.name+"Bool", keys([]string{"Bool"}, l.ops...), []int{1, 1}, 1, func(m *machine, in []vec) vec { return l.body(m, in[0], in[1]) }))
	}
	return append(all, newLoop("NotBool", keys([]string{"Bool"}, "LogicalNot", "Invert"), []int{1}, 1, func(m *machine, in []vec) vec {
		return m.to(xor, m.b(1), truth(m, in[0]))
	}))
}
