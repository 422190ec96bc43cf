package main

import (
	"fmt"

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
	add := func(name string, size, operands int, keys []key, wide bool, body func(m *machine, in []vec) vec) {
		in := make([]int, operands)
		for i := range in {
			in[i] = size
		}
		all = append(all, loop{name: "vec" + name, keys: keys, in: in, out: size, lanes: perElement(size), body: body, wide: wide})
	}
	pair := func(o op) func(m *machine, in []vec) vec {
		return func(m *machine, in []vec) vec { return m.to(o, in[1], in[0]) }
	}
	for _, t := range integerTypes {
		both, size, wide64 := t.types(), t.bits/8, t.bits == 64
		add(fmt.Sprint("AddInt", t.bits), size, 2, keys(both, "Add"), false, pair(t.add))
		add(fmt.Sprint("SubtractInt", t.bits), size, 2, keys(both, "Subtract"), false, pair(t.sub))
		add(fmt.Sprint("MultiplyInt", t.bits), size, 2, keys(both, "Multiply"), wide64, func(m *machine, in []vec) vec {
			return m.product(t.bits, in[0], in[1])
		})
		add(fmt.Sprint("SquareInt", t.bits), size, 1, keys(both, "Square"), wide64, func(m *machine, in []vec) vec {
			return m.product(t.bits, in[0], in[0])
		})
		add(fmt.Sprint("NegativeInt", t.bits), size, 1, keys(both, "Negative"), false, func(m *machine, in []vec) vec {
			v := m.vector()
			m.zero(v)
			return m.to(t.sub, in[0], v)
		})
		add(fmt.Sprint("AbsoluteInt", t.bits), size, 1, keys(both[:1], "Absolute"), wide64, func(m *machine, in []vec) vec {
			return m.to(op{plain: t.abs}, in[0])
		})
		for i, name := range both {
			add("Minimum"+name, size, 2, keys(both[i:i+1], "Minimum", "Fmin"), wide64, pair(t.min[i]))
			add("Maximum"+name, size, 2, keys(both[i:i+1], "Maximum", "Fmax"), wide64, pair(t.max[i]))
		}
	}
	all = append(all, bitLoops()...)
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

// bitLoops is the logic of bits, the same for every size of integer.
func bitLoops() (all []loop) {
	for _, t := range integerTypes {
		size := t.bits / 8
		add := func(name string, operands []int, body func(m *machine, in []vec) vec) {
			all = append(all, loop{
				name: fmt.Sprint("vec", name, t.bits), keys: keys(t.types(), name),
				in: operands, out: size, lanes: perElement(size), body: body,
			})
		}
		pair := func(name string, o op) {
			add(name, []int{size, size}, func(m *machine, in []vec) vec { return m.to(o, in[1], in[0]) })
		}
		pair("BitAnd", and)
		pair("BitOr", or)
		pair("BitXor", xor)
		add("Invert", []int{size}, func(m *machine, in []vec) vec { return m.to(xor, m.q(1<<64-1), in[0]) })
	}
	return all
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
		all = append(all, loop{
			name: "vec" + l.name + "Bool", keys: keys([]string{"Bool"}, l.ops...),
			in: []int{1, 1}, out: 1, lanes: perElement(1),
			body: func(m *machine, in []vec) vec { return l.body(m, in[0], in[1]) },
		})
	}
	return append(all, loop{
		name: "vecNotBool", keys: keys([]string{"Bool"}, "LogicalNot", "Invert"),
		in: []int{1}, out: 1, lanes: perElement(1),
		body: func(m *machine, in []vec) vec { return m.to(xor, m.b(1), truth(m, in[0])) },
	})
}
