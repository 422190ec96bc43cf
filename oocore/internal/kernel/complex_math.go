package kernel

import (
	"math"
	"math/cmplx"
)

func isNaN[C complexNumber](x C) bool { return x != x }

func precedes(x, y complex128) bool {
	return real(x) < real(y) && imag(x) == imag(x) && imag(y) == imag(y) ||
		real(x) == real(y) && imag(x) < imag(y)
}

func atMost[C complexNumber](a, b C) bool {
	x, y := complex128(a), complex128(b)
	return precedes(x, y) || real(x) == real(y) && imag(x) == imag(y)
}

// multiplyParts rounds each product, so that no processor fuses one of them.
func multiplyParts[F float](x, y [2]F) [2]F {
	return [2]F{F(x[0]*y[0]) - F(x[1]*y[1]), F(x[0]*y[1]) + F(x[1]*y[0])}
}

// divideParts is Smith's division (Algorithm 116, CACM 5:8, 1962), which NumPy
// uses: it overflows only where the quotient nearly does.
func divideParts[F float](x, y [2]F) [2]F {
	if math.Abs(float64(y[0])) >= math.Abs(float64(y[1])) {
		if y[0] == 0 && y[1] == 0 {
			zero := F(math.Abs(float64(y[0])))
			return [2]F{x[0] / zero, x[1] / zero}
		}
		ratio := y[1] / y[0]
		scale := 1 / (y[0] + F(y[1]*ratio))
		return [2]F{(x[0] + F(x[1]*ratio)) * scale, (x[1] - F(x[0]*ratio)) * scale}
	}
	ratio := y[0] / y[1]
	scale := 1 / (y[1] + F(y[0]*ratio))
	return [2]F{(F(x[0]*ratio) + x[1]) * scale, (F(x[1]*ratio) - x[0]) * scale}
}

// reciprocalParts is NumPy's, which has no word for zero.
func reciprocalParts[F float](x [2]F) [2]F {
	if math.Abs(float64(x[1])) <= math.Abs(float64(x[0])) {
		ratio := x[1] / x[0]
		d := x[0] + F(x[1]*ratio)
		return [2]F{1 / d, -ratio / d}
	}
	ratio := x[0] / x[1]
	d := F(x[0]*ratio) + x[1]
	return [2]F{ratio / d, -1 / d}
}

// complexLoops are those of complex numbers C of parts F. Functions of complex64 are computed in
// complex128 and rounded.
func complexLoops[C complexNumber, F float]() []Func {
	one := func(f func(complex128) complex128) Func { return mapOne(func(x C) C { return C(f(complex128(x))) }) }
	test := func(f func(complex128) bool) Func { return mapOne(func(x C) bool { return f(complex128(x)) }) }
	order := func(f func(x, y complex128) bool) Func {
		return mapPairs(func(x, y C) bool { return f(complex128(x), complex128(y)) })
	}
	// NumPy orders complex numbers by their real parts, then by their imaginary ones.
	extreme := func(first func(x, y C) bool) Func {
		return mapPairs(func(x, y C) C { return choose(first(x, y), x, y) })
	}
	return []Func{
		Add: addLoop[C], Subtract: subtractLoop[C], Negative: negativeLoop[C],
		Multiply:   mapPairs(multiplyParts[F]),
		Square:     mapOne(func(x [2]F) [2]F { return multiplyParts(x, x) }),
		Divide:     mapPairs(divideParts[F]),
		Reciprocal: mapOne(reciprocalParts[F]),
		Power:      mapPairs(func(x, y C) C { return C(complexPow(complex128(x), complex128(y))) }),
		Minimum:    extreme(func(x, y C) bool { return isNaN(x) || atMost(x, y) }),
		Maximum:    extreme(func(x, y C) bool { return isNaN(x) || atMost(y, x) }),
		Fmin:       extreme(func(x, y C) bool { return isNaN(y) || atMost(x, y) }),
		Fmax:       extreme(func(x, y C) bool { return isNaN(y) || atMost(y, x) }),
		Absolute:   mapOne(func(x [2]F) F { return F(math.Hypot(float64(x[0]), float64(x[1]))) }),
		Real:       mapOne(func(x [2]F) F { return x[0] }),
		Imag:       mapOne(func(x [2]F) F { return x[1] }),
		Conjugate:  mapOne(func(x [2]F) [2]F { return [2]F{x[0], -x[1]} }),
		Rint: mapOne(func(x [2]F) [2]F {
			return [2]F{F(math.RoundToEven(float64(x[0]))), F(math.RoundToEven(float64(x[1])))}
		}),
		Sign: one(complexSign), Sqrt: one(cmplx.Sqrt), Exp: one(complexExp), Exp2: one(complexExp2), Expm1: one(complexExpm1),
		Log: one(complexLog), Log1p: one(complexLog1p),
		Log2:  one(func(x complex128) complex128 { return scaleComplex(complexLog(x), math.Log2E) }),
		Log10: one(func(x complex128) complex128 { return scaleComplex(complexLog(x), math.Log10E) }),
		Sin:   one(complexSin), Cos: one(complexCos), Tan: one(complexTan),
		Arcsin: one(complexArcsin), Arccos: one(complexArccos), Arctan: one(complexArctan),
		Sinh: one(complexSinh), Cosh: one(complexCosh), Tanh: one(complexTanh),
		Arcsinh: one(complexArcsinh), Arccosh: one(complexArccosh), Arctanh: one(complexArctanh),
		IsNaN:        test(isNaN[complex128]),
		IsInf:        test(func(x complex128) bool { return math.IsInf(real(x), 0) || math.IsInf(imag(x), 0) }),
		IsFinite:     test(func(x complex128) bool { return real(x)-real(x) == 0 && imag(x)-imag(x) == 0 }),
		Equal:        order(func(x, y complex128) bool { return x == y }),
		NotEqual:     order(func(x, y complex128) bool { return x != y }),
		Less:         order(precedes),
		LessEqual:    order(atMost[complex128]),
		Greater:      order(func(x, y complex128) bool { return precedes(y, x) }),
		GreaterEqual: order(func(x, y complex128) bool { return atMost(y, x) }),
	}
}
