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
