package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

// conversion is the conversion that a widened folder needs.
func conversion(from, to dtype.Type) (Func, bool) {
	switch {
	case from == dtype.Float16 && to == dtype.Float32:
		return each(dtype.Float16Bits.Float32), true
	case from == dtype.BFloat16 && to == dtype.Float32:
		return each(dtype.BFloat16Bits.Float32), true
	case from == dtype.Float32 && to == dtype.Float16:
		return each(dtype.ToFloat16), true
	case from == dtype.Float32 && to == dtype.BFloat16:
		return each(dtype.ToBFloat16), true
	case to != dtype.Float64:
		return nil, false
	}
	switch from {
	case dtype.Bool:
		return each(func(v uint8) float64 {
			if v != 0 {
				return 1
			}
			return 0
		}), true
	case dtype.Int8:
		return toFloat64[int8], true
	case dtype.Int16:
		return toFloat64[int16], true
	case dtype.Int32:
		return toFloat64[int32], true
	case dtype.Int64:
		return toFloat64[int64], true
	case dtype.Uint8:
		return toFloat64[uint8], true
	case dtype.Uint16:
		return toFloat64[uint16], true
	case dtype.Uint32:
		return toFloat64[uint32], true
	case dtype.Uint64:
		return toFloat64[uint64], true
	}
	return nil, false
}

func each[T, U any](f func(T) U) Func {
	return func(n int, dst, a, _, _ []byte) {
		out := view[U](dst, n)
		for i, v := range view[T](a, n) {
			out[i] = f(v)
		}
	}
}

func toFloat64[T integer](n int, dst, a, _, _ []byte) {
	out := view[float64](dst, n)
	for i, v := range view[T](a, n) {
		out[i] = float64(v)
	}
}
