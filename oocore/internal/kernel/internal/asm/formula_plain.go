package main

import (
	"bytes"
	"fmt"
	"go/format"
	"math"
	"math/big"
	"strconv"
	"strings"
)

var inf, nan = math.Inf(1), math.Float64frombits(0x7ff8 << 48)

// plain is a formula as a Go function, and where it has rare operands, whether
// they are.
func (p *formula) plain(b *bytes.Buffer) {
	var params []string
	for _, v := range p.params {
		params = append(params, v.name)
	}
	result := p.width.name
	if p.truth() {
		result = "bool"
	}
	if p.rare != nil {
		result = "(_ " + result + ", rare bool)"
	}
	for i, v := range p.steps {
		if v.action == lookup {
			v.name = fmt.Sprint(p.name, "Table", i)
			var entries []string
			for _, entry := range v.args[1:] {
				entries = append(entries, strconv.FormatFloat(p.decode(entry.bits), 'g', -1, 8*p.bytes))
			}
			fmt.Fprintf(b, "\nvar %s = [16]%s{%s}\n", v.name, p.width.name, strings.Join(entries, ", "))
		}
	}
	fmt.Fprintf(b, "\nfunc %s(%s %s) %s {\n", p.name, strings.Join(params, ", "), p.width.name, result)
	last := len(p.steps) - 1
	for i, v := range p.steps {
		if v.action == parameter {
			continue
		}
		expression := v.plain(p.width)
		if i == last && v == p.result && p.rare == nil {
			fmt.Fprintf(b, "return %s\n}\n", expression)
			return
		}
		v.name = fmt.Sprint("v", i)
		fmt.Fprintf(b, "%s := %s\n", v.name, expression)
		if v == p.rare {
			fmt.Fprintf(b, "if %s {\nreturn 0, true\n}\n", v.name)
		}
	}
	if p.rare != nil {
		fmt.Fprintf(b, "return %s, false\n}\n", p.result.name)
	} else {
		fmt.Fprintf(b, "return %s\n}\n", p.result.name)
	}
}

// mostInlined is how many steps a formula has at most for the compiler to inline it. Such a one has a
// loop of its own, the others gain nothing from that.
const mostInlined = 10

func (p *formula) inlined() bool { return len(p.steps) <= mostInlined }

// plainLoop is an expression for the loop of a formula, and writes what that needs.
func (p *formula) plainLoop(b *bytes.Buffer) string {
	name, own := p.op+p.typeName(), fmt.Sprint("float", 8*p.size)
	var elements, given, wide []string
	for i := range p.params {
		x := string(rune('x' + i))
		elements, given, wide = append(elements, x), append(given, p.convert(own, x)), append(wide, double.convert(own, x))
	}
	if !p.inlined() {
		function := p.name
		switch {
		case p.rare != nil && p.size == double.bytes:
			function = p.rarely()
		case p.rare != nil:
			function = "element" + name
			whole := fmt.Sprintf("%s(%s)", p.rarely(), strings.Join(wide, ", "))
			fmt.Fprintf(b, "\nfunc %s(%s %s) %[3]s {\nv, rare := %s(%s)\nif rare {\nv = %s\n}\nreturn float32(v)\n}\n", function,
				strings.Join(elements, ", "), own, p.name, strings.Join(given, ", "), p.convert("float64", whole))
		case p.width.name != own: // that of float64, rounded
			function = "element" + name
			fmt.Fprintf(b, "\nfunc %s(%s %s) %[3]s { return %[3]s(%s(%s)) }\n", function, strings.Join(elements, ", "), own, p.name, strings.Join(given, ", "))
		}
		return []string{1: "mapOne", 2: "mapPairs"}[len(p.params)] + "(" + function + ")"
	}
	result, names := own, []string{"_", "_", "_"}
	if p.truth() {
		result = "bool"
	}
	views := "view[" + result + "](dst, n)"
	for i := range p.params {
		names[i] = string(rune('a' + i))
		views += fmt.Sprintf(", view[%s](%s, n)", own, names[i])
	}
	fmt.Fprintf(b, "\nfunc loop%s(n int, dst, %s []byte) {\nd, %s := %s\nfor i := range d {\nd[i] = %s(%s[i])\n}\n}\n", name, strings.Join(names, ", "),
		strings.Join(elements, ", "), views, p.name, strings.Join(elements, "[i], "))
	return "loop" + name
}

// generic is a formula that is inlined, and its loop, as generic functions of the type of floats, and an expression for the loop.
func (p *formula) generic() (source, loop string) {
	var b bytes.Buffer
	p.plain(&b)
	loop = p.plainLoop(&b)
	own := p.op + p.typeName()
	s := strings.NewReplacer("func formula"+own, "func formula"+p.op+"[T float]", "func loop"+own, "func loop"+p.op+"[T float]", own, p.op, p.width.name, "T")
	return s.Replace(b.String()), strings.TrimSuffix(loop, p.typeName()) + "[" + p.width.name + "]"
}

// convert is an expression of type from in the width.
func (w width) convert(from, expression string) string {
	if from == w.name {
		return expression
	}
	return w.name + "(" + expression + ")"
}

// plain is a step as a Go expression. The conversions of products keep them from
// being fused with a sum.
func (v *value) plain(in width) string {
	lib := "math.Float" + in.name[5:]
	a := make([]any, len(v.args))
	words := make([]any, len(v.args))
	for i, arg := range v.args {
		switch {
		case arg.action != constantBits:
			a[i], words[i] = arg.name, fmt.Sprintf("%sbits(%s)", lib, arg.name)
		default:
			words[i] = fmt.Sprintf("%#x", arg.bits)
			f := in.decode(arg.bits)
			a[i] = strconv.FormatFloat(f, 'g', -1, 8*in.bytes)
			if f < 0 {
				a[i] = fmt.Sprintf("(%v)", a[i])
			}
			if f-f != 0 || f == 0 && arg.bits != 0 {
				a[i] = fmt.Sprintf("%sfrombits(%#x)", lib, arg.bits)
			}
		}
	}
	fma, scaled := "math.FMA", "scaled"
	if in.bytes == 4 {
		fma, scaled = "fma32", "scaled32"
	}
	if how, ok := plainOnBits[v.action]; ok {
		if v.action == shiftLeft || v.action == shiftRight {
			words = append(words, v.imm)
		}
		return lib + "frombits(" + fmt.Sprintf(how, words...) + ")"
	}
	switch v.action {
	case lookup:
		return fmt.Sprintf("%s[%s&15]", v.name, words[0])
	case compare:
		return fmt.Sprintf(plainComparisons[v.imm], a...)
	case rounding:
		return fmt.Sprintf(in.name+"(math."+[]string{"RoundToEven", "Floor", "Ceil", "Trunc"}[v.imm]+"(float64(%s)))", a...)
	case fraction, exponent:
		a = a[:1]
	}
	how, ok := plainExpressions[v.action]
	if !ok {
		panic(fmt.Sprint("no expression for action ", v.action))
	}
	how = strings.NewReplacer("FLOAT", in.name, "FMA", fma, "SCALED", scaled, "BITS", fmt.Sprint(8*in.bytes)).Replace(how)
	return fmt.Sprintf(how, a...)
}

// plainExpressions are steps on numbers and conditions.
var plainExpressions = map[action]string{
	sum: "%s + %s", difference: "%s - %s", product: "FLOAT(%s * %s)", quotient: "%s / %s", squareRoot: "FLOAT(math.Sqrt(float64(%s)))",
	least: "choose(%s < %[2]s, %[1]s, %[2]s)", greatest: "choose(%s > %[2]s, %[1]s, %[2]s)",
	multiplyAdd: "FMA(%s, %s, %s)", multiplySubtract: "FMA(%s, %s, -%s)", subtractProduct: "FMA(-%s, %s, %s)",
	scaling: "SCALED(%s, %s)", fraction: "fractionBITS(%s)", exponent: "exponentBITS(%s)", signSet: "math.Signbit(float64(%s))",
	both: "%s && %s", either: "%s || %s", choice: "choose[FLOAT](%s, %s, %s)",
}

// plainOnBits are steps on the bits of numbers.
var plainOnBits = map[action]string{bitAnd: "%s & %s", bitOr: "%s | %s", bitXor: "%s ^ %s", bitAdd: "%s + %s", bitSub: "%s - %s",
	shiftLeft: "%s << %d", shiftRight: "%s >> %d"}

var plainComparisons = map[uint8]string{cmpEQ: "%s == %s", cmpNEQ: "%s != %s", cmpLT: "%s < %s", cmpLE: "%s <= %s", cmpGT: "%s > %s",
	cmpGE: "%s >= %s", cmpNLT: "!(%s < %s)", cmpUNORD: "unordered(%s, %s)", cmpEQOrNaN: "%[1]s == %[2]s || unordered(%[1]s, %[2]s)"}

// turnWords of 64 bits reach far enough for the largest float64.
const turnWords = 20

// plainSource is the Go functions of all formulas, and their loops.
func plainSource(all []*formula) ([]byte, error) {
	var b, table bytes.Buffer
	b.WriteString("// Code generated by internal/asm. DO NOT EDIT.\n\npackage kernel\n\nimport \"math\"\n")
	for _, p := range plainFormulas() {
		p.plain(&b)
	}
	for i := 0; i < len(all); i += 2 {
		wide, wideLoop := all[i].generic()
		narrow, narrowLoop := all[i+1].generic()
		if wide == narrow && all[i].inlined() { // one function of both types
			b.WriteString(wide)
		} else {
			all[i].plain(&b)
			all[i+1].plain(&b)
			wideLoop, narrowLoop = all[i].plainLoop(&b), all[i+1].plainLoop(&b)
		}
		fmt.Fprintf(&table, "%s: {%s, %s},\n", all[i].op, wideLoop, narrowLoop)
	}
	fmt.Fprintf(&b, "\n// formulaLoops are those of float64 and of float32.\nvar formulaLoops = [...][2]Func{\n%s}\n", table.String())
	// The bits of 2/π, after 64 that are zero.
	digits := newReal().SetPrec(turnWords * 64)
	digits.Quo(realOf(2).SetPrec(digits.Prec()), pi().SetPrec(digits.Prec()))
	whole, _ := digits.SetMantExp(digits, turnWords*64).Int(nil)
	b.WriteString("\nvar quarterTurns = [...]uint64{0, ")
	for i := turnWords - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "%#x, ", new(big.Int).And(new(big.Int).Rsh(whole, uint(64*i)), new(big.Int).SetUint64(math.MaxUint64)))
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}
