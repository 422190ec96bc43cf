package kernel

import (
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// NewFolder returns the folder of a reduction of elements of type t, and false
// where NumPy has none.
//
// Sums and products of integers wrap in 64 bits; those of 16- and 32-bit floats
// are kept in float64, and those of float64 in a pair of float64 that carries
// the rounding errors. Means of integers are of float64. A variance is kept as
// count, mean and sum of squared deviations: each call's elements are first
// averaged, then their deviations squared, and the three are joined by Chan's
// formula, so that a large mean costs no precision. NaN spreads through every
// reduction but any, all and count_nonzero, where it counts as true; argmin and
// argmax give the first NaN where there is one, else the first extreme.
func NewFolder(r Reduction, t dtype.Type) (Folder, bool) {
	if t.Short() {
		return newWidened(r, t, dtype.Float32)
	}
	averaged := r == Mean || r == Var || r == Std
	switch t {
	case dtype.Bool:
		if averaged {
			return newWidened(r, t, dtype.Float64)
		}
		return newBoolFolder(r)
	case dtype.Float32:
		switch r {
		case Sum, Mean:
			return sum32{mean: r == Mean}, true
		case Var, Std:
			return variance[float32]{r == Std}, true
		}
		return newFloatFolder[float32](r)
	case dtype.Float64:
		switch r {
		case Sum, Mean:
			return sum64{mean: r == Mean}, true
		case Var, Std:
			return variance[float64]{r == Std}, true
		}
		return newFloatFolder[float64](r)
	case dtype.Complex64:
		switch r {
		case Sum, Mean:
			return pairs[float32]{sum32{mean: r == Mean}, r == Mean}, true
		case Var, Std:
			return pairVariance[float32]{pairs[float32]{part: variance[float32]{}}, r == Std}, true
		}
		return newComplexFolder[complex64](r)
	case dtype.Complex128:
		switch r {
		case Sum, Mean:
			return pairs[float64]{sum64{mean: r == Mean}, r == Mean}, true
		case Var, Std:
			return pairVariance[float64]{pairs[float64]{part: variance[float64]{}}, r == Std}, true
		}
		return newComplexFolder[complex128](r)
	}
	if averaged {
		return newWidened(r, t, dtype.Float64)
	}
	switch t {
	case dtype.Int8:
		return newIntFolder[int8](r)
	case dtype.Int16:
		return newIntFolder[int16](r)
	case dtype.Int32:
		return newIntFolder[int32](r)
	case dtype.Int64:
		return newIntFolder[int64](r)
	case dtype.Uint8:
		return newIntFolder[uint8](r)
	case dtype.Uint16:
		return newIntFolder[uint16](r)
	case dtype.Uint32:
		return newIntFolder[uint32](r)
	case dtype.Uint64:
		return newIntFolder[uint64](r)
	}
	return nil, false
}

// The sets of types that share arithmetic.
type (
	integer interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	float         interface{ float32 | float64 }
	complexNumber interface{ complex64 | complex128 }
)

// view is the n elements at the beginning of b. Unlike dtype.Slice it takes
// types that are no array's elements.
func view[T any](b []byte, n int) []T {
	if n == 0 {
		return nil
	}
	var z T
	_ = b[n*int(unsafe.Sizeof(z))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
