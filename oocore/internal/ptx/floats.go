package ptx

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// operation is what a formula is found by.
type operation struct {
	op kernel.Op
	t  dtype.Type
}

// ofFloats is an operation on float32 or float64; "" where there is none.
func (e *emitter) ofFloats(op kernel.Op, t dtype.Type, a []string) string {
	if text := formulas[operation{op, t}]; text != "" {
		return e.function(op, t, text, a)
	}
	switch op {
	case kernel.FloorDivide:
		return e.floorDivideFloat(t, a[0], a[1])
	case kernel.Remainder:
		return e.remainderFloat(t, a[0], a[1])
	case kernel.Real, kernel.Conjugate:
		return a[0]
	case kernel.Imag:
		return e.constant(t, 0)
	}
	return ""
}

// bitsOf is a number as a constant of an instruction on bits.
func (e *emitter) bitsOf(t dtype.Type, f float64) string {
	if t == dtype.Float64 {
		return fmt.Sprintf("0x%X", math.Float64bits(f))
	}
	return fmt.Sprintf("0x%X", math.Float32bits(float32(f)))
}

func (e *emitter) rounded(t dtype.Type, how, x string) string {
	return e.of(t, fmt.Sprintf("cvt.%s.%s.%[2]s", how, arithmetic(t)), x)
}

func (e *emitter) finite(t dtype.Type, x string) string {
	return e.is("lt."+arithmetic(t), e.of(t, "abs."+arithmetic(t), x), float(t, math.Inf(1)))
}

func (e *emitter) copysign(t dtype.Type, x, y string) string {
	width, sign := bits(t), uint64(1)<<(bits(t)-1)
	and := fmt.Sprint("and.b", width)
	return e.of(t, fmt.Sprint("or.b", width), e.of(t, and, x, fmt.Sprintf("0x%X", sign-1)), e.of(t, and, y, fmt.Sprintf("0x%X", sign)))
}

// modulo is what truncated division leaves of x, of the sign of x, exact. Quotients of
// 2⁵³ and more are rare. A quotient below that is rounded by at most a half, so that the
// rest is exact and at most one divisor below zero.
func (e *emitter) modulo(t dtype.Type, x, y string) string {
	wide := dtype.Float64
	a, b := x, y
	if t != wide {
		a, b = e.double("cvt.f64.f32", x), e.double("cvt.f64.f32", y)
	}
	n, d := e.double("abs.f64", a), e.double("abs.f64", b)
	q := e.double("div.rn.f64", n, d)
	defined := e.and(e.finite(wide, n), e.is("gt.f64", d, float(wide, 0)))
	e.isRare(e.and(e.is("ge.f64", q, float(wide, 1<<53)), defined))
	q = e.double("neg.f64", e.rounded(wide, "rzi", q))
	r := e.double("fma.rn.f64", q, d, n)
	r = e.choose(wide, e.is("lt.f64", r, float(wide, 0)), e.double("add.rn.f64", r, d), r)
	r = e.choose(wide, e.is("lt.f64", n, d), n, r)
	r = e.copysign(wide, r, a)
	if t != wide {
		return e.word("cvt.rn.f32.f64", r)
	}
	return r
}

// apart is whether a rest that is not zero has another sign than the divisor.
func (e *emitter) apart(t dtype.Type, r, y string) string {
	kind, zero := arithmetic(t), float(t, 0)
	return e.and(e.is("neu."+kind, r, zero), e.xor(e.is("lt."+kind, r, zero), e.is("lt."+kind, y, zero)))
}

func (e *emitter) floorDivideFloat(t dtype.Type, x, y string) string {
	kind, zero := arithmetic(t), float(t, 0)
	r, ratio := e.modulo(t, x, y), e.of(t, "div.rn."+kind, x, y)
	q := e.of(t, "div.rn."+kind, e.of(t, "sub.rn."+kind, x, r), y)
	q = e.choose(t, e.apart(t, r, y), e.of(t, "sub.rn."+kind, q, float(t, 1)), q)
	whole := e.rounded(t, "rmi", q)
	next := e.of(t, "add.rn."+kind, whole, float(t, 1))
	whole = e.choose(t, e.is("gt."+kind, e.of(t, "sub.rn."+kind, q, whole), float(t, 0.5)), next, whole)
	whole = e.choose(t, e.is("eq."+kind, q, zero), e.copysign(t, e.constant(t, 0), ratio), whole)
	return e.choose(t, e.is("eq."+kind, y, zero), ratio, whole)
}

// remainderFloat has the sign of the divisor, also where it is zero.
func (e *emitter) remainderFloat(t dtype.Type, x, y string) string {
	kind := arithmetic(t)
	r := e.modulo(t, x, y)
	whole := e.is("eq."+kind, r, float(t, 0))
	r = e.choose(t, e.apart(t, r, y), e.of(t, "add.rn."+kind, r, y), r)
	return e.choose(t, whole, e.copysign(t, e.constant(t, 0), y), r)
}
