package kernel

import "math/bits"

// The sets of types that share arithmetic, beyond those of the reductions.
type (
	signed interface{ int8 | int16 | int32 | int64 }
	scalar interface{ integer | float }
	number interface{ scalar | complexNumber }
)

// mapOne returns the loop that applies f to each element. The call of f is not inlined: loops whose
// function is a single instruction are written out below instead.
func mapOne[T, U any](f func(T) U) Func {
	return func(n int, dst, a, _, _ []byte) {
		d, x := view[U](dst, n), view[T](a, n)
		for i := range d {
			d[i] = f(x[i])
		}
	}
}

// mapPairs applies f to each pair of elements.
func mapPairs[T, U any](f func(x, y T) U) Func {
	return func(n int, dst, a, b, _ []byte) {
		d, x, y := view[U](dst, n), view[T](a, n), view[T](b, n)
		for i := range d {
			d[i] = f(x[i], y[i])
		}
	}
}

func addLoop[T number](n int, dst, a, b, _ []byte) {
	d, x, y := view[T](dst, n), view[T](a, n), view[T](b, n)
	for i := range d {
		d[i] = x[i] + y[i]
	}
}

func subtractLoop[T number](n int, dst, a, b, _ []byte) {
	d, x, y := view[T](dst, n), view[T](a, n), view[T](b, n)
	for i := range d {
		d[i] = x[i] - y[i]
	}
}

func multiplyLoop[T scalar](n int, dst, a, b, _ []byte) {
	d, x, y := view[T](dst, n), view[T](a, n), view[T](b, n)
	for i := range d {
		d[i] = x[i] * y[i]
	}
}

func negativeLoop[T number](n int, dst, a, _, _ []byte) {
	d, x := view[T](dst, n), view[T](a, n)
	for i := range d {
		d[i] = -x[i]
	}
}

func squareLoop[T scalar](n int, dst, a, _, _ []byte) {
	d, x := view[T](dst, n), view[T](a, n)
	for i := range d {
		d[i] = x[i] * x[i]
	}
}

// convertLoop is Go's conversion, for pairs of types where it is defined.
func convertLoop[T, U scalar](n int, dst, a, _, _ []byte) {
	d, x := view[U](dst, n), view[T](a, n)
	for i := range d {
		d[i] = U(x[i])
	}
}

// copyLoop is the identity of elements of a size.
func copyLoop(size int) Func {
	return func(n int, dst, a, _, _ []byte) { copy(dst[:n*size], a[:n*size]) }
}

// constantLoop sets every element to v, whatever the operand is.
func constantLoop[T any](v T) Func {
	return func(n int, dst, _, _, _ []byte) {
		d := view[T](dst, n)
		for i := range d {
			d[i] = v
		}
	}
}

// whereLoop chooses between elements of a size; their type is of no concern.
func whereLoop(size int) Func {
	return BySize(size, chooseLoop[uint8], chooseLoop[uint16], chooseLoop[uint32], chooseLoop[uint64], chooseLoop[complex128])
}

func chooseLoop[T any](n int, dst, a, b, c []byte) {
	d, mask, x, y := view[T](dst, n), a[:n], view[T](b, n), view[T](c, n)
	for i, m := range mask {
		if m != 0 {
			d[i] = x[i]
		} else {
			d[i] = y[i]
		}
	}
}

// BySize returns what there is for elements of so many bytes: 1, 2, 4, 8 and, where that is given,
// 16, in this order.
func BySize[F any](bytes int, of ...F) F { return of[bits.TrailingZeros(uint(bytes))] }

// boolLoops are those of bools. They are read as bytes, any of which but 0 is true, since a
// file may hold such, and written as 0 or 1.
func boolLoops() []Func {
	or := ofBools(func(x, y bool) bool { return x || y })
	and := ofBools(func(x, y bool) bool { return x && y })
	xor := ofBools(func(x, y bool) bool { return x != y })
	not := mapOne(func(x uint8) bool { return x == 0 })
	truth := mapOne(func(x uint8) bool { return x != 0 })
	never := constantLoop(false)
	return []Func{
		Add: or, Maximum: or, Fmax: or, LogicalOr: or, BitOr: or,
		Multiply: and, Minimum: and, Fmin: and, LogicalAnd: and, BitAnd: and,
		LogicalXor: xor, BitXor: xor, NotEqual: xor,
		Equal:        ofBools(func(x, y bool) bool { return x == y }),
		Less:         ofBools(func(x, y bool) bool { return !x && y }),
		LessEqual:    ofBools(func(x, y bool) bool { return !x || y }),
		Greater:      ofBools(func(x, y bool) bool { return x && !y }),
		GreaterEqual: ofBools(func(x, y bool) bool { return x || !y }),
		LogicalNot:   not, Invert: not,
		Absolute: truth, Floor: truth, Ceil: truth, Trunc: truth, Real: truth,
		IsFinite: constantLoop(true), IsNaN: never, IsInf: never, Imag: never,
	}
}

func ofBools(f func(x, y bool) bool) Func {
	return mapPairs(func(x, y uint8) bool { return f(x != 0, y != 0) })
}
