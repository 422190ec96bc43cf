package kernel

import (
	"math"
	"math/cmplx"
)

func isNaN[C complexNumber](x C) bool { return x != x }

// complexTest is the test of one complex number that an operation stands for.
func complexTest(op Op) func(complex128) bool {
	switch op {
	case IsNaN:
		return isNaN[complex128]
	case IsInf:
		return func(x complex128) bool { return math.IsInf(real(x), 0) || math.IsInf(imag(x), 0) }
	case IsFinite:
		return func(x complex128) bool { return real(x)-real(x) == 0 && imag(x)-imag(x) == 0 }
	}
	return nil
}

// complexOrder is the comparison of complex numbers, which NumPy orders by
// their real parts, then by their imaginary ones.
func complexOrder(op Op) func(x, y complex128) bool {
	switch op {
	case Equal:
		return func(x, y complex128) bool { return x == y }
	case NotEqual:
		return func(x, y complex128) bool { return x != y }
	case Less:
		return precedes
	case LessEqual:
		return atMost[complex128]
	case Greater:
		return func(x, y complex128) bool { return precedes(y, x) }
	case GreaterEqual:
		return func(x, y complex128) bool { return atMost(y, x) }
	}
	return nil
}

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

func scaleComplex(x complex128, f float64) complex128 { return complex(real(x)*f, imag(x)*f) }

// complexSign is x/|x|, as in NumPy 2.
func complexSign(x complex128) complex128 {
	switch m := cmplx.Abs(x); {
	case isNaN(x):
		return complex(math.NaN(), math.NaN())
	case m == 0:
		return 0
	case math.IsInf(m, 0):
		re, im := math.IsInf(real(x), 0), math.IsInf(imag(x), 0)
		if re && im {
			return complex(math.NaN(), math.NaN())
		}
		unit := func(part float64, infinite bool) float64 {
			if infinite {
				return math.Copysign(1, part)
			}
			return 0
		}
		return complex(unit(real(x), re), unit(imag(x), im))
	default:
		return complex(real(x)/m, imag(x)/m)
	}
}

// complexLog keeps its accuracy near the unit circle, where the logarithm of
// the magnitude would cancel.
func complexLog(x complex128) complex128 {
	big, small := math.Abs(real(x)), math.Abs(imag(x))
	if big < small {
		big, small = small, big
	}
	if 0.5 < big && big < 2 && small <= 2 {
		return complex(math.Log1p((big-1)*(big+1)+small*small)/2, cmplx.Phase(x))
	}
	return cmplx.Log(x)
}

// complexLog1p is the logarithm of 1+x, accurate for small x: twice the real
// part's exponent is |1+x|² - 1 = 2·re + re² + im².
func complexLog1p(x complex128) complex128 {
	re, im := real(x), imag(x)
	if math.Abs(re) < 0.5 && math.Abs(im) < 0.5 {
		return complex(math.Log1p(math.FMA(re, re, math.FMA(im, im, 2*re)))/2, math.Atan2(im, 1+re))
	}
	return complexLog(complex(1+re, im))
}

// complexExpm1 is exp(x) - 1, accurate for small x: with s = sin(im/2),
// exp(re)·cos(im) - 1 = expm1(re)·cos(im) - 2s².
func complexExpm1(x complex128) complex128 {
	s := math.Sin(imag(x) / 2)
	return complex(math.Expm1(real(x))*math.Cos(imag(x))-2*s*s, math.Exp(real(x))*math.Sin(imag(x)))
}

// complexPow multiplies for small whole exponents, as NumPy does, so that
// squares and cubes of whole numbers are whole.
func complexPow(x, y complex128) complex128 {
	switch {
	case y == 0:
		return 1
	case x == 0 && real(y) > 0:
		return 0
	case x == 0:
		return complex(math.NaN(), math.NaN())
	}
	if n := real(y); imag(y) == 0 && n == math.Trunc(n) && math.Abs(n) < 100 {
		k := int(math.Abs(n))
		p, square := [2]float64{1, 0}, [2]float64{real(x), imag(x)}
		for ; k > 0; k >>= 1 {
			if k&1 != 0 {
				p = multiplyParts(p, square)
			}
			square = multiplyParts(square, square)
		}
		if n < 0 {
			p = divideParts([2]float64{1, 0}, p)
		}
		return complex(p[0], p[1])
	}
	return cmplx.Pow(x, y)
}
