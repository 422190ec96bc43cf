package main

import (
	"bytes"
	"fmt"
	"go/format"
	"math"
	"strings"
)

// ptx writes a formula as PTX in a scope of its own. In the text $0 and $1 are the
// registers of the operands, $d that of the result and $r the predicate to which it adds
// whether the operands are rare.
type ptx struct {
	*formula
	lines        []string
	words, truth int // registers and predicates so far
	names        map[*value]string
	apart        map[*value][2]string // of a fraction: whether the number is tiny, and its sum with the bias
}

// ptxText is the formula's text.
func (p *formula) ptxText() string {
	w := &ptx{formula: p, names: map[*value]string{}, apart: map[*value][2]string{}}
	for i, v := range p.params {
		from := fmt.Sprint("$", i)
		if p.size != p.bytes {
			w.names[v] = w.word("cvt.f64.f32 %s, "+from, nil)
		} else {
			w.names[v] = from
		}
	}
	for _, v := range p.steps {
		if v.action != parameter {
			w.names[v] = w.step(v)
		}
		if v == p.rare {
			w.lines = append(w.lines, "or.pred $r, $r, "+w.names[v])
		}
	}
	switch {
	case p.truth():
		w.lines = append(w.lines, "selp.b32 $d, 1, 0, "+w.names[p.result])
	case p.size != p.bytes:
		w.lines = append(w.lines, "cvt.rn.f32.f64 $d, "+w.names[p.result])
	default: // the last step, whose register is the result's
		last := &w.lines[len(w.lines)-1]
		w.words--
		*last = strings.Replace(*last, w.names[p.result], "$d", 1)
	}
	text := strings.Join(w.lines, ";\n") + ";"
	if w.words+w.truth == 0 {
		return text
	}
	head := "{\n"
	if w.words > 0 {
		head += fmt.Sprintf(".reg .b%d v<%d>;\n", 8*p.bytes, w.words)
	}
	if w.truth > 0 {
		head += fmt.Sprintf(".reg .pred p<%d>;\n", w.truth)
	}
	return head + text + "\n}"
}

// typed puts the width in the place of #.
func (w *ptx) typed(text string) string { return strings.ReplaceAll(text, "#", fmt.Sprint(8*w.bytes)) }

// word adds an instruction whose result, the first %s, is a new register. Its arguments
// are the values or the registers that follow.
func (w *ptx) word(text string, args []any) string {
	name := fmt.Sprint("v", w.words)
	w.words++
	w.add(text, name, args)
	return name
}

// condition is the same for a predicate.
func (w *ptx) condition(text string, args ...any) string {
	name := fmt.Sprint("p", w.truth)
	w.truth++
	w.add(text, name, args)
	return name
}

func (w *ptx) add(text, result string, args []any) {
	w.lines = append(w.lines, fmt.Sprintf(w.typed(text), append([]any{result}, args...)...))
}

// float and bits are a value as an operand of an instruction on floats, or on bits.
func (w *ptx) float(v *value) any {
	if v.action == constantBits {
		return w.number(w.decode(v.bits))
	}
	return w.names[v]
}

func (w *ptx) bits(v *value) any {
	if v.action == constantBits {
		return w.constant(v.bits)
	}
	return w.names[v]
}

// number and constant are a float and a word in PTX.
func (w *ptx) number(f float64) string {
	if w.bytes == 4 {
		return fmt.Sprintf("0f%08X", w.encode(f))
	}
	return fmt.Sprintf("0d%016X", w.encode(f))
}

func (w *ptx) constant(bits uint64) string { return fmt.Sprintf("0x%X", bits) }

// ptxComparisons are PTX's names of the predicates.
var ptxComparisons = map[uint8]string{cmpEQ: "eq", cmpNEQ: "neu", cmpLT: "lt", cmpLE: "le", cmpGT: "gt", cmpGE: "ge",
	cmpNLT: "geu", cmpUNORD: "nan", cmpEQOrNaN: "equ"}

// ptxOnFloats and ptxOnBits are steps that are one instruction.
var (
	ptxOnFloats = map[action]string{sum: "add.rn.f#", difference: "sub.rn.f#", product: "mul.rn.f#", quotient: "div.rn.f#",
		squareRoot: "sqrt.rn.f#", multiplyAdd: "fma.rn.f#", multiplySubtract: "fma.rn.f#", subtractProduct: "fma.rn.f#"}
	ptxOnBits = map[action]string{bitAnd: "and.b#", bitOr: "or.b#", bitXor: "xor.b#", bitAdd: "add.s#", bitSub: "sub.s#",
		shiftLeft: "shl.b#", shiftRight: "shr.u#"}
	ptxRoundings = []string{"cvt.rni.f#.f#", "cvt.rmi.f#.f#", "cvt.rpi.f#.f#", "cvt.rzi.f#.f#"}
)

func (w *ptx) step(v *value) string {
	var floats, bits []any
	for i, a := range v.args {
		float := w.float(a)
		if v.action == multiplySubtract && i == 2 || v.action == subtractProduct && i == 0 {
			float = w.negated(a)
		}
		floats, bits = append(floats, float), append(bits, w.bits(a))
	}
	operands := strings.Repeat(", %s", len(v.args))
	if text, ok := ptxOnFloats[v.action]; ok {
		return w.word(text+" %s"+operands, floats)
	}
	if text, ok := ptxOnBits[v.action]; ok {
		if v.action == shiftLeft || v.action == shiftRight {
			operands += fmt.Sprint(", ", v.imm)
		}
		return w.word(text+" %s"+operands, bits)
	}
	switch v.action {
	case least, greatest:
		compare := map[action]string{least: "lt", greatest: "gt"}[v.action]
		return w.choose(w.condition("setp."+compare+".f# %s, %s, %s", floats...), bits[0], bits[1])
	case rounding:
		return w.word(ptxRoundings[v.imm]+" %s, %s", floats)
	case scaling:
		return w.scaled(floats[0], floats[1])
	case fraction:
		return w.fraction(v)
	case exponent:
		return w.exponent(v)
	case compare:
		return w.condition("setp."+ptxComparisons[v.imm]+".f# %s, %s, %s", floats...)
	case signSet:
		return w.condition("setp.lt.s# %s, %s, 0", bits...)
	case both:
		return w.condition("and.pred %s, %s, %s", bits...)
	case either:
		return w.condition("or.pred %s, %s, %s", bits...)
	case choice:
		return w.choose(bits[0].(string), bits[1], bits[2])
	case lookup:
		return w.lookup(v)
	}
	panic(fmt.Sprint("no PTX for action ", v.action))
}

func (w *ptx) negated(v *value) any {
	if v.action == constantBits {
		return w.number(-w.decode(v.bits))
	}
	return w.word("neg.f# %s, %s", []any{w.names[v]})
}

func (w *ptx) choose(condition string, a, b any) string {
	return w.word("selp.b# %s, %s, %s, "+condition, []any{a, b})
}

// scaled is x·2ⁿ by two powers of two, of which neither, nor the first product, leaves
// the range.
func (w *ptx) scaled(x, n any) string {
	power := func(n any) string {
		word := w.word("add.rn.f# %s, %s, "+w.number(w.magic), []any{n})
		word = w.word(fmt.Sprintf("shl.b# %%s, %%s, %d", w.shift), []any{word})
		return w.word("add.s# %s, %s, "+w.constant(w.encode(1)), []any{word})
	}
	half := w.word("cvt.rni.f#.f# %s, %s", []any{w.word("mul.rn.f# %s, %s, "+w.number(0.5), []any{n})})
	rest := w.word("sub.rn.f# %s, %s, %s", []any{n, half})
	first := w.word("mul.rn.f# %s, %s, %s", []any{x, power(half)})
	return w.word("mul.rn.f# %s, %s, %s", []any{first, power(rest)})
}

// fraction and exponent are the steps of frexp. Subnormal numbers are scaled first.
func (w *ptx) fraction(v *value) string {
	x := w.float(v.args[0])
	tiny := w.condition("setp.lt.f# %s, %s, "+w.number(w.decode(1<<w.shift)), x)
	lifted := w.word("mul.rn.f# %s, %s, "+w.number(math.Ldexp(1, w.lift())), []any{x})
	normal := w.choose(tiny, lifted, x)
	t := w.word("add.s# %s, %s, "+w.constant(w.one-w.encode(0.75)), []any{normal})
	e := w.word("and.b# %s, %s, "+w.constant(w.sign<<1-1<<w.shift), []any{t})
	m := w.word("sub.s# %s, %s, %s", []any{normal, e})
	w.apart[v] = [2]string{tiny, t}
	return w.word("add.s# %s, %s, "+w.constant(w.one), []any{m})
}

// lift is the power of two that makes subnormal numbers normal.
func (w *ptx) lift() int { return int(w.shift) + 2 }

func (w *ptx) exponent(v *value) string {
	x, apart := w.float(v.args[0]), w.apart[v.args[1]]
	e := w.word(fmt.Sprintf("shr.u# %%s, %%s, %d", w.shift), []any{apart[1]})
	// A number of few bits in the low bits of 2⁵² or 2²³ is added to it.
	base := math.Ldexp(1, int(w.shift))
	bias := base + float64(w.one>>w.shift)
	e = w.word("or.b# %s, %s, "+w.constant(w.encode(base)), []any{e})
	off := w.choose(apart[0], w.constant(w.encode(bias+float64(w.lift()))), w.constant(w.encode(bias)))
	e = w.word("sub.rn.f# %s, %s, %s", []any{e, off})
	e = w.choose(w.condition("setp.geu.f# %s, %s, "+w.number(inf), x), w.bits(v.args[0]), e)
	e = w.choose(w.condition("setp.lt.f# %s, %s, "+w.number(0), x), w.constant(w.encode(nan)), e)
	return w.choose(w.condition("setp.eq.f# %s, %s, "+w.number(0), x), w.constant(w.encode(-inf)), e)
}

// lookup halves the sixteen numbers by each of the four bits in turn.
func (w *ptx) lookup(v *value) string {
	var left []any
	for _, a := range v.args[1:] {
		left = append(left, w.bits(a))
	}
	for bit := 1; len(left) > 1; bit *= 2 {
		masked := w.word("and.b# %s, %s, "+w.constant(uint64(bit)), []any{w.bits(v.args[0])})
		set := w.condition("setp.ne.b# %s, %s, 0", masked)
		var half []any
		for i := 0; i < len(left); i += 2 {
			half = append(half, w.choose(set, left[i+1], left[i]))
		}
		left = half
	}
	return left[0].(string)
}

// ptxSource is the Go source of all formulas' texts, for package ptx.
func ptxSource(all []*formula) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated by oocore/internal/kernel/internal/asm. DO NOT EDIT.\n\npackage ptx\n\n" +
		"import (\n\"github.com/gonbext/gonbext/oocore/dtype\"\n\"github.com/gonbext/gonbext/oocore/internal/kernel\"\n)\n\n" +
		"// formulas are the texts of functions of floats.\nvar formulas = map[operation]string{\n")
	for _, p := range all {
		fmt.Fprintf(&b, "{kernel.%s, dtype.%s}: `%s`,\n", p.op, p.typeName(), p.ptxText())
	}
	b.WriteString("}\n")
	for _, p := range plainFormulas() {
		if p.name == "formulaPowerWide" {
			fmt.Fprintf(&b, "\n// powerWide is the power of a positive number also where it is out of range.\nconst powerWide = `%s`\n", p.ptxText())
		}
	}
	return format.Source(b.Bytes())
}
