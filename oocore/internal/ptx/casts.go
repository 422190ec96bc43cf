package ptx

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// compute is an operation on operands of type t, of which Where has the last two; ""
// where there is no kernel for it.
func (e *emitter) compute(op kernel.Op, t dtype.Type, a []string) string {
	switch {
	case t.Kind() == dtype.KindComplex:
		return ""
	case op == kernel.Where:
		return e.choose(t, e.holds(a[0]), a[1], a[2])
	case t == dtype.Bool:
		return e.ofBools(op, a)
	case t.Integer():
		return e.ofIntegers(op, t, a)
	case t.Short():
		return ""
	}
	return e.ofFloats(op, t, a)
}

// cast converts with the results of kernel.Cast. The types are real.
func (e *emitter) cast(from, to dtype.Type, x string) string {
	switch {
	case from == dtype.Bool:
		return e.cast(dtype.Uint8, to, e.truth(e.holds(x)))
	case from == to:
		return x
	case from.Integer():
		return e.fromInteger(from, to, x)
	case from == dtype.Float16 && to == dtype.Float64:
		return e.double("cvt.f64.f16", e.half(x))
	case from.Short() && to == dtype.Uint32:
		return e.word("cvt.u32.u64", e.toInt64(dtype.Float32, e.widened(from, x)))
	case from.Short():
		return e.cast(dtype.Float32, to, e.widened(from, x))
	}
	return e.fromFloat(from, to, x)
}

// half is the register of 16 bits that PTX's conversions take.
func (e *emitter) half(x string) string { return e.to(halves, "cvt.u16.u32", x) }

// widened is a 16-bit float as a float32.
func (e *emitter) widened(t dtype.Type, x string) string {
	if t == dtype.BFloat16 {
		return e.word("shl.b32", x, 16)
	}
	return e.word("cvt.f32.f16", e.half(x))
}

// toFloat16 rounds a float of type t once.
func (e *emitter) toFloat16(t dtype.Type, x string) string {
	return e.word("cvt.u32.u16", e.to(halves, "cvt.rn.f16."+arithmetic(t), x))
}

// toBFloat16 rounds a float32, ties to even.
func (e *emitter) toBFloat16(x string) string {
	odd := e.word("and.b32", e.word("shr.u32", x, 16), 1)
	up := e.word("add.u32", e.word("add.u32", x, "0x7FFF"), odd)
	return e.word("shr.u32", e.choose(dtype.Float32, e.is("nan.f32", x, x), "0x7FC00000", up), 16)
}

func (e *emitter) fromInteger(from, to dtype.Type, x string) string {
	kind := arithmetic(from)
	switch {
	case to == dtype.Bool:
		return e.truth(e.is("ne."+kind, x, 0))
	case to.Integer() && from.Size() == 8 && to.Size() == 8:
		return x
	case to.Integer() && to.Size() == 8:
		return e.double(fmt.Sprintf("cvt.%s64.%s", kind[:1], kind), x)
	case to.Integer():
		if from.Size() == 8 {
			x = e.word("cvt.u32.u64", x)
		}
		return e.wrapped(to, x)
	case to == dtype.Float16:
		return e.toFloat16(dtype.Float32, e.word("cvt.rn.f32."+kind, x))
	case to == dtype.BFloat16:
		return e.toBFloat16(e.word("cvt.rn.f32."+kind, x))
	}
	return e.of(to, fmt.Sprintf("cvt.rn.%s.%s", arithmetic(to), kind), x)
}

// fromFloat converts float32 and float64.
func (e *emitter) fromFloat(from, to dtype.Type, x string) string {
	switch to {
	case dtype.Bool:
		return e.truth(e.is("neu."+arithmetic(from), x, float(from, 0)))
	case dtype.Int8, dtype.Int16, dtype.Uint8, dtype.Uint16:
		return e.wrapped(to, e.toInt32(from, x))
	case dtype.Int32:
		return e.toInt32(from, x)
	case dtype.Int64:
		return e.toInt64(from, x)
	case dtype.Uint32:
		return e.toUnsigned(from, dtype.Uint32, x, 1<<31, e.toInt32)
	case dtype.Uint64:
		return e.toUnsigned(from, dtype.Uint64, x, 1<<63, e.toInt64)
	case dtype.Float16:
		return e.toFloat16(from, x)
	case dtype.BFloat16:
		if from == dtype.Float64 {
			x = e.roundedToOdd(x)
		}
		return e.toBFloat16(x)
	case dtype.Float32:
		return e.word("cvt.rn.f32.f64", x)
	}
	return e.double("cvt.f64.f32", x)
}

// roundedToOdd is a float64 shortened such that rounding it again to fewer bits gives what
// rounding it at once would have given: a bit lost leaves the last place odd.
func (e *emitter) roundedToOdd(x string) string {
	short := e.word("cvt.rz.f32.f64", x)
	lost := e.is("neu.f64", e.double("cvt.f64.f32", short), x)
	lost = e.and(lost, e.finite(dtype.Float64, x))
	return e.choose(dtype.Float32, lost, e.word("or.b32", short, 1), short)
}

// toInt32 and toInt64 drop the fraction; what does not fit, and NaN, is the lowest number.
func (e *emitter) toInt32(from dtype.Type, x string) string {
	low := "ge.f32"
	bound := float(from, -1<<31)
	if from == dtype.Float64 {
		low, bound = "gt.f64", float(from, -1<<31-1)
	}
	fits := e.and(e.is(low, x, bound), e.is("lt."+arithmetic(from), x, float(from, 1<<31)))
	return e.choose(dtype.Int32, fits, e.word("cvt.rzi.s32."+arithmetic(from), x), "0x80000000")
}

func (e *emitter) toInt64(from dtype.Type, x string) string {
	kind := arithmetic(from)
	fits := e.and(e.is("ge."+kind, x, float(from, -1<<63)), e.is("lt."+kind, x, float(from, 1<<63)))
	return e.choose(dtype.Int64, fits, e.double("cvt.rzi.s64."+kind, x), "0x8000000000000000")
}

// toUnsigned takes what is not below middle, the half of the range, for a signed number
// above it.
func (e *emitter) toUnsigned(from, to dtype.Type, x string, middle float64, signed func(dtype.Type, string) string) string {
	kind := arithmetic(from)
	upper := signed(from, e.of(from, "sub.rn."+kind, x, float(from, middle)))
	upper = e.of(to, fmt.Sprint("xor.b", bits(to)), upper, fmt.Sprintf("0x%X", uint64(middle)))
	return e.choose(to, e.is("ge."+kind, x, float(from, middle)), upper, signed(from, x))
}
