package kernel

import (
	"math"
	"math/cmplx"
)

// complexLoop is the loop of an operation on complex numbers C of parts F.
// Functions of complex64 are computed in complex128 and rounded.
func complexLoop[C complexNumber, F float](op Op) Func {
	if f := complexMath(op); f != nil {
		return mapOne(func(x C) C { return C(f(complex128(x))) })
	}
	if f := complexTest(op); f != nil {
		return mapOne(func(x C) bool { return f(complex128(x)) })
	}
	if f := complexOrder(op); f != nil {
		return mapPairs(func(x, y C) bool { return f(complex128(x), complex128(y)) })
	}
	switch op {
	case Add:
		return addLoop[C]
	case Subtract:
		return subtractLoop[C]
	case Negative:
		return negativeLoop[C]
	case Multiply:
		return mapPairs(func(x, y [2]F) [2]F { return multiplyParts(x, y) })
	case Square:
		return mapOne(func(x [2]F) [2]F { return multiplyParts(x, x) })
	case Divide:
		return mapPairs(divideParts[F])
	case Reciprocal:
		return mapOne(func(x [2]F) [2]F { return reciprocalParts(x) })
	case Power:
		return mapPairs(func(x, y C) C { return C(complexPow(complex128(x), complex128(y))) })
	case Minimum:
		return mapPairs(func(x, y C) C { return choose(isNaN(x) || atMost(x, y), x, y) })
	case Maximum:
		return mapPairs(func(x, y C) C { return choose(isNaN(x) || atMost(y, x), x, y) })
	case Fmin:
		return mapPairs(func(x, y C) C { return choose(isNaN(y) || atMost(x, y), x, y) })
	case Fmax:
		return mapPairs(func(x, y C) C { return choose(isNaN(y) || atMost(y, x), x, y) })
	case Absolute:
		return mapOne(func(x [2]F) F { return F(math.Hypot(float64(x[0]), float64(x[1]))) })
	case Real:
		return mapOne(func(x [2]F) F { return x[0] })
	case Imag:
		return mapOne(func(x [2]F) F { return x[1] })
	case Conjugate:
		return mapOne(func(x [2]F) [2]F { return [2]F{x[0], -x[1]} })
	case Rint:
		return mapOne(func(x [2]F) [2]F {
			return [2]F{F(math.RoundToEven(float64(x[0]))), F(math.RoundToEven(float64(x[1])))}
		})
	}
	return nil
}

// complexMath is the function of one complex number that an operation stands for.
func complexMath(op Op) func(complex128) complex128 {
	switch op {
	case Sign:
		return complexSign
	case Sqrt:
		return cmplx.Sqrt
	case Exp:
		return complexExp
	case Exp2:
		return complexExp2
	case Expm1:
		return complexExpm1
	case Log:
		return complexLog
	case Log2:
		return func(x complex128) complex128 { return scaleComplex(complexLog(x), math.Log2E) }
	case Log10:
		return func(x complex128) complex128 { return scaleComplex(complexLog(x), math.Log10E) }
	case Log1p:
		return complexLog1p
	case Sin:
		return complexSin
	case Cos:
		return complexCos
	case Tan:
		return complexTan
	case Arcsin:
		return complexArcsin
	case Arccos:
		return complexArccos
	case Arctan:
		return complexArctan
	case Sinh:
		return complexSinh
	case Cosh:
		return complexCosh
	case Tanh:
		return complexTanh
	case Arcsinh:
		return complexArcsinh
	case Arccosh:
		return complexArccosh
	case Arctanh:
		return complexArctanh
	}
	return nil
}
