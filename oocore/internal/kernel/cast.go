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
	case from.StorageOnly():
		return fromFloat8(from, to)
	case to.StorageOnly():
		return toFloat8(from, to)
	case from == dtype.Float16 && to == dtype.BFloat16, from == dtype.BFloat16 && to == dtype.Float16:
		return castShorts(from, to)
	}
	return plainCasts[from]()[to]
}

// plainCasts are the conversions in plain Go, by the types from which and to which.
var plainCasts = map[dtype.Type]func() map[dtype.Type]Func{
	dtype.Int8: sync.OnceValue(castInteger[int8]), dtype.Int16: sync.OnceValue(castInteger[int16]),
	dtype.Int32: sync.OnceValue(castInteger[int32]), dtype.Int64: sync.OnceValue(castInteger[int64]),
	dtype.Uint8: sync.OnceValue(castInteger[uint8]), dtype.Uint16: sync.OnceValue(castInteger[uint16]),
	dtype.Uint32: sync.OnceValue(castInteger[uint32]), dtype.Uint64: sync.OnceValue(castInteger[uint64]),
	dtype.Float16: sync.OnceValue(castShort[dtype.Float16Bits]), dtype.BFloat16: sync.OnceValue(castShort[dtype.BFloat16Bits]),
	dtype.Float32: sync.OnceValue(castFloat[float32]), dtype.Float64: sync.OnceValue(castFloat[float64]),
	dtype.Complex64: sync.OnceValue(castComplex[complex64, float32]), dtype.Complex128: sync.OnceValue(castComplex[complex128, float64]),
}

// via is two conversions, by way of blocks of another type. The sizes are those of the three.
func via(first, second Func, from, between, to int) Func {
	return func(n int, dst, a, _, _ []byte) {
		var block [256]float32
		for at := 0; at < n; at += len(block) {
			k := min(len(block), n-at)
			b := dtype.Bytes(block[:])[:k*between]
			first(k, b, a[at*from:], nil, nil)
			second(k, dst[at*to:], b, nil, nil)
		}
	}
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
	return via(castBool(dtype.Bool), one, 1, 1, to.Size())
}

// float8Values are those of every code.
var float8Values = sync.OnceValue(func() map[dtype.Type]*[256]float32 {
	all := map[dtype.Type]*[256]float32{}
	for _, t := range dtype.Stored() {
		if t.StorageOnly() {
			all[t] = new([256]float32)
			for code := range all[t] {
				all[t][code] = dtype.Float8(t, uint8(code))
			}
		}
	}
	return all
})

// fromFloat8 looks each code up. float32 holds every value.
func fromFloat8(from, to dtype.Type) Func {
	values := float8Values()[from]
	narrow, ok := Cast(dtype.Float32, to)
	if !ok {
		return nil
	}
	table := make([]byte, len(values)*to.Size())
	narrow(len(values), table, dtype.Bytes(values[:]), nil, nil)
	switch to.Size() {
	case 1:
		return lookUp[uint8](table)
	case 2:
		return lookUp[uint16](table)
	case 4:
		return lookUp[uint32](table)
	case 8:
		return lookUp[uint64](table)
	}
	return lookUp[complex128](table)
}

// lookUp has bytes of T for each code.
func lookUp[T any](table []byte) Func {
	values := [256]T(view[T](table, 256))
	return func(n int, dst, a, _, _ []byte) {
		d := view[T](dst, n)
		for i, code := range a[:n] {
			d[i] = values[code]
		}
	}
}

// toFloat8 goes through float32, to which a float64 is rounded to odd, so that it is rounded once.
func toFloat8(from, to dtype.Type) Func {
	if from == dtype.Float32 {
		return func(n int, dst, a, _, _ []byte) { dtype.ToFloat8s(to, dst[:n], view[float32](a, n)) }
	}
	round, _ := Cast(dtype.Float32, to)
	widen, ok := Cast(from, dtype.Float32)
	switch from {
	case dtype.Float64:
		widen = mapOne(roundToOdd)
	case dtype.Complex128:
		widen = mapOne(func(x [2]float64) float32 { return roundToOdd(x[0]) })
	}
	if !ok {
		return nil
	}
	return via(widen, round, from.Size(), 4, 1)
}

// castShorts goes from a float of 16 bits to the other through float32, which holds every value.
func castShorts(from, to dtype.Type) Func {
	widen, ok := Cast(from, dtype.Float32)
	narrow, too := Cast(dtype.Float32, to)
	if !ok || !too {
		return nil
	}
	return via(widen, narrow, 2, 4, 2)
}

func castInteger[T integer]() map[dtype.Type]Func {
	return map[dtype.Type]Func{
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

func castFloat[T float]() map[dtype.Type]Func {
	all := castReal(func(x T) float64 { return float64(x) })
	all[dtype.Float32], all[dtype.Float64] = convertLoop[T, float32], convertLoop[T, float64]
	return all
}

// castShort differs from what is wider in what is no uint32, because NumPy takes
// other instructions.
func castShort[H interface {
	dtype.Float16Bits | dtype.BFloat16Bits
	Float32() float32
}]() map[dtype.Type]Func {
	all := castReal(func(x H) float64 { return float64(x.Float32()) })
	all[dtype.Uint32] = mapOne(func(x H) uint32 { return uint32(toInt64(float64(x.Float32()))) })
	return all
}

// castComplex drops the imaginary part, except of what only asks for non-zero.
func castComplex[C complexNumber, F float]() map[dtype.Type]Func {
	all := castReal(func(x [2]F) float64 { return float64(x[0]) })
	all[dtype.Bool] = mapOne(func(x C) bool { return x != 0 })
	all[dtype.Complex64] = mapOne(func(x C) complex64 { return complex64(x) })
	all[dtype.Complex128] = mapOne(func(x C) complex128 { return complex128(x) })
	return all
}

// castReal converts what a float64 holds exactly.
func castReal[T any](wide func(T) float64) map[dtype.Type]Func {
	return map[dtype.Type]Func{
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
