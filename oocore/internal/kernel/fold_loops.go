package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

// The loops below come in pairs: one folds a row into an accumulator, the
// other a row element by element into as many accumulators.

func addRow[A int64 | float64, T integer | float](acc A, x []T) A {
	for _, v := range x {
		acc += A(v)
	}
	return acc
}

func addInto[A int64 | float64, T integer | float](acc []A, x []T) {
	acc = acc[:len(x)]
	for i, v := range x {
		acc[i] += A(v)
	}
}

func mulRow[A int64 | float64, T integer | float](acc A, x []T) A {
	for _, v := range x {
		acc *= A(v)
	}
	return acc
}

func mulInto[A int64 | float64, T integer | float](acc []A, x []T) {
	acc = acc[:len(x)]
	for i, v := range x {
		acc[i] *= A(v)
	}
}

func mulComplexRow[T complexNumber](acc complex128, x []T) complex128 {
	for _, v := range x {
		acc *= complex128(v)
	}
	return acc
}

func mulComplexInto[T complexNumber](acc []complex128, x []T) {
	acc = acc[:len(x)]
	for i, v := range x {
		acc[i] *= complex128(v)
	}
}

// mergeProducts keeps empty products neutral: what is infinite times 1+0i has
// a part that is not a number.
func mergeProducts(dst, src []complex128) {
	for i, v := range src {
		switch {
		case dst[i] == 1:
			dst[i] = v
		case v != 1:
			dst[i] *= v
		}
	}
}

func minRow[T integer | float](acc T, x []T) T {
	for _, v := range x {
		if v < acc || v != v {
			acc = v
		}
	}
	return acc
}

func minInto[T integer | float](acc, x []T) {
	acc = acc[:len(x)]
	for i, v := range x {
		if v < acc[i] || v != v {
			acc[i] = v
		}
	}
}

func maxRow[T integer | float](acc T, x []T) T {
	for _, v := range x {
		if v > acc || v != v {
			acc = v
		}
	}
	return acc
}

func maxInto[T integer | float](acc, x []T) {
	acc = acc[:len(x)]
	for i, v := range x {
		if v > acc[i] || v != v {
			acc[i] = v
		}
	}
}

func countRow[T dtype.Element](acc int64, x []T) int64 {
	var zero T
	for _, v := range x {
		if v != zero {
			acc++
		}
	}
	return acc
}

func countInto[T dtype.Element](acc []int64, x []T) {
	var zero T
	acc = acc[:len(x)]
	for i, v := range x {
		if v != zero {
			acc[i]++
		}
	}
}

func anyRow[T dtype.Element](acc uint8, x []T) uint8 {
	var zero T
	if acc != 0 {
		return acc
	}
	for _, v := range x {
		if v != zero {
			return 1
		}
	}
	return 0
}

func anyInto[T dtype.Element](acc []uint8, x []T) {
	var zero T
	acc = acc[:len(x)]
	for i, v := range x {
		if v != zero {
			acc[i] = 1
		}
	}
}

func allRow[T dtype.Element](acc uint8, x []T) uint8 {
	var zero T
	if acc == 0 {
		return acc
	}
	for _, v := range x {
		if v == zero {
			return 0
		}
	}
	return 1
}

func allInto[T dtype.Element](acc []uint8, x []T) {
	var zero T
	acc = acc[:len(x)]
	for i, v := range x {
		if v == zero {
			acc[i] = 0
		}
	}
}
