package kernel

import "math"

// Functions of which package math's lose digits somewhere. The others of
// float64 were measured within three units in the last place, except for sines
// of angles beyond 2²⁹, which are right to 2⁻⁵⁴.

// arctan2 gives the sign of y even where y/x is too small for math.Atan2 to
// see it.
func arctan2(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }

// log2 takes the logarithm of what is near one, where math.Log2 cancels.
func log2(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	return float64(e) + math.Log(m)*math.Log2E
}

// tan adds the second term for small angles, for which math.Tan has only one.
func tan(x float64) float64 {
	if math.Abs(x) < 1e-5 {
		return x + x*x*x/3
	}
	return math.Tan(x)
}

// leg is the other leg of a right triangle with hypotenuse 1, accurate near 1.
func leg(x float64) float64 { return math.Sqrt((1 - x) * (1 + x)) }

func arcsin(x float64) float64 { return math.Atan2(x, leg(x)) }

func arccos(x float64) float64 { return math.Atan2(leg(x), x) }
