package main

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
)

// formula is a function of float64, or of float32, without branches, written down
// once and turned into vectors of either level and into plain Go
// (formula_vector.go, formula_plain.go). Each of its operations rounds once and in
// the same order everywhere, so that the results are equal to the bit.
type formula struct {
	name   string // of the Go function
	op     string
	width      // that it computes in
	size   int // of an operand and of the result: a float32 may be widened and rounded
	params []*value
	steps  []*value
	result *value
	rare   *value // the operands, if any, that are left to a function in Go

	// quick is the same function by fewer steps, for AVX2, which lacks some instructions. It
	// may be right for usual operands alone: usual is whether this is it, and apart has its
	// sign set for the others.
	quick *formula
	usual bool
	apart *value
	kept  map[int]int // by steps, of those whose results AVX2 has no registers for: the last step that finds them in one
}

// width is float32 or float64.
type width struct {
	bytes  int
	name   string // in Go
	shift  uint8  // of the exponent, as whose bias the bits of one stand
	sign   uint64
	one    uint64
	magic  float64 // added to a number rounds it to a whole one, which the low bits of the sum then hold
	encode func(float64) uint64
	decode func(uint64) float64
}

var (
	double = width{8, "float64", 52, 1 << 63, 0x3ff << 52, 3 << 51, math.Float64bits, math.Float64frombits}
	single = width{4, "float32", 23, 1 << 31, 0x7f << 23, 3 << 22,
		func(f float64) uint64 { return uint64(math.Float32bits(float32(f))) },
		func(b uint64) float64 { return float64(math.Float32frombits(uint32(b))) }}
)

// value is what a step computes: a number, its bits, or whether something holds.
type value struct {
	action  action
	args    []*value
	bits    uint64 // of a constant
	imm     uint8  // of a shift, a comparison or a rounding
	name    string // in plain Go
	pending int    // uses still to come
	vec     vec
	mask    any
	kept    int         // the last step at which it is in vec, where it has a slot
	slot    operand.Mem // where it is from then on
}

type action int

const (
	parameter action = iota
	constantBits
	sum
	difference
	product
	quotient
	squareRoot
	least
	greatest
	multiplyAdd      // a·b + c
	multiplySubtract // a·b - c
	subtractProduct  // c - a·b
	rounding
	scaling   // a·2ᵇ of a whole number b, rounded once
	exponent  // of frexp
	fraction  // of frexp
	bitAnd    // of the bits, as are those that follow
	bitOr     //
	bitXor    //
	bitAdd    //
	bitSub    //
	shiftLeft //
	shiftRight
	compare // whose result is a condition
	signSet
	both
	either
	choice
	lookup // of the number that the low four bits of a word count to, among sixteen
	pick   // of the second of two numbers where bit one of a word is set; quick formulas only
)

func newFormula(name string, params int, in width) *formula {
	p := &formula{name: name, width: in}
	for i := range params {
		v := p.step(parameter)
		v.name = string(rune('x' + i))
		p.params = append(p.params, v)
	}
	return p
}

// step adds a step, but for one that is there already.
func (p *formula) step(a action, args ...*value) *value { return p.shaped(a, 0, args...) }

func (p *formula) shaped(a action, imm uint8, args ...*value) *value {
	for _, v := range p.steps {
		if a != parameter && v.action == a && v.imm == imm && slices.EqualFunc(v.args, args, same) {
			return v
		}
	}
	v := &value{action: a, args: args, imm: imm}
	for _, arg := range args {
		arg.pending++
	}
	if a != constantBits {
		p.steps = append(p.steps, v)
	}
	return v
}

// trim drops the steps that nothing needs.
func (p *formula) trim() {
	needed := map[*value]bool{p.result: true}
	if p.rare != nil {
		needed[p.rare] = true
	}
	if p.apart != nil {
		needed[p.apart] = true
	}
	var steps []*value
	for i := len(p.steps) - 1; i >= 0; i-- {
		v := p.steps[i]
		if !needed[v] && v.action != parameter {
			for _, a := range v.args {
				a.pending--
			}
			continue
		}
		for _, a := range v.args {
			needed[a] = true
		}
		steps = append(steps, v)
	}
	slices.Reverse(steps)
	p.steps = steps
}

// copied is the same formula in values of its own.
func (p *formula) copied() *formula {
	q, of := *p, map[*value]*value{}
	var twin func(v *value) *value
	twin = func(v *value) *value {
		if v == nil || of[v] != nil {
			return of[v]
		}
		w := *v
		w.args = nil
		for _, a := range v.args {
			w.args = append(w.args, twin(a))
		}
		of[v] = &w
		return &w
	}
	all := func(from []*value) (to []*value) {
		for _, v := range from {
			to = append(to, twin(v))
		}
		return to
	}
	q.params, q.steps, q.result, q.rare, q.apart = all(p.params), all(p.steps), twin(p.result), twin(p.rare), twin(p.apart)
	return &q
}

// same is whether two values are one, or equal constants.
func same(a, b *value) bool {
	return a == b || a.action == constantBits && b.action == constantBits && a.bits == b.bits
}

func (p *formula) word(bits uint64) *value {
	v := p.step(constantBits)
	v.bits = bits
	return v
}

func (p *formula) number(f float64) *value      { return p.word(p.encode(f)) }
func (p *formula) add(a, b *value) *value       { return p.step(sum, a, b) }
func (p *formula) sub(a, b *value) *value       { return p.step(difference, a, b) }
func (p *formula) mul(a, b *value) *value       { return p.step(product, a, b) }
func (p *formula) div(a, b *value) *value       { return p.step(quotient, a, b) }
func (p *formula) sqrt(a *value) *value         { return p.step(squareRoot, a) }
func (p *formula) fma(a, b, c *value) *value    { return p.step(multiplyAdd, a, b, c) }
func (p *formula) fms(a, b, c *value) *value    { return p.step(multiplySubtract, a, b, c) }
func (p *formula) fnma(a, b, c *value) *value   { return p.step(subtractProduct, a, b, c) }
func (p *formula) scale(a, n *value) *value     { return p.step(scaling, a, n) }
func (p *formula) and(a, b *value) *value       { return p.step(bitAnd, a, b) }
func (p *formula) or(a, b *value) *value        { return p.step(bitOr, a, b) }
func (p *formula) xor(a, b *value) *value       { return p.step(bitXor, a, b) }
func (p *formula) addBits(a, b *value) *value   { return p.step(bitAdd, a, b) }
func (p *formula) subBits(a, b *value) *value   { return p.step(bitSub, a, b) }
func (p *formula) shl(a *value, n uint8) *value { return p.shaped(shiftLeft, n, a) }

// lookup is the number of sixteen that the low four bits of a word count to.
func (p *formula) lookup(word *value, of [16]float64) *value {
	args := []*value{word}
	for _, f := range of {
		args = append(args, p.number(f))
	}
	return p.step(lookup, args...)
}

func (p *formula) shr(a *value, n uint8) *value { return p.shaped(shiftRight, n, a) }

// min and max are the processor's: the second where either is NaN.
func (p *formula) min(a, b *value) *value { return p.step(least, a, b) }
func (p *formula) max(a, b *value) *value { return p.step(greatest, a, b) }

// clamp keeps x within bounds; NaN stays.
func (p *formula) clamp(x *value, low, high float64) *value {
	return p.max(p.number(low), p.min(p.number(high), x))
}

// is says whether a predicate holds of a and b.
func (p *formula) is(a *value, predicate uint8, b *value) *value {
	return p.shaped(compare, predicate, a, b)
}

func (p *formula) negative(a *value) *value     { return p.step(signSet, a) }
func (p *formula) all(a, b *value) *value       { return p.step(both, a, b) }
func (p *formula) any(a, b *value) *value       { return p.step(either, a, b) }
func (p *formula) choose(c, a, b *value) *value { return p.step(choice, c, a, b) }

// nearest is the whole number nearest to a, ties to even.
func (p *formula) nearest(a *value) *value { return p.shaped(rounding, 0, a) }

// frexp takes x apart into m·2ᵉ with m from ¾ up to 1½. For zero, infinity and
// NaN e is -∞, x and NaN; below zero either is NaN.
func (p *formula) frexp(x *value) (m, e *value) {
	if p.usual {
		return p.frexpNormal(x)
	}
	m = p.step(fraction, x)
	return m, p.step(exponent, x, m)
}

// frexpNormal is of what is positive, normal and finite.
func (p *formula) frexpNormal(x *value) (m, e *value) {
	least := uint64(1) << p.shift
	exponents := p.sign - least
	p.leave(p.or(x, p.or(p.subBits(x, p.word(least)), p.addBits(x, p.word(p.sign-exponents)))))
	over := p.addBits(x, p.word(p.one-p.encode(0.75))) // the exponent of x/¾ is that which is to go
	m = p.addBits(p.subBits(x, p.and(p.word(p.sign|exponents), over)), p.word(p.one))
	// A number of few bits in the low bits of 2⁵² is added to it.
	base := math.Ldexp(1, int(p.shift))
	return m, p.sub(p.or(p.shr(over, p.shift), p.number(base)), p.number(base+float64(p.one>>p.shift)))
}

// leave has a usual formula leave operands to the whole one where a word's sign is set.
func (p *formula) leave(word *value) {
	if p.apart != nil {
		word = p.or(p.apart, word)
	}
	p.apart = word
}

// within is whether this formula leaves to the whole one what has a magnitude of bound or
// more, and NaN.
func (p *formula) within(x *value, bound float64) bool {
	if p.usual {
		p.leave(p.addBits(p.abs(x), p.word(p.sign-p.encode(bound))))
	}
	return p.usual
}

// withExponentAdded is a·2ⁿ for the n in the low bits of a word, where a and the result are normal or n is zero.
func (p *formula) withExponentAdded(a, word *value) *value {
	return p.addBits(a, p.shl(word, p.shift))
}

func (p *formula) abs(x *value) *value    { return p.and(p.word(p.sign-1), x) }
func (p *formula) neg(x *value) *value    { return p.xor(p.word(p.sign), x) }
func (p *formula) signOf(x *value) *value { return p.and(p.word(p.sign), x) }

// signed gives y, which is not negative, the sign of x.
func (p *formula) signed(y, x *value) *value { return p.or(y, p.signOf(x)) }

// horner is a polynomial of x, lowest power first, by W. Horner's scheme: elements are
// many, so that the fewest operations count and not how long each takes.
func (p *formula) horner(x *value, c []float64) *value {
	var numbers []*value
	for _, f := range c {
		numbers = append(numbers, p.number(f))
	}
	return p.hornerOf(x, numbers)
}

func (p *formula) hornerOf(x *value, c []*value) *value {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = p.fma(y, x, c[i])
	}
	return y
}

// picks are of each two numbers the second where bit one of a word is set.
func (p *formula) picks(word *value, first, second []float64) (all []*value) {
	for i, f := range first {
		all = append(all, p.step(pick, word, p.number(f), p.number(second[i])))
	}
	return all
}

// pair is a number of two float64, the second within the first one's rounding
// where the pair is said to be tidy.
type pair struct{ hi, lo *value }

// tidy adds b to a, the larger, without loss (T. Dekker, "A floating-point
// technique for extending the available precision", 1971).
func (p *formula) tidy(a, b *value) pair {
	s := p.add(a, b)
	return pair{s, p.sub(b, p.sub(s, a))}
}

// exactProduct is a·b without loss.
func (p *formula) exactProduct(a, b *value) pair {
	h := p.mul(a, b)
	return pair{h, p.fms(a, b, h)}
}

// ratio is a/b to some 100 bits, of tidy pairs.
func (p *formula) ratio(a, b pair) pair {
	y := p.div(p.number(1), b.hi)
	q := p.mul(a.hi, y)
	rest := p.fnma(q, b.hi, a.hi)
	if a.lo != nil {
		rest = p.add(rest, a.lo)
	}
	if b.lo != nil {
		rest = p.fnma(q, b.lo, rest)
	}
	return pair{q, p.mul(rest, y)}
}

func (p *formula) total(a pair) *value { return p.add(a.hi, a.lo) }

// constantPair is a number of high precision in two, the first with the last drop
// of its bits zero.
func (p *formula) constantPair(x real, drop int) pair {
	hi := p.decode(p.encode(float(x)) &^ (1<<drop - 1))
	return pair{p.number(hi), p.number(float(newReal().Sub(x, realOf(hi))))}
}
