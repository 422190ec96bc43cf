package order

import (
	"math"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Elements are brought to keys, unsigned integers that are ordered as NumPy orders the
// elements: numbers rise, NaN comes last, false before true. A key of a real type has
// the element's own size and gives the element back; a NaN comes back as the quiet one.

// word is a key of a real type.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// class is how the bits of a type become a key.
type class struct {
	kind     dtype.Kind
	sign     uint64 // its bit; 0 of unsigned integers
	infinite uint64 // bits of +Inf; of floats
	nan      uint64 // bits of the NaN that keys give back
	// zeros says that -0 and 0 are to have one key, which gives back 0.
	zeros bool
	flip  uint64 // all bits where the order is reversed
}

func classOf(t dtype.Type) class {
	sign := uint64(1) << (8*t.Size() - 1)
	switch t {
	case dtype.Bool:
		return class{kind: dtype.KindBool}
	case dtype.Float16:
		return class{kind: dtype.KindFloat, sign: sign, infinite: 0x7c00, nan: 0x7e00}
	case dtype.BFloat16:
		return class{kind: dtype.KindFloat, sign: sign, infinite: 0x7f80, nan: 0x7fc0}
	case dtype.Float32:
		return class{kind: dtype.KindFloat, sign: sign, infinite: 0x7f800000, nan: 0x7fc00000}
	case dtype.Float64:
		return class{kind: dtype.KindFloat, sign: sign, infinite: 0x7ff << 52, nan: 0x7ff8 << 48}
	}
	if t.Kind() == dtype.KindInt {
		return class{kind: dtype.KindInt, sign: sign}
	}
	return class{kind: dtype.KindUint}
}

// encode brings n elements, each a step behind the one before, to keys.
func encode[W word](c class, dst, src []W, at, step, n int) {
	sign, infinite, flip := W(c.sign), W(c.infinite), W(c.flip)
	dst = dst[:n]
	switch {
	case c.kind == dtype.KindBool:
		for i := range dst {
			u := src[at]
			if u != 0 {
				u = 1
			}
			dst[i] = u ^ flip
			at += step
		}
	case c.kind == dtype.KindFloat:
		top := (8*size[W]() - 1) & 63
		for i := range dst {
			u := src[at]
			if c.zeros && u == sign {
				u = 0
			}
			k := u ^ (-(u >> top) | sign) // ^u of negative numbers; signs follow no pattern, so no branch
			if u&^sign > infinite {
				k = ^W(0)
			}
			dst[i] = k ^ flip
			at += step
		}
	case step == 1:
		sign ^= flip
		for i, u := range src[at : at+n] {
			dst[i] = u ^ sign
		}
	default:
		sign ^= flip
		for i := range dst {
			dst[i] = src[at] ^ sign
			at += step
		}
	}
}

// decode is the elements of keys, each a step behind the one before. dst may be src
// where the step is 1.
func decode[W word](c class, dst []W, at, step int, src []W) {
	sign, nan, flip := W(c.sign), W(c.nan), W(c.flip)
	if c.kind != dtype.KindFloat {
		sign ^= flip
		for _, k := range src {
			dst[at] = k ^ sign
			at += step
		}
		return
	}
	top := (8*size[W]() - 1) & 63
	for _, k := range src {
		k ^= flip
		u := k ^ (k>>top - 1 | sign)
		if k == ^W(0) {
			u = nan
		}
		dst[at] = u
		at += step
	}
}

// size is the bytes of a key.
func size[W word]() int { var w W; return int(unsafe.Sizeof(w)) }

// Complex numbers are ordered by their real, then by their imaginary parts. Where a
// part is NaN the number comes after all that have none, and among such those with
// only an imaginary NaN first, each kind by its other part.

// keys32 is a complex64 as one number.
func keys32(re, im float32) uint64 {
	a, b := key32(re), key32(im)
	switch {
	case re != re && im != im:
		return math.MaxUint64
	case re != re:
		return 0xfffffffe<<32 | uint64(b)
	case im != im:
		return 0xfffffffd<<32 | uint64(a)
	}
	return uint64(a)<<32 | uint64(b)
}

// keys64 is a complex128 as two numbers.
func keys64(re, im float64) (uint64, uint64) {
	a, b := key64(re), key64(im)
	switch {
	case re != re && im != im:
		return math.MaxUint64, math.MaxUint64
	case re != re:
		return math.MaxUint64 - 1, b
	case im != im:
		return math.MaxUint64 - 2, a
	}
	return a, b
}

// key32 is the key of a number that is not NaN; -0 and 0 have one.
func key32(f float32) uint32 {
	u := math.Float32bits(f)
	if f == 0 {
		u = 0
	}
	if u>>31 != 0 {
		return ^u
	}
	return u | 1<<31
}

func key64(f float64) uint64 {
	u := math.Float64bits(f)
	if f == 0 {
		u = 0
	}
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}
