package ptx

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// comparisons are those of PTX; of floats, NotEqual is true of NaN.
var comparisons = map[kernel.Op]string{kernel.Equal: "eq", kernel.NotEqual: "ne", kernel.Less: "lt",
	kernel.LessEqual: "le", kernel.Greater: "gt", kernel.GreaterEqual: "ge"}

// ofBools is an operation on bools; "" where there is none.
func (e *emitter) ofBools(op kernel.Op, a []string) string {
	x := e.holds(a[0])
	var y string
	if len(a) > 1 {
		y = e.holds(a[1])
	}
	switch op {
	case kernel.Add, kernel.Maximum, kernel.Fmax, kernel.LogicalOr, kernel.BitOr:
		return e.truth(e.or(x, y))
	case kernel.Multiply, kernel.Minimum, kernel.Fmin, kernel.LogicalAnd, kernel.BitAnd:
		return e.truth(e.and(x, y))
	case kernel.LogicalXor, kernel.BitXor, kernel.NotEqual:
		return e.truth(e.xor(x, y))
	case kernel.Equal:
		return e.truth(e.not(e.xor(x, y)))
	case kernel.Less:
		return e.truth(e.and(e.not(x), y))
	case kernel.LessEqual:
		return e.truth(e.or(e.not(x), y))
	case kernel.Greater:
		return e.truth(e.and(x, e.not(y)))
	case kernel.GreaterEqual:
		return e.truth(e.or(x, e.not(y)))
	case kernel.LogicalNot, kernel.Invert:
		return e.truth(e.not(x))
	case kernel.Absolute, kernel.Floor, kernel.Ceil, kernel.Trunc, kernel.Real:
		return e.truth(x)
	case kernel.IsFinite:
		return e.word("mov.b32", 1)
	case kernel.IsNaN, kernel.IsInf, kernel.Imag:
		return e.word("mov.b32", 0)
	}
	return ""
}

// wrapped keeps the low bits of an integer.
func (e *emitter) wrapped(t dtype.Type, x string) string {
	switch t {
	case dtype.Int8:
		return e.word("cvt.s32.s8", x)
	case dtype.Int16:
		return e.word("cvt.s32.s16", x)
	case dtype.Uint8:
		return e.word("cvt.u32.u8", x)
	case dtype.Uint16:
		return e.word("cvt.u32.u16", x)
	}
	return x
}

// ofIntegers is an operation on integers; "" where there is none.
func (e *emitter) ofIntegers(op kernel.Op, t dtype.Type, a []string) string {
	signed, kind, width := t.Kind() == dtype.KindInt, arithmetic(t), bits(t)
	x := a[0]
	var y string
	if len(a) > 1 {
		y = a[1]
	}
	onBits := func(instruction string, args ...any) string {
		return e.of(t, fmt.Sprint(instruction, ".b", width), args...)
	}
	if c, ok := comparisons[op]; ok {
		return e.truth(e.is(c+"."+kind, x, y))
	}
	switch op {
	case kernel.Add:
		return e.wrapped(t, e.of(t, "add."+kind, x, y))
	case kernel.Subtract:
		return e.wrapped(t, e.of(t, "sub."+kind, x, y))
	case kernel.Multiply:
		return e.wrapped(t, e.of(t, "mul.lo."+kind, x, y))
	case kernel.Square:
		return e.wrapped(t, e.of(t, "mul.lo."+kind, x, x))
	case kernel.FloorDivide:
		return e.floorDivide(t, x, y)
	case kernel.Remainder:
		return e.remainder(t, x, y)
	case kernel.Power:
		return e.power(t, x, y)
	case kernel.Minimum, kernel.Fmin:
		return e.of(t, "min."+kind, x, y)
	case kernel.Maximum, kernel.Fmax:
		return e.of(t, "max."+kind, x, y)
	case kernel.BitAnd:
		return onBits("and", x, y)
	case kernel.BitOr:
		return onBits("or", x, y)
	case kernel.BitXor:
		return onBits("xor", x, y)
	case kernel.Invert:
		return e.wrapped(t, onBits("not", x))
	case kernel.LeftShift:
		return e.wrapped(t, onBits("shl", x, e.shift(t, y)))
	case kernel.RightShift:
		return e.of(t, "shr."+kind, x, e.shift(t, y))
	case kernel.Negative:
		return e.wrapped(t, e.negative(t, x))
	case kernel.Absolute:
		if signed {
			return e.wrapped(t, e.choose(t, e.is("lt."+kind, x, 0), e.negative(t, x), x))
		}
		return x
	case kernel.Sign:
		sign := e.choose(t, e.is("gt."+kind, x, 0), 1, 0)
		if signed {
			sign = e.choose(t, e.is("lt."+kind, x, 0), -1, sign)
		}
		return sign
	case kernel.Reciprocal:
		return e.reciprocal(t, x)
	case kernel.Floor, kernel.Ceil, kernel.Trunc, kernel.Real, kernel.Conjugate:
		return x
	case kernel.Imag:
		return e.constant(t, 0)
	case kernel.IsFinite:
		return e.word("mov.b32", 1)
	case kernel.IsNaN, kernel.IsInf:
		return e.word("mov.b32", 0)
	}
	return ""
}

// constant is a register of a type's bits.
func (e *emitter) constant(t dtype.Type, b uint64) string {
	return e.of(t, fmt.Sprint("mov.b", bits(t)), fmt.Sprintf("0x%X", b))
}

func (e *emitter) negative(t dtype.Type, x string) string {
	return e.of(t, fmt.Sprint("neg.s", bits(t)), x)
}

// shift is a count for shifts, which take what is beyond the width, or negative, for the
// width itself.
func (e *emitter) shift(t dtype.Type, y string) string {
	if bits(t) == 32 {
		return y
	}
	return e.word("cvt.u32.u64", e.double("min.u64", y, 64))
}

// divisor is y, or 1 where nothing is to be divided by it: zero, and with signs -1, whose
// quotient may wrap around.
func (e *emitter) divisor(t dtype.Type, y string) (divisor, zero, minusOne string) {
	zero = e.is("eq."+arithmetic(t), y, 0)
	leave := zero
	if t.Kind() == dtype.KindInt {
		minusOne = e.is("eq."+arithmetic(t), y, -1)
		leave = e.or(zero, minusOne)
	}
	return e.choose(t, leave, 1, y), zero, minusOne
}

func (e *emitter) floorDivide(t dtype.Type, x, y string) string {
	kind := arithmetic(t)
	d, zero, minusOne := e.divisor(t, y)
	q := e.of(t, "div."+kind, x, d)
	if minusOne != "" {
		rest := e.of(t, "sub."+kind, x, e.of(t, "mul.lo."+kind, q, d))
		apart := e.is("lt."+kind, e.of(t, fmt.Sprint("xor.b", bits(t)), x, d), 0)
		below := e.and(e.is("ne."+kind, rest, 0), apart)
		q = e.choose(t, below, e.of(t, "add."+kind, q, -1), q)
		q = e.choose(t, minusOne, e.negative(t, x), q)
	}
	return e.wrapped(t, e.choose(t, zero, 0, q))
}

func (e *emitter) remainder(t dtype.Type, x, y string) string {
	kind := arithmetic(t)
	d, zero, _ := e.divisor(t, y)
	r := e.of(t, "rem."+kind, x, d)
	if t.Kind() == dtype.KindInt {
		apart := e.is("lt."+kind, e.of(t, fmt.Sprint("xor.b", bits(t)), r, d), 0)
		r = e.choose(t, e.and(e.is("ne."+kind, r, 0), apart), e.of(t, "add."+kind, r, d), r)
	}
	return e.choose(t, zero, 0, r)
}

// power multiplies by squares, as kernel does: the low bits of a wide product are those
// of a narrow one.
func (e *emitter) power(t dtype.Type, x, y string) string {
	kind, width := arithmetic(t), bits(t)
	again, end := e.label(), e.label()
	p, square, left := e.constant(t, 1), e.of(t, fmt.Sprint("mov.b", width), x), e.of(t, fmt.Sprint("mov.b", width), y)
	odd := e.register(predicates)
	low := e.register(prefixOf(t))
	e.at(again)
	e.under(e.is("le."+kind, left, 0), "bra %s", end)
	e.do("and.b%d %s, %s, 1", width, low, left)
	e.do("setp.ne.%s %s, %s, 0", kind, odd, low)
	e.under(odd, "mul.lo.%s %s, %s, %s", kind, p, p, square)
	e.do("mul.lo.%s %s, %s, %s", kind, square, square, square)
	e.do("shr.%s %s, %s, 1", kind, left, left)
	e.do("bra %s", again)
	e.at(end)
	if t.Kind() == dtype.KindInt { // to a negative power, truncated
		even := e.is("eq."+kind, e.of(t, fmt.Sprint("and.b", width), y, 1), 0)
		inverse := e.choose(t, even, 1, -1)
		inverse = e.choose(t, e.is("eq."+kind, x, -1), inverse, 0)
		inverse = e.choose(t, e.is("eq."+kind, x, 1), 1, inverse)
		p = e.choose(t, e.is("lt."+kind, y, 0), inverse, p)
	}
	return e.wrapped(t, p)
}

// reciprocal is 1/x without its fraction; of zero it is what kernel gives.
func (e *emitter) reciprocal(t dtype.Type, x string) string {
	kind := arithmetic(t)
	r := e.choose(t, e.is("eq."+kind, x, 1), 1, 0)
	if t.Kind() == dtype.KindInt {
		r = e.choose(t, e.is("eq."+kind, x, -1), -1, r)
	}
	switch t {
	case dtype.Int32:
		r = e.choose(t, e.is("eq.s32", x, 0), "0x80000000", r)
	case dtype.Int64:
		r = e.choose(t, e.is("eq.s64", x, 0), "0x8000000000000000", r)
	}
	return r
}
