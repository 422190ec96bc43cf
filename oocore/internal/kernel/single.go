package kernel

import "math"

// quotientBits bounds the quotients whose whole part a float64 division gives.
// Unless it is whole, x/y of two float32 is farther than 2⁻²⁴ from any whole
// number, and a float64 below 2²² is rounded by less than 2⁻³¹.
const quotientBits = 22

// quotient is x/y where its floor can be trusted: not where it is large, nor
// where it has become zero of an x that is not.
func quotient(x, y float32) (q float64, ok bool) {
	q = float64(x) / float64(y)
	return q, math.Abs(q) < 1<<quotientBits && (q != 0 || x == 0)
}

func floorDivideSingle(x, y float32) float32 {
	q, ok := quotient(x, y)
	if !ok {
		return floorDivideFloat(x, y)
	}
	if w := math.Floor(q); w != 0 {
		return float32(w)
	}
	return float32(math.Copysign(0, q))
}

func remainderSingle(x, y float32) float32 {
	q, ok := quotient(x, y)
	if !ok {
		return remainderFloat(x, y)
	}
	var r float32
	switch w := math.Floor(q); {
	case w == 0:
		r = x
	case math.Abs(q) < 1: // of the other sign, and rounded once
		return x + y
	default:
		r = float32(float64(x) - w*float64(y)) // the product and the difference are exact
	}
	if r == 0 {
		return copysign(0, y)
	}
	return r
}

// power is x to the power of y.
func power(x, y float64) float64 {
	v, rare := formulaPowerFloat64(x, y)
	switch {
	case !rare:
		return v
	case x == 0, x == 1, y == 0, x-x != 0, y-y != 0:
		return math.Pow(x, y) // by definition, not by computation
	case x > 0:
		return formulaPowerWide(x, y)
	case y != math.Trunc(y):
		return math.NaN()
	case math.Abs(y) < 1<<53 && int64(y)&1 != 0:
		return -formulaPowerWide(-x, y)
	}
	return formulaPowerWide(-x, y)
}
