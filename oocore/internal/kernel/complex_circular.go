package kernel

import (
	"math"
	"math/cmplx"
)

// The circular and hyperbolic functions and their inverses, from W. Kahan,
// "Branch cuts for complex elementary functions", 1987: signed zeros tell the
// sides of a cut apart, as they do in NumPy. math/cmplx loses digits of large
// and of small arguments, and takes other sides.

func complexSinh(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Sinh(z)
	}
	sin, cos := math.Sincos(imag(z))
	sinh := math.Sinh(real(z))
	if real(z) == 0 {
		sinh = real(z)
	}
	return complex(timesEither(sinh, cos), times(math.Cosh(real(z)), sin))
}

func complexCosh(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Cosh(z)
	}
	sin, cos := math.Sincos(imag(z))
	return complex(times(math.Cosh(real(z)), cos), timesEither(math.Sinh(real(z)), sin))
}

// timesEither is a product that is nothing where either factor is.
func timesEither(x, y float64) float64 {
	if x == 0 {
		x, y = y, x
	}
	return times(x, y)
}

func complexTanh(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Tanh(z)
	}
	x, y := real(z), imag(z)
	if math.Abs(x) > 22 { // cosh² x and sinh² x are one
		sin, cos := math.Sincos(y)
		return complex(math.Copysign(1, x), 4*sin*cos*math.Exp(-2*math.Abs(x)))
	}
	t, s := math.Tan(y), math.Sinh(x)
	if math.IsInf(t, 0) {
		return complex(math.Hypot(1, s)/s, 1/t)
	}
	beta := 1 + t*t
	d := 1 + beta*s*s
	return complex(beta*math.Hypot(1, s)*s/d, t/d)
}

// The circular functions are the hyperbolic ones of i·z.

func timesI(z complex128) complex128      { return complex(-imag(z), real(z)) }
func timesMinusI(z complex128) complex128 { return complex(imag(z), -real(z)) }

func complexSin(z complex128) complex128     { return timesMinusI(complexSinh(timesI(z))) }
func complexCos(z complex128) complex128     { return complexCosh(timesI(z)) }
func complexTan(z complex128) complex128     { return timesMinusI(complexTanh(timesI(z))) }
func complexArcsinh(z complex128) complex128 { return timesMinusI(complexArcsin(timesI(z))) }
func complexArctan(z complex128) complex128  { return timesMinusI(complexArctanh(timesI(z))) }

// roots is the square roots of 1-z and 1+z, with the signs of their zeros.
func roots(z complex128) (minus, plus complex128) {
	return cmplx.Sqrt(complex(1-real(z), -imag(z))), cmplx.Sqrt(complex(1+real(z), imag(z)))
}

func complexArcsin(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Asin(z)
	}
	minus, plus := roots(z)
	return complex(math.Atan2(real(z), real(minus)*real(plus)-imag(minus)*imag(plus)),
		math.Asinh(real(minus)*imag(plus)-imag(minus)*real(plus)))
}

func complexArccos(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Acos(z)
	}
	minus, plus := roots(z)
	return complex(2*math.Atan2(real(minus), real(plus)), math.Asinh(real(plus)*imag(minus)-imag(plus)*real(minus)))
}

func complexArccosh(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Acosh(z)
	}
	minus, plus := cmplx.Sqrt(complex(real(z)-1, imag(z))), cmplx.Sqrt(complex(real(z)+1, imag(z)))
	return complex(math.Asinh(real(minus)*real(plus)+imag(minus)*imag(plus)), 2*math.Atan2(imag(minus), real(plus)))
}

// complexArctanh computes for a real part of at least zero, the function being odd.
func complexArctanh(z complex128) complex128 {
	if !bothFinite(z) {
		return cmplx.Atanh(z)
	}
	sign := math.Copysign(1, real(z))
	x, y := math.Abs(real(z)), imag(z)*sign
	re := math.Log1p(4*x/((1-x)*(1-x)+y*y)) / 4
	im := math.Atan2(2*y, (1-x)*(1+x)-y*y) / 2
	return complex(math.Copysign(re, sign), im*sign)
}
