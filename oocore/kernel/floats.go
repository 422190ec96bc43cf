package kernel

import (
	"math"
	"unsafe"
)

// floatLoop is the loop of an operation on floats.
func floatLoop[T float](op Op) Func {
	if f := realMath(op); f != nil {
		return mapOne(func(x T) T { return T(f(float64(x))) })
	}
	switch op {
	case Add:
		return addLoop[T]
	case Subtract:
		return subtractLoop[T]
	case Multiply:
		return multiplyLoop[T]
	case Divide:
		return divideLoop[T]
	case FloorDivide:
		return mapPairs(floorDivideFloat[T])
	case Remainder:
		return mapPairs(remainderFloat[T])
	case Power:
		return mapPairs(func(x, y T) T { return T(pow(float64(x), float64(y))) })
	case Arctan2:
		return mapPairs(func(x, y T) T { return T(arctan2(float64(x), float64(y))) })
	case Hypot:
		return mapPairs(func(x, y T) T { return T(hypot(float64(x), float64(y))) })
	case Copysign:
		return mapPairs(copysign[T])
	case Minimum:
		return mapPairs(func(x, y T) T { return choose(x < y || x != x, x, y) })
	case Maximum:
		return mapPairs(func(x, y T) T { return choose(x > y || x != x, x, y) })
	case Fmin:
		return mapPairs(func(x, y T) T { return choose(x < y || y != y, x, y) })
	case Fmax:
		return mapPairs(func(x, y T) T { return choose(x > y || y != y, x, y) })
	case Negative:
		return negativeLoop[T]
	case Square:
		return squareLoop[T]
	case Sign:
		return mapOne(func(x T) T {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			case x == 0:
				return 0 // also of a negative zero
			}
			return x
		})
	case Reciprocal:
		return mapOne(func(x T) T { return 1 / x })
	case IsNaN:
		return mapOne(func(x T) bool { return x != x })
	case IsInf:
		return mapOne(func(x T) bool { return math.IsInf(float64(x), 0) })
	case IsFinite:
		return mapOne(func(x T) bool { return x-x == 0 })
	case Real, Conjugate:
		var z T
		return copyLoop(int(unsafe.Sizeof(z)))
	case Imag:
		return constantLoop[T](0)
	}
	return compareLoop[T](op)
}

// realMath is the function of one real number that an operation stands for.
func realMath(op Op) func(float64) float64 {
	switch op {
	case Absolute:
		return math.Abs
	case Sqrt:
		return math.Sqrt
	case Cbrt:
		return formulaCbrtFloat64
	case Exp:
		return formulaExpFloat64
	case Exp2:
		return formulaExp2Float64
	case Expm1:
		return formulaExpm1Float64
	case Log:
		return formulaLogFloat64
	case Log2:
		return formulaLog2Float64
	case Log10:
		return formulaLog10Float64
	case Log1p:
		return formulaLog1pFloat64
	case Erf:
		return formulaErfFloat64
	case Sin:
		return sin
	case Cos:
		return cos
	case Tan:
		return tan
	case Arcsin:
		return formulaArcsinFloat64
	case Arccos:
		return formulaArccosFloat64
	case Arctan:
		return formulaArctanFloat64
	case Sinh:
		return formulaSinhFloat64
	case Cosh:
		return formulaCoshFloat64
	case Tanh:
		return formulaTanhFloat64
	case Arcsinh:
		return arcsinh
	case Arccosh:
		return arccosh
	case Arctanh:
		return formulaArctanhFloat64
	case Floor:
		return math.Floor
	case Ceil:
		return math.Ceil
	case Trunc:
		return math.Trunc
	case Rint:
		return math.RoundToEven
	}
	return nil
}

func choose[T any](first bool, x, y T) T {
	if first {
		return x
	}
	return y
}

func copysign[T float](x, y T) T { return T(math.Copysign(float64(x), float64(y))) }

// floorDivideFloat is NumPy's: it agrees with the remainder, so that both lie
// on the same side where the quotient is near a whole number.
func floorDivideFloat[T float](x, y T) T {
	if y == 0 {
		return x / y
	}
	r := T(math.Mod(float64(x), float64(y)))
	q := (x - r) / y
	if r != 0 && (r < 0) != (y < 0) {
		q--
	}
	if q == 0 {
		return copysign(0, x/y)
	}
	whole := T(math.Floor(float64(q)))
	if q-whole > 0.5 {
		whole++
	}
	return whole
}

// remainderFloat has the sign of the divisor, also where it is zero.
func remainderFloat[T float](x, y T) T {
	r := T(math.Mod(float64(x), float64(y)))
	switch {
	case r == 0:
		return copysign(0, y)
	case (r < 0) != (y < 0):
		return r + y
	}
	return r
}
