package kernel

import (
	"math"
	"unsafe"
)

// floatLoops are those of formulas, which stand second for float32, and those here.
func floatLoops[T float]() []Func {
	var z T
	size := int(unsafe.Sizeof(z))
	all := []Func{
		FloorDivide: mapPairs(floorDivideFloat[T]), Remainder: mapPairs(remainderFloat[T]),
		Real: copyLoop(size), Imag: constantLoop[T](0), Conjugate: copyLoop(size),
	}
	if size == 4 {
		all[FloorDivide], all[Remainder] = mapPairs(floorDivideSingle), mapPairs(remainderSingle)
	}
	all = append(all, make([]Func, len(rows)-len(all))...)
	for op, f := range formulaLoops {
		if f[0] != nil {
			all[op] = f[2-size/4]
		}
	}
	return all
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
