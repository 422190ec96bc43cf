package kernel

import (
	"math"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// portableCast is Cast in plain Go; nil where a type is invalid.
func portableCast(from, to dtype.Type) Func {
	switch {
	case !from.Known() || !to.Known():
		return nil
	case from == dtype.Bool:
		return castBool(to)
	case from == to:
		return copyLoop(from.Size())
	}
	return plainCasts[from]()[to]
}

// plainCasts are the conversions in plain Go, by the types from which and to which.
var plainCasts = [...]func() []Func{
	dtype.Int8: sync.OnceValue(castInteger[int8]), dtype.Int16: sync.OnceValue(castInteger[int16]),
	dtype.Int32: sync.OnceValue(castInteger[int32]), dtype.Int64: sync.OnceValue(castInteger[int64]),
	dtype.Uint8: sync.OnceValue(castInteger[uint8]), dtype.Uint16: sync.OnceValue(castInteger[uint16]),
	dtype.Uint32: sync.OnceValue(castInteger[uint32]), dtype.Uint64: sync.OnceValue(castInteger[uint64]),
	dtype.Float16: sync.OnceValue(castShort[dtype.Float16Bits]), dtype.BFloat16: sync.OnceValue(castShort[dtype.BFloat16Bits]),
	dtype.Float32: sync.OnceValue(castFloat[float32]), dtype.Float64: sync.OnceValue(castFloat[float64]),
	dtype.Complex64: sync.OnceValue(castComplex[complex64, float32]), dtype.Complex128: sync.OnceValue(castComplex[complex128, float64]),
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

func castInteger[T integer]() []Func {
	return []Func{
		dtype.Bool: mapOne(func(x T) bool { return x != 0 }),
		dtype.Int8: convertLoop[T, int8], dtype.Int16: convertLoop[T, int16], dtype.Int32: convertLoop[T, int32], dtype.Int64: convertLoop[T, int64],
		dtype.Uint8: convertLoop[T, uint8], dtype.Uint16: convertLoop[T, uint16], dtype.Uint32: convertLoop[T, uint32], dtype.Uint64: convertLoop[T, uint64],
		dtype.Float16:  mapOne(func(x T) dtype.Float16Bits { return dtype.ToFloat16(float32(x)) }),
		dtype.BFloat16: mapOne(func(x T) dtype.BFloat16Bits { return dtype.ToBFloat16(float32(x)) }),
		dtype.Float32:  convertLoop[T, float32], dtype.Float64: convertLoop[T, float64],
		dtype.Complex64:  mapOne(func(x T) complex64 { return complex(float32(x), 0) }),
		dtype.Complex128: mapOne(func(x T) complex128 { return complex(float64(x), 0) }),
	}
}

func castFloat[T float]() []Func {
	all := castReal(func(x T) float64 { return float64(x) })
	all[dtype.Float32], all[dtype.Float64] = convertLoop[T, float32], convertLoop[T, float64]
	return all
}

// castShort differs from what is wider in what is no uint32, because NumPy takes
// other instructions.
func castShort[H interface {
	dtype.Float16Bits | dtype.BFloat16Bits
	Float32() float32
}]() []Func {
	all := castReal(func(x H) float64 { return float64(x.Float32()) })
	all[dtype.Uint32] = mapOne(func(x H) uint32 { return uint32(toInt64(float64(x.Float32()))) })
	return all
}

// castComplex drops the imaginary part, except of what only asks for non-zero.
func castComplex[C complexNumber, F float]() []Func {
	all := castReal(func(x [2]F) float64 { return float64(x[0]) })
	all[dtype.Bool] = mapOne(func(x C) bool { return x != 0 })
	all[dtype.Complex64] = mapOne(func(x C) complex64 { return complex64(x) })
	all[dtype.Complex128] = mapOne(func(x C) complex128 { return complex128(x) })
	return all
}

// castReal converts what a float64 holds exactly.
func castReal[T any](wide func(T) float64) []Func {
	return []Func{
		dtype.Bool:       mapOne(func(x T) bool { return wide(x) != 0 }),
		dtype.Int8:       mapOne(func(x T) int8 { return int8(toInt32(wide(x))) }),
		dtype.Int16:      mapOne(func(x T) int16 { return int16(toInt32(wide(x))) }),
		dtype.Int32:      mapOne(func(x T) int32 { return toInt32(wide(x)) }),
		dtype.Int64:      mapOne(func(x T) int64 { return toInt64(wide(x)) }),
		dtype.Uint8:      mapOne(func(x T) uint8 { return uint8(toInt32(wide(x))) }),
		dtype.Uint16:     mapOne(func(x T) uint16 { return uint16(toInt32(wide(x))) }),
		dtype.Uint32:     mapOne(func(x T) uint32 { return toUint32(wide(x)) }),
		dtype.Uint64:     mapOne(func(x T) uint64 { return toUint64(wide(x)) }),
		dtype.Float16:    mapOne(func(x T) dtype.Float16Bits { return dtype.ToFloat16(roundToOdd(wide(x))) }),
		dtype.BFloat16:   mapOne(func(x T) dtype.BFloat16Bits { return dtype.ToBFloat16(roundToOdd(wide(x))) }),
		dtype.Float32:    mapOne(func(x T) float32 { return float32(wide(x)) }),
		dtype.Float64:    mapOne(wide),
		dtype.Complex64:  mapOne(func(x T) complex64 { return complex(float32(wide(x)), 0) }),
		dtype.Complex128: mapOne(func(x T) complex128 { return complex(wide(x), 0) }),
	}
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
