package kernel

import "unsafe"

// signedLoops are those of signed integers.
func signedLoops[T signed]() []Func {
	all := integerLoops[T]()
	all[FloorDivide] = mapPairs(floorDivideSigned[T])
	all[Remainder] = mapPairs(remainderSigned[T])
	all[Power] = mapPairs(powerSigned[T])
	all[Absolute] = mapOne(func(x T) T { return choose(x < 0, -x, x) })
	all[Sign] = mapOne(func(x T) T { return choose(x < 0, -1, min(x, 1)) })
	all[RightShift] = mapPairs(func(x, y T) T { return x >> uint64(y) }) // a negative count is a huge one
	return all
}

// integerLoops are those of unsigned integers, and what signed ones share with them. Sums and
// products wrap around.
func integerLoops[T integer]() []Func {
	var z T
	least, most := mapPairs(func(x, y T) T { return min(x, y) }), mapPairs(func(x, y T) T { return max(x, y) })
	same, never := copyLoop(int(unsafe.Sizeof(z))), constantLoop(false)
	return []Func{
		Add: addLoop[T], Subtract: subtractLoop[T], Multiply: multiplyLoop[T], Negative: negativeLoop[T], Square: squareLoop[T],
		FloorDivide: mapPairs(func(x, y T) T {
			if y == 0 {
				return 0
			}
			return x / y
		}),
		Remainder: mapPairs(func(x, y T) T {
			if y == 0 {
				return 0
			}
			return x % y
		}),
		Power:   mapPairs(powerBySquaring[T]),
		Minimum: least, Fmin: least, Maximum: most, Fmax: most,
		BitAnd:     mapPairs(func(x, y T) T { return x & y }),
		BitOr:      mapPairs(func(x, y T) T { return x | y }),
		BitXor:     mapPairs(func(x, y T) T { return x ^ y }),
		LeftShift:  mapPairs(func(x, y T) T { return x << uint64(y) }),
		RightShift: mapPairs(func(x, y T) T { return x >> uint64(y) }),
		Invert:     mapOne(func(x T) T { return ^x }),
		Reciprocal: mapOne(reciprocalInteger[T]),
		Sign:       mapOne(func(x T) T { return min(x, 1) }),
		Absolute:   same, Floor: same, Ceil: same, Trunc: same, Real: same, Conjugate: same,
		Imag: constantLoop[T](0), IsFinite: constantLoop(true), IsNaN: never, IsInf: never,
		Equal:        mapPairs(func(x, y T) bool { return x == y }),
		NotEqual:     mapPairs(func(x, y T) bool { return x != y }),
		Less:         mapPairs(func(x, y T) bool { return x < y }),
		LessEqual:    mapPairs(func(x, y T) bool { return x <= y }),
		Greater:      mapPairs(func(x, y T) bool { return x > y }),
		GreaterEqual: mapPairs(func(x, y T) bool { return x >= y }),
	}
}

// floorDivideSigned rounds towards minus infinity; by zero it is zero, and the
// lowest value by -1 wraps around to itself.
func floorDivideSigned[T signed](x, y T) T {
	if y == 0 {
		return 0
	}
	q := x / y
	if q*y != x && (x < 0) != (y < 0) {
		q--
	}
	return q
}

// remainderSigned has the sign of the divisor; by zero it is zero.
func remainderSigned[T signed](x, y T) T {
	if y == 0 {
		return 0
	}
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

func powerSigned[T signed](x, y T) T {
	if y >= 0 {
		return powerBySquaring(x, y)
	}
	switch x {
	case 1:
		return 1
	case -1:
		return 1 - 2*(y&1)
	}
	return 0
}

func powerBySquaring[T integer](x, y T) T {
	p := T(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

// reciprocalInteger is 1/x without its fraction; of zero it is what NumPy's
// conversion of an infinity gives.
func reciprocalInteger[T integer](x T) T {
	if x == 0 {
		switch any(x).(type) {
		case int32, int64:
			return 1 << (8*unsafe.Sizeof(x) - 1)
		}
		return 0
	}
	return 1 / x
}
