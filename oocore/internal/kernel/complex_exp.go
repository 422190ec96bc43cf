package kernel

import (
	"math"
	"math/cmplx"
)

// complexSign is x/|x|, as in NumPy 2.
func complexSign(x complex128) complex128 {
	re, im := math.IsInf(real(x), 0), math.IsInf(imag(x), 0)
	switch m := cmplx.Abs(x); {
	case re && im, m != m:
		return complex(math.NaN(), math.NaN())
	case m == 0:
		return 0
	case re:
		return complex(math.Copysign(1, real(x)), 0)
	case im:
		return complex(0, math.Copysign(1, imag(x)))
	default:
		return complex(real(x)/m, imag(x)/m)
	}
}

func scaleComplex(x complex128, f float64) complex128 { return complex(real(x)*f, imag(x)*f) }

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
	if big < 0x1p-900 { // the magnitude of subnormal parts has few bits
		const up = 200
		magnitude := math.Hypot(math.Ldexp(big, up), math.Ldexp(small, up))
		return complex(NaturalLog(magnitude)-up*math.Ln2, cmplx.Phase(x))
	}
	return complex(NaturalLog(math.Hypot(real(x), imag(x))), cmplx.Phase(x))
}

// NaturalLog is the logarithm of an element of a float64 array. math.Log takes subnormal
// numbers for the smallest normal one on amd64.
func NaturalLog(x float64) float64 { return formulaLogFloat64(x) }

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
	if !bothFinite(x) {
		return complexExp(x) - 1
	}
	s, e := math.Sin(imag(x)/2), complexExp(x)
	return complex(math.Expm1(real(x))*math.Cos(imag(x))-2*s*s, imag(e))
}

func complexExp(x complex128) complex128 {
	if !bothFinite(x) {
		return cmplx.Exp(x)
	}
	return polar(math.Exp(real(x)), imag(x))
}

// bothFinite is whether both parts are. Of others math/cmplx gives what C99's annex G says.
func bothFinite(x complex128) bool { return real(x)-real(x) == 0 && imag(x)-imag(x) == 0 }

// complexExp2 turns by the part of the angle im·ln 2 that rounding cut off, too.
func complexExp2(x complex128) complex128 {
	if imag(x) == 0 {
		return complex(math.Exp2(real(x)), imag(x))
	}
	const rest2 = 2.3190468138462996e-17 // ln 2 less math.Ln2
	angle := imag(x) * math.Ln2
	rest := math.FMA(imag(x), math.Ln2, -angle) + imag(x)*rest2
	turn := polar(1, angle)
	turn += timesI(complex(rest*real(turn), rest*imag(turn)))
	magnitude := math.Exp2(real(x))
	return complex(times(magnitude, real(turn)), times(magnitude, imag(turn)))
}

// polar is the number of a magnitude and an angle.
func polar(magnitude, angle float64) complex128 {
	sin, cos := math.Sincos(angle)
	return complex(times(magnitude, cos), times(magnitude, sin))
}

// times is a product in which nothing is still nothing of infinity, as where a
// magnitude overflows and the sine of its angle is zero.
func times(x, y float64) float64 {
	if y == 0 && x == x {
		return y * math.Copysign(1, x)
	}
	return x * y
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
		parts := [2]float64{real(x), imag(x)}
		switch n { // without the product by one, which is NaN where x is infinite
		case 1:
			return x
		case 2, 3:
			p := multiplyParts(parts, parts)
			if n == 3 {
				p = multiplyParts(parts, p)
			}
			return complex(p[0], p[1])
		}
		k := int(math.Abs(n))
		p, square := [2]float64{1, 0}, parts
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
	if m := max(math.Abs(real(x)), math.Abs(imag(x))); m < 0x1p-1022 || !bothFinite(x) || !bothFinite(y) {
		return complexExp(multiplyInfinite(y, complexLog(x))) // C's cpow, as cmplx.Pow is not
	}
	p := cmplx.Pow(x, y)
	if !bothFinite(p) { // beyond the range
		return complexExp(multiplyInfinite(y, complexLog(x)))
	}
	return p
}

// multiplyInfinite is C99's product (annex G.5.1), which stays infinite where a factor is,
// whatever else is no number.
func multiplyInfinite(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	p := complex(a*c-b*d, a*d+b*c)
	if real(p) == real(p) || imag(p) == imag(p) {
		return p
	}
	// box brings infinite parts to one and others to zero, with their signs.
	box := func(v float64) float64 {
		if math.IsInf(v, 0) {
			return math.Copysign(1, v)
		}
		return math.Copysign(0, v)
	}
	number := func(v float64) float64 {
		if v != v {
			return math.Copysign(0, v)
		}
		return v
	}
	infinite := false
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		a, b, c, d, infinite = box(a), box(b), number(c), number(d), true
	}
	if math.IsInf(c, 0) || math.IsInf(d, 0) {
		a, b, c, d, infinite = number(a), number(b), box(c), box(d), true
	}
	if !infinite {
		return p
	}
	return complex(math.Inf(1)*(a*c-b*d), math.Inf(1)*(a*d+b*c))
}
