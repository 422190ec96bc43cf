package main

import (
	"fmt"
	"go/format"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// definition is the formulas of an operation, in float64 and in float32. Where there is no
// single, that of float32 is computed in float64 and rounded: by rounded, or by double.
type definition struct{ double, single, rounded func(p *formula) }

// definitions are by the constants of operations. What a formula calls rare, a function of
// package kernel computes whose name is the constant's in lower case.
var definitions = map[string]definition{}

func define(op string, d definition) { definitions[op] = d }

// defineAlike defines operations whose formula is the same in float64 and in float32.
func defineAlike(all map[string]func(p *formula) *value) {
	for op, f := range all {
		of := func(p *formula) { p.result = f(p) }
		define(op, definition{double: of, single: of})
	}
}

// formulas are those of all rows that have one.
func formulas() (all []*formula, err error) {
	found := 0
	for _, o := range kernel.Ops() {
		row := o.Row()
		d, ok := definitions[row.Const]
		if !ok {
			continue
		}
		found++
		for _, size := range []int{double.bytes, single.bytes} {
			in, build := double, d.double
			switch {
			case size == single.bytes && d.single != nil:
				in, build = single, d.single
			case size == single.bytes && d.rounded != nil:
				build = d.rounded
			}
			make := func(usual bool) *formula {
				p := newFormula(fmt.Sprint("formula", row.Const, "Float", 8*size), row.Arity, in)
				p.op, p.size, p.usual = row.Const, size, usual
				build(p)
				p.trim()
				return p
			}
			p := make(false)
			if q := make(true); q.differs(p) {
				p.quick = q
			}
			all = append(all, p)
		}
	}
	if found != len(definitions) {
		return nil, fmt.Errorf("%d operations are defined, of which %d have a row in package kernel", len(definitions), found)
	}
	return all, nil
}

// plainFormulas have no loops: they are for rare operands.
func plainFormulas() (all []*formula) {
	for _, f := range []struct {
		name   string
		params int
		build  func(p *formula)
	}{
		{"formulaPowerWide", 2, wholePower},
		{"formulaSinReduced", 3, reducedCircular},
		{"formulaTanReduced", 3, reducedTangent},
	} {
		p := newFormula(f.name, f.params, double)
		p.size = double.bytes
		f.build(p)
		p.trim()
		all = append(all, p)
	}
	return all
}

// typeName is dtype's name of the operands' type.
func (p *formula) typeName() string { return fmt.Sprint("Float", 8*p.size) }

// rarely is the function in Go of float64 that computes rare operands.
func (p *formula) rarely() string { return strings.ToLower(p.op) }

// differs reports whether a formula has other steps than q.
func (p *formula) differs(q *formula) bool {
	return !slices.EqualFunc(p.steps, q.steps, func(a, b *value) bool { return a.action == b.action && len(a.args) == len(b.args) })
}

// truth reports a formula whose result is a condition.
func (p *formula) truth() bool {
	switch p.result.action {
	case compare, signSet, both, either:
		return true
	}
	return false
}

// abreast is how many vectors are computed at a time to hide the latency of steps. Formulas
// that are mostly divisions and square roots take two: the processor has one unit for those,
// and more vectors would all wait for it at once.
func (p *formula) abreast() int {
	slow := 0
	for _, v := range p.steps {
		if v.action == quotient || v.action == squareRoot {
			slow++
		}
	}
	if len(p.steps) < 40*slow {
		return 2
	}
	return 4
}

// widest sets how many vectors of a formula there are registers for, or where it may keep some
// results on the stack three or two.
func (l *loop) widest(n *int, p *formula, wide, stack bool) {
	for *n = p.abreast(); *n > 1 && !l.fits(wide); {
		*n--
	}
	for more := min(p.abreast(), 3); stack && p.bytes == double.bytes && more > *n; more-- {
		for registers := 15; registers > 11; registers-- {
			had := *n
			if *n = more; p.fit(more, registers) && l.fits(wide) {
				return
			}
			*n, p.kept = had, nil
		}
	}
}

// formulaLoops is the vector loops of formulas.
func formulaLoops(all []*formula) (loops []loop) {
	for _, p := range all {
		out := p.size
		if p.truth() {
			out = 1
		}
		of := func(p *formula, m *machine, in [][]vec) []vec {
			if p.size == p.bytes {
				return m.formula(p, in)
			}
			for _, each := range in {
				for i, x := range each {
					each[i] = m.vector()
					m.VCVTPS2PD(x, each[i])
				}
			}
			out := m.formula(p, in)
			for i, v := range out {
				out[i] = m.shorten(v)
			}
			return out
		}
		body := func(m *machine, in [][]vec) []vec {
			if !m.wide && p.quick != nil && p.quick.apart == nil { // which is right for all operands
				return of(p.quick, m, in)
			}
			return of(p, m, in)
		}
		l := newLoop(p.op+p.typeName(), []key{{op: p.op, from: p.typeName()}}, slices.Repeat([]int{p.size}, len(p.params)), out,
			func(m *machine, in []vec) vec { return body(m, [][]vec{in})[0] })
		l.lanes, l.rare, l.many = perElement(p.bytes), p.rare != nil, body
		quick := p
		if p.quick != nil {
			quick = p.quick
		}
		l.widest(&l.abreast[level(true)], p, true, false)
		l.widest(&l.abreast[level(false)], quick, false, quick.apart == nil)
		if quick.apart != nil {
			l.usual = func(m *machine, in [][]vec) []vec { return of(quick, m, in) }
			l.widest(&l.abreastUsual, quick, false, true)
		}
		loops = append(loops, l)
	}
	return loops
}

// opsSource is the constants of operations.
func opsSource() ([]byte, error) {
	var b strings.Builder
	b.WriteString("// Code generated by internal/asm. DO NOT EDIT.\n\npackage kernel\n\n// The elementwise operations: their rows say what each is.\nconst (\nInvalid Op = iota\n")
	for _, o := range kernel.Ops() {
		fmt.Fprintln(&b, o.Row().Const)
	}
	b.WriteString(")\n")
	return format.Source([]byte(b.String()))
}
