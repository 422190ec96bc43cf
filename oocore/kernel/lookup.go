package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

// Lookup returns the loop of an operation on operands of type t; for Where, of
// the second and third operand, the first being bools. The result has type
// op.Result(t). It is false where NumPy has no such loop, and for arithmetic on
// 16-bit floats, which are to be cast to float32 around it.
//
// An integer to a negative power is the exact result truncated towards zero, as
// an element's loop has no way to reject: callers reject where NumPy does.
func Lookup(op Op, t dtype.Type) (Func, bool) {
	if f := vectorLookup(op, t); f != nil {
		return f, true
	}
	f := portableLookup(op, t)
	return f, f != nil
}

// Cast returns the loop that converts elements, with NumPy's results on x86-64
// on every machine: floats lose their fraction, and those out of an integer's
// range (and NaN) become what the processor makes of them. A narrower float is
// rounded once, to nearest even.
func Cast(from, to dtype.Type) (Func, bool) {
	if f := vectorCast(from, to); f != nil {
		return f, true
	}
	f := portableCast(from, to)
	return f, f != nil
}

// portableLookup is Lookup in plain Go; nil where there is no loop.
func portableLookup(op Op, t dtype.Type) Func {
	switch {
	case op == Where:
		return whereLoop(t.Size())
	case op == MulAdd && t == dtype.Float32:
		return mulAddSingle
	case op == MulAdd && t == dtype.Float64:
		return mulAddDouble
	case op == MulAdd:
		return nil
	}
	switch t {
	case dtype.Bool:
		return boolLoop(op)
	case dtype.Int8:
		return signedLoop[int8](op)
	case dtype.Int16:
		return signedLoop[int16](op)
	case dtype.Int32:
		return signedLoop[int32](op)
	case dtype.Int64:
		return signedLoop[int64](op)
	case dtype.Uint8:
		return integerLoop[uint8](op)
	case dtype.Uint16:
		return integerLoop[uint16](op)
	case dtype.Uint32:
		return integerLoop[uint32](op)
	case dtype.Uint64:
		return integerLoop[uint64](op)
	case dtype.Float32:
		if f := singleLoop(op); f != nil {
			return f
		}
		return floatLoop[float32](op)
	case dtype.Float64:
		return floatLoop[float64](op)
	case dtype.Complex64:
		return complexLoop[complex64, float32](op)
	case dtype.Complex128:
		return complexLoop[complex128, float64](op)
	}
	return nil
}
