package kernel

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// portableCast is Cast in plain Go; nil where a type is invalid.
func portableCast(from, to dtype.Type) Func {
	if from == to && from != dtype.Bool {
		return copyLoop(from.Size())
	}
	switch from {
	case dtype.Bool:
		return castBool(to)
	case dtype.Int8:
		return castInteger[int8](to)
	case dtype.Int16:
		return castInteger[int16](to)
	case dtype.Int32:
		return castInteger[int32](to)
	case dtype.Int64:
		return castInteger[int64](to)
	case dtype.Uint8:
		return castInteger[uint8](to)
	case dtype.Uint16:
		return castInteger[uint16](to)
	case dtype.Uint32:
		return castInteger[uint32](to)
	case dtype.Uint64:
		return castInteger[uint64](to)
	case dtype.Float16:
		return castShort(to, dtype.Float16Bits.Float32)
	case dtype.BFloat16:
		return castShort(to, dtype.BFloat16Bits.Float32)
	case dtype.Float32:
		return castFloat[float32](to)
	case dtype.Float64:
		return castFloat[float64](to)
	case dtype.Complex64:
		return castComplex[complex64, float32](to)
	case dtype.Complex128:
		return castComplex[complex128, float64](to)
	}
	return nil
}

// castBool goes through bytes of 0 or 1, whatever non-zero byte a file holds.
func castBool(to dtype.Type) Func {
	if to == dtype.Bool {
		return mapOne(func(x uint8) bool { return x != 0 })
	}
	one, ok := Cast(dtype.Uint8, to)
	if !ok {
		return nil
	}
	return func(n int, dst, a, _, _ []byte) {
		var block [256]byte
		for at := 0; at < n; at += len(block) {
			k := min(len(block), n-at)
			for i, x := range a[at : at+k] {
				block[i] = 0
				if x != 0 {
					block[i] = 1
				}
			}
			one(k, dst[at*to.Size():], block[:], nil, nil)
		}
	}
}

func castInteger[T integer](to dtype.Type) Func {
	switch to {
	case dtype.Bool:
		return mapOne(func(x T) bool { return x != 0 })
	case dtype.Int8:
		return convertLoop[T, int8]
	case dtype.Int16:
		return convertLoop[T, int16]
	case dtype.Int32:
		return convertLoop[T, int32]
	case dtype.Int64:
		return convertLoop[T, int64]
	case dtype.Uint8:
		return convertLoop[T, uint8]
	case dtype.Uint16:
		return convertLoop[T, uint16]
	case dtype.Uint32:
		return convertLoop[T, uint32]
	case dtype.Uint64:
		return convertLoop[T, uint64]
	case dtype.Float16:
		return mapOne(func(x T) dtype.Float16Bits { return dtype.ToFloat16(float32(x)) })
	case dtype.BFloat16:
		return mapOne(func(x T) dtype.BFloat16Bits { return dtype.ToBFloat16(float32(x)) })
	case dtype.Float32:
		return convertLoop[T, float32]
	case dtype.Float64:
		return convertLoop[T, float64]
	case dtype.Complex64:
		return mapOne(func(x T) complex64 { return complex(float32(x), 0) })
	case dtype.Complex128:
		return mapOne(func(x T) complex128 { return complex(float64(x), 0) })
	}
	return nil
}

func castFloat[T float](to dtype.Type) Func {
	switch to {
	case dtype.Float32:
		return convertLoop[T, float32]
	case dtype.Float64:
		return convertLoop[T, float64]
	}
	return castReal(to, func(x T) float64 { return float64(x) })
}

// castShort differs from what is wider in what is no uint32, because NumPy takes
// other instructions.
func castShort[H dtype.Float16Bits | dtype.BFloat16Bits](to dtype.Type, widen func(H) float32) Func {
	if to == dtype.Uint32 {
		return mapOne(func(x H) uint32 { return uint32(toInt64(float64(widen(x)))) })
	}
	return castReal(to, func(x H) float64 { return float64(widen(x)) })
}

// castComplex drops the imaginary part, except of what only asks for non-zero.
func castComplex[C complexNumber, F float](to dtype.Type) Func {
	switch to {
	case dtype.Bool:
		return mapOne(func(x C) bool { return x != 0 })
	case dtype.Complex64:
		return mapOne(func(x C) complex64 { return complex64(x) })
	case dtype.Complex128:
		return mapOne(func(x C) complex128 { return complex128(x) })
	}
	return castReal(to, func(x [2]F) float64 { return float64(x[0]) })
}

// castReal converts what a float64 holds exactly.
func castReal[T any](to dtype.Type, wide func(T) float64) Func {
	switch to {
	case dtype.Bool:
		return mapOne(func(x T) bool { return wide(x) != 0 })
	case dtype.Int8:
		return mapOne(func(x T) int8 { return int8(toInt32(wide(x))) })
	case dtype.Int16:
		return mapOne(func(x T) int16 { return int16(toInt32(wide(x))) })
	case dtype.Int32:
		return mapOne(func(x T) int32 { return toInt32(wide(x)) })
	case dtype.Int64:
		return mapOne(func(x T) int64 { return toInt64(wide(x)) })
	case dtype.Uint8:
		return mapOne(func(x T) uint8 { return uint8(toInt32(wide(x))) })
	case dtype.Uint16:
		return mapOne(func(x T) uint16 { return uint16(toInt32(wide(x))) })
	case dtype.Uint32:
		return mapOne(func(x T) uint32 { return toUint32(wide(x)) })
	case dtype.Uint64:
		return mapOne(func(x T) uint64 { return toUint64(wide(x)) })
	case dtype.Float16:
		return mapOne(func(x T) dtype.Float16Bits { return dtype.ToFloat16(roundToOdd(wide(x))) })
	case dtype.BFloat16:
		return mapOne(func(x T) dtype.BFloat16Bits { return dtype.ToBFloat16(roundToOdd(wide(x))) })
	case dtype.Float32:
		return mapOne(func(x T) float32 { return float32(wide(x)) })
	case dtype.Float64:
		return mapOne(wide)
	case dtype.Complex64:
		return mapOne(func(x T) complex64 { return complex(float32(wide(x)), 0) })
	case dtype.Complex128:
		return mapOne(func(x T) complex128 { return complex(wide(x), 0) })
	}
	return nil
}

// The conversions of x86-64, spelt out because Go leaves to the processor what
// an integer cannot hold. Those to narrower integers keep the low bits of an
// int32.

func toInt32(x float64) int32 {
	if x > math.MinInt32-1 && x < math.MaxInt32+1 {
		return int32(x)
	}
	return math.MinInt32
}

func toInt64(x float64) int64 {
	if x >= math.MinInt64 && x < -math.MinInt64 {
		return int64(x)
	}
	return math.MinInt64
}

func toUint32(x float64) uint32 {
	if x >= 1<<31 {
		return uint32(toInt32(x-1<<31)) ^ 1<<31
	}
	return uint32(toInt32(x))
}

func toUint64(x float64) uint64 {
	if x >= 1<<63 {
		return uint64(toInt64(x-1<<63)) ^ 1<<63
	}
	return uint64(toInt64(x))
}

// roundToOdd shortens x such that rounding it again to fewer bits gives what
// rounding x at once would have given: a bit lost leaves the last place odd.
func roundToOdd(x float64) float32 {
	f := float32(x)
	if d := float64(f); d != x && d-d == 0 {
		u := math.Float32bits(f)
		if math.Abs(d) > math.Abs(x) {
			u--
		}
		return math.Float32frombits(u | 1)
	}
	return f
}
