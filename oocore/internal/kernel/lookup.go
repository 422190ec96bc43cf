package kernel

import (
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
)

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
	if op == Where {
		return whereLoop(t.Size())
	}
	if t.StorageOnly() || plainLoops[t] == nil {
		return nil
	}
	if all := plainLoops[t](); int(op) < len(all) {
		return all[op]
	}
	return nil
}

// plainLoops are the loops in plain Go, by type and operation.
var plainLoops = map[dtype.Type]func() []Func{
	dtype.Bool: sync.OnceValue(boolLoops),
	dtype.Int8: sync.OnceValue(signedLoops[int8]), dtype.Int16: sync.OnceValue(signedLoops[int16]),
	dtype.Int32: sync.OnceValue(signedLoops[int32]), dtype.Int64: sync.OnceValue(signedLoops[int64]),
	dtype.Uint8: sync.OnceValue(integerLoops[uint8]), dtype.Uint16: sync.OnceValue(integerLoops[uint16]),
	dtype.Uint32: sync.OnceValue(integerLoops[uint32]), dtype.Uint64: sync.OnceValue(integerLoops[uint64]),
	dtype.Float32: sync.OnceValue(floatLoops[float32]), dtype.Float64: sync.OnceValue(floatLoops[float64]),
	dtype.Complex64:  sync.OnceValue(complexLoops[complex64, float32]),
	dtype.Complex128: sync.OnceValue(complexLoops[complex128, float64]),
}
