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
	family := r.Row().Family
	averaged := family == Average || family == Spread
	switch {
	case !t.Known():
		return nil, false
	case t.Short():
		return newWidened(r, t, dtype.Float32)
	case averaged && t.Kind() < dtype.KindFloat:
		return newWidened(r, t, dtype.Float64)
	case (averaged || r == Sum) && t.Kind() >= dtype.KindFloat:
		return newAverage(r, t, family == Spread), true
	}
	return plainFolders[t](r)
}

// newAverage makes the folders of sums, means and variances of floats.
func newAverage(r Reduction, t dtype.Type, spread bool) Folder {
	switch mean := r == Mean; {
	case t == dtype.Float32 && spread:
		return variance[float32]{r == Std}
	case t == dtype.Float32:
		return sum32{mean}
	case t == dtype.Float64 && spread:
		return variance[float64]{r == Std}
	case t == dtype.Float64:
		return sum64{mean}
	case t == dtype.Complex64 && spread:
		return pairVariance[float32]{pairs[float32]{part: variance[float32]{}}, r == Std}
	case t == dtype.Complex64:
		return pairs[float32]{sum32{mean}, mean}
	case spread:
		return pairVariance[float64]{pairs[float64]{part: variance[float64]{}}, r == Std}
	default:
		return pairs[float64]{sum64{mean}, mean}
	}
}

// plainFolders make the others.
var plainFolders = map[dtype.Type]func(Reduction) (Folder, bool){
	dtype.Bool: newBoolFolder,
	dtype.Int8: newIntFolder[int8], dtype.Int16: newIntFolder[int16], dtype.Int32: newIntFolder[int32], dtype.Int64: newIntFolder[int64],
	dtype.Uint8: newIntFolder[uint8], dtype.Uint16: newIntFolder[uint16], dtype.Uint32: newIntFolder[uint32], dtype.Uint64: newIntFolder[uint64],
	dtype.Float32: newFloatFolder[float32], dtype.Float64: newFloatFolder[float64],
	dtype.Complex64: newComplexFolder[complex64], dtype.Complex128: newComplexFolder[complex128],
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
