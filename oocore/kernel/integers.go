package kernel

import "unsafe"

// signedLoop is the loop of an operation on signed integers.
func signedLoop[T signed](op Op) Func {
	switch op {
	case FloorDivide:
		return mapPairs(floorDivideSigned[T])
	case Remainder:
		return mapPairs(remainderSigned[T])
	case Power:
		return mapPairs(powerSigned[T])
	case Absolute:
		return mapOne(func(x T) T {
			if x < 0 {
				return -x
			}
			return x
		})
	case Sign:
		return mapOne(func(x T) T {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return 0
		})
	case RightShift:
		return mapPairs(func(x, y T) T { return x >> uint64(y) }) // a negative count is a huge one
	}
	return integerLoop[T](op)
}

// integerLoop is the loop of an operation on unsigned integers, and of what
// signed ones share with them. Sums and products wrap around.
func integerLoop[T integer](op Op) Func {
	switch op {
	case Add:
		return addLoop[T]
	case Subtract:
		return subtractLoop[T]
	case Multiply:
		return multiplyLoop[T]
	case FloorDivide:
		return mapPairs(func(x, y T) T {
			if y == 0 {
				return 0
			}
			return x / y
		})
	case Remainder:
		return mapPairs(func(x, y T) T {
			if y == 0 {
				return 0
			}
			return x % y
		})
	case Power:
		return mapPairs(powerBySquaring[T])
	case Minimum, Fmin:
		return mapPairs(func(x, y T) T { return min(x, y) })
	case Maximum, Fmax:
		return mapPairs(func(x, y T) T { return max(x, y) })
	case BitAnd:
		return mapPairs(func(x, y T) T { return x & y })
	case BitOr:
		return mapPairs(func(x, y T) T { return x | y })
	case BitXor:
		return mapPairs(func(x, y T) T { return x ^ y })
	case LeftShift:
		return mapPairs(func(x, y T) T { return x << uint64(y) })
	case RightShift:
		return mapPairs(func(x, y T) T { return x >> uint64(y) })
	case Negative:
		return negativeLoop[T]
	case Square:
		return squareLoop[T]
	case Reciprocal:
		return mapOne(reciprocalInteger[T])
	case Sign:
		return mapOne(func(x T) T { return min(x, 1) })
	case Invert:
		return mapOne(func(x T) T { return ^x })
	case Absolute, Floor, Ceil, Trunc, Real, Conjugate:
		var z T
		return copyLoop(int(unsafe.Sizeof(z)))
	case Imag:
		return constantLoop[T](0)
	case IsFinite:
		return constantLoop(true)
	case IsNaN, IsInf:
		return constantLoop(false)
	}
	return compareLoop[T](op)
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
