package ptx

import (
	"fmt"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// emitter writes the instructions of one entry. Values are registers: of 64 bits for
// types of 8 bytes, of 32 for all others. Integers narrower than 32 bits are extended by
// their sign or by zeros, bools are the bytes of memory, and 16-bit floats are their bits.
type emitter struct {
	name   string
	params []string
	body   strings.Builder
	count  map[string]int // of registers, by prefix
	labels int
	rare   string // the predicate to which rare operands are added
	shared int    // bytes
	blocks int    // of a processor at once, for which registers have to suffice; 0 for any number
}

// The prefixes of registers.
const (
	predicates = "q"
	halves     = "h"
	words      = "r"
	doubles    = "d"
)

func newEmitter(name string) *emitter {
	return &emitter{name: name, count: map[string]int{}}
}

// do adds an instruction.
func (e *emitter) do(format string, args ...any) {
	fmt.Fprintf(&e.body, format+";\n", args...)
}

// under adds an instruction for the threads where a predicate holds.
func (e *emitter) under(predicate, format string, args ...any) {
	e.do("@"+predicate+" "+format, args...)
}

func (e *emitter) register(prefix string) string {
	e.count[prefix]++
	return fmt.Sprint(prefix, e.count[prefix]-1)
}

// to adds an instruction whose first operand, the result, is a new register.
func (e *emitter) to(prefix, instruction string, args ...any) string {
	r := e.register(prefix)
	e.do(instruction+" "+r+strings.Repeat(", %v", len(args)), args...)
	return r
}

// word, double and is are to of 32 bits, of 64 bits and of a predicate.
func (e *emitter) word(instruction string, args ...any) string {
	return e.to(words, instruction, args...)
}
func (e *emitter) double(instruction string, args ...any) string {
	return e.to(doubles, instruction, args...)
}
func (e *emitter) is(comparison string, args ...any) string {
	return e.to(predicates, "setp."+comparison, args...)
}

// of is to in a register for elements of type t.
func (e *emitter) of(t dtype.Type, instruction string, args ...any) string {
	return e.to(prefixOf(t), instruction, args...)
}

func prefixOf(t dtype.Type) string {
	if t.Size() == 8 {
		return doubles
	}
	return words
}

// bits is the width of a type's register.
func bits(t dtype.Type) int {
	if t.Size() == 8 {
		return 64
	}
	return 32
}

// choose is a where the predicate holds, else b.
func (e *emitter) choose(t dtype.Type, predicate string, a, b any) string {
	return e.of(t, fmt.Sprint("selp.b", bits(t)), a, b, predicate)
}

func (e *emitter) and(p, q string) string { return e.to(predicates, "and.pred", p, q) }
func (e *emitter) or(p, q string) string  { return e.to(predicates, "or.pred", p, q) }
func (e *emitter) xor(p, q string) string { return e.to(predicates, "xor.pred", p, q) }
func (e *emitter) not(p string) string    { return e.to(predicates, "not.pred", p) }

// truth is a bool of a predicate.
func (e *emitter) truth(p string) string { return e.choose(dtype.Bool, p, 1, 0) }

// holds is a predicate of a bool, which any byte but zero makes true.
func (e *emitter) holds(x string) string { return e.is("ne.u32", x, 0) }

// isRare leaves the element to the CPU where the predicate holds.
func (e *emitter) isRare(p string) { e.do("or.pred %s, %s, %s", e.rare, e.rare, p) }

func (e *emitter) label() string {
	e.labels++
	return fmt.Sprint("L", e.labels)
}

// at puts a label.
func (e *emitter) at(label string) { e.body.WriteString(label + ":\n") }

// param declares a parameter and returns its value.
func (e *emitter) param(name string) string {
	e.params = append(e.params, name)
	return e.double("ld.param.u64", "["+name+"]")
}

// pointer is a parameter that is an address.
func (e *emitter) pointer(name string) string {
	return e.double("cvta.to.global.u64", e.param(name))
}

// length is a parameter that 32 bits hold.
func (e *emitter) length(name string) string { return e.word("cvt.u32.u64", e.param(name)) }

// text is the entry.
func (e *emitter) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry %s(", e.name)
	for i, name := range e.params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(".param .u64 " + name)
	}
	b.WriteString(")\n")
	if e.blocks > 0 {
		fmt.Fprintf(&b, ".maxntid %d, 1, 1\n.minnctapersm %d\n", threads, e.blocks)
	}
	b.WriteString("{\n")
	for _, r := range []struct{ prefix, kind string }{{predicates, "pred"}, {halves, "b16"}, {words, "b32"}, {doubles, "b64"}} {
		if n := e.count[r.prefix]; n > 0 {
			fmt.Fprintf(&b, ".reg .%s %s<%d>;\n", r.kind, r.prefix, n)
		}
	}
	if e.shared > 0 {
		fmt.Fprintf(&b, ".shared .align 16 .b8 shared[%d];\n", e.shared)
	}
	b.WriteString(e.body.String())
	b.WriteString("ret;\n}\n")
	return b.String()
}

// kernel is what a host launches the entry by.
func (e *emitter) kernel(shape func(lengths ...[]int) (grid, block [3]uint32)) Kernel {
	return Kernel{Name: e.name, Params: e.params, shape: shape}
}

// memoryType is how elements are loaded and stored: extended to a register.
func memoryType(t dtype.Type) string {
	switch t {
	case dtype.Bool, dtype.Uint8:
		return "u8"
	case dtype.Int8:
		return "s8"
	case dtype.Int16:
		return "s16"
	case dtype.Uint16, dtype.Float16, dtype.BFloat16:
		return "u16"
	}
	return fmt.Sprint("b", 8*t.Size())
}

// address is that of an element of a given size.
func (e *emitter) address(base, index string, size int) string {
	return e.double("add.s64", base, e.double("mul.wide.u32", index, size))
}

func (e *emitter) load(t dtype.Type, at string) string {
	return e.of(t, "ld.global."+memoryType(t), "["+at+"]")
}

func (e *emitter) store(t dtype.Type, at, x string) {
	e.do("st.global.%s [%s], %s", memoryType(t), at, x)
}

// float is a constant of an instruction on floats.
func float(t dtype.Type, f float64) string {
	if t == dtype.Float64 {
		return fmt.Sprintf("0d%016X", math.Float64bits(f))
	}
	return fmt.Sprintf("0f%08X", math.Float32bits(float32(f)))
}

// arithmetic is the suffix of instructions on numbers of type t.
func arithmetic(t dtype.Type) string {
	switch t.Kind() {
	case dtype.KindFloat:
		return fmt.Sprint("f", bits(t))
	case dtype.KindInt:
		return fmt.Sprint("s", bits(t))
	}
	return fmt.Sprint("u", bits(t))
}
