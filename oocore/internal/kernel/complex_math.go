package kernel

import "math"

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
