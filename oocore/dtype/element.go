package dtype

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"
)

// Float16Bits is an IEEE 754 half-precision number in its bits.
type Float16Bits uint16

// BFloat16Bits is the upper half of a float32 in its bits.
type BFloat16Bits uint16

// Float8E4M3FNBits and Float8E5M2Bits are floats of 8 bits in their bits.
type (
	Float8E4M3FNBits uint8
	Float8E5M2Bits   uint8
)

// Element is a Go type that an array's elements can have: these, Float16Bits and the like, and
// types that a program has made of them. int and uint are Int64 and Uint64.
type Element interface {
	~bool | ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Of returns the Type of a Go element type.
func Of[T Element]() Type {
	switch any(*new(T)).(type) {
	case Float16Bits:
		return Float16
	case BFloat16Bits:
		return BFloat16
	case Float8E4M3FNBits:
		return Float8E4M3FN
	case Float8E5M2Bits:
		return Float8E5M2
	}
	return ofKind[reflect.TypeFor[T]().Kind()]
}

var ofKind = [...]Type{
	reflect.Bool: Bool,
	reflect.Int:  Int64, reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint: Uint64, reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Float32: Float32, reflect.Float64: Float64, reflect.Complex64: Complex64, reflect.Complex128: Complex128,
}

// Slice views bytes as elements without copying. The bytes must be aligned to
// the element, as all of the arena's are.
func Slice[T Element](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Bytes views elements as bytes without copying.
func Bytes[T Element](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// Value is one element with its type: the bits of its little-endian bytes, so
// that NaN payloads and infinities survive encoding.
type Value struct {
	Type   Type   `json:"type"`
	Lo, Hi uint64 `json:",omitempty"`
}

// ValueOf boxes one element.
func ValueOf[T Element](v T) Value {
	var b [16]byte
	copy(b[:], Bytes([]T{v}))
	return Value{Of[T](), binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// Put writes the element's Size bytes.
func (v Value) Put(dst []byte) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], v.Lo)
	binary.LittleEndian.PutUint64(b[8:], v.Hi)
	copy(dst[:v.Type.Size()], b[:])
}

// Float returns the value as a float64; the real part of a complex one.
func (v Value) Float() float64 {
	switch v.Type {
	case Bool, Uint8, Uint16, Uint32, Uint64:
		return float64(v.Lo)
	case Int8:
		return float64(int8(v.Lo))
	case Int16:
		return float64(int16(v.Lo))
	case Int32:
		return float64(int32(v.Lo))
	case Int64:
		return float64(int64(v.Lo))
	case Float16:
		return float64(Float16Bits(v.Lo).Float32())
	case BFloat16:
		return float64(BFloat16Bits(v.Lo).Float32())
	case Float8E4M3FN, Float8E5M2:
		return float64(Float8(v.Type, uint8(v.Lo)))
	case Float32, Complex64:
		return float64(math.Float32frombits(uint32(v.Lo)))
	default:
		return math.Float64frombits(v.Lo)
	}
}

// Float32 widens a bfloat16 exactly.
func (b BFloat16Bits) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// Float32 widens a float of 8 bits exactly.
func (b Float8E4M3FNBits) Float32() float32 { return Float8(Float8E4M3FN, uint8(b)) }

// Float32 widens a float of 8 bits exactly.
func (b Float8E5M2Bits) Float32() float32 { return Float8(Float8E5M2, uint8(b)) }

// ToBFloat16 rounds to nearest, ties to even; NaN stays NaN.
func ToBFloat16(f float32) BFloat16Bits {
	u := math.Float32bits(f)
	if f != f {
		return BFloat16Bits(u>>16 | 0x40)
	}
	return BFloat16Bits((u + 0x7fff + u>>16&1) >> 16)
}

// Float32 widens a half exactly.
func (h Float16Bits) Float32() float32 {
	sign, exp, man := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // zero or subnormal: man × 2⁻²⁴ is exact in float32
		return math.Float32frombits(sign | math.Float32bits(float32(man)*(1.0/(1<<24))))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// ToFloat16 rounds to nearest, ties to even; what is too large becomes infinite.
func ToFloat16(f float32) Float16Bits {
	u := math.Float32bits(f)
	sign := uint16(u >> 16 & 0x8000)
	u &= 0x7fffffff
	switch {
	case u > 0x7f800000:
		return Float16Bits(sign | 0x7e00 | uint16(u>>13&0x1ff))
	case u >= 0x477ff000: // 65520 and above round to infinity
		return Float16Bits(sign | 0x7c00)
	case u < 0x38800000: // subnormal: adding 0.5 aligns the last place to 2⁻²⁴ and rounds
		return Float16Bits(sign | uint16(math.Float32bits(math.Float32frombits(u)+0.5)-0x3f000000))
	}
	u += 0xfff + u>>13&1
	return Float16Bits(sign | uint16((u-0x38000000)>>13))
}
