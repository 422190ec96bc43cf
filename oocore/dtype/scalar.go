package dtype

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Scalar boxes a number of the program. Those of Go's own types for numbers
// without a size in mind, int, float64 and complex128, are weak: they take the
// type of the array that they meet, as Python's numbers do in NumPy 2. The
// sized types int8 … uint64, float32, complex64 and the short floats keep
// theirs, as NumPy's scalars do.
func Scalar(v any) (value Value, weak bool, err error) {
	switch x := v.(type) {
	case Float16Bits:
		return ValueOf(x), false, nil
	case BFloat16Bits:
		return ValueOf(x), false, nil
	case Float8E4M3FNBits:
		return ValueOf(x), false, nil
	case Float8E5M2Bits:
		return ValueOf(x), false, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Bool:
		return ValueOf(r.Bool()), false, nil
	case reflect.Int:
		return ValueOf(r.Int()), true, nil
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return FromInt(Int8+Type(r.Kind()-reflect.Int8), r.Int()), false, nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Value{Type: Uint8 + Type(r.Kind()-reflect.Uint8), Lo: r.Uint()}, false, nil
	case reflect.Uint:
		if u := r.Uint(); u <= math.MaxInt64 {
			return ValueOf(int64(u)), true, nil
		}
		return ValueOf(r.Uint()), false, nil
	case reflect.Float32:
		return ValueOf(float32(r.Float())), false, nil
	case reflect.Float64:
		return ValueOf(r.Float()), true, nil
	case reflect.Complex64:
		return ValueOf(complex64(r.Complex())), false, nil
	case reflect.Complex128:
		return ValueOf(r.Complex()), true, nil
	}
	return Value{}, false, fmt.Errorf("a %T is neither an array nor a number", v)
}

// FromInt returns x as an element of type t. Integers wrap around, as in NumPy's
// astype.
func FromInt(t Type, x int64) Value {
	switch {
	case t == Bool:
		return ValueOf(x != 0)
	case t.Integer():
		return Value{Type: t, Lo: uint64(x) & (math.MaxUint64 >> (64 - 8*t.Size()))}
	}
	if t == Float64 || t == Complex128 {
		return FromFloat(t, float64(x))
	}
	return FromFloat(t, float64(float32(x)))
}

// FromFloat returns x rounded to type t, which is a float or complex type.
func FromFloat(t Type, x float64) Value { return FromComplex(t, complex(x, 0)) }

// FromComplex returns x rounded to type t, which is a float or complex type; floats
// take its real part.
func FromComplex(t Type, x complex128) Value {
	switch t {
	case Float16:
		return ValueOf(ToFloat16(roundToOdd(real(x))))
	case BFloat16:
		return ValueOf(ToBFloat16(roundToOdd(real(x))))
	case Float8E4M3FN, Float8E5M2:
		return Value{Type: t, Lo: uint64(ToFloat8(t, roundToOdd(real(x))))}
	case Float32:
		return ValueOf(float32(real(x)))
	case Float64:
		return ValueOf(real(x))
	case Complex64:
		return ValueOf(complex64(x))
	}
	return ValueOf(x)
}

// roundToOdd rounds such that rounding the result again, to a shorter float,
// gives what rounding x at once would have given.
func roundToOdd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || x != x || math.IsInf(float64(f), 0) {
		return f
	}
	if math.Abs(float64(f)) > math.Abs(x) { // truncate
		f = math.Float32frombits(math.Float32bits(f) - 1)
	}
	return math.Float32frombits(math.Float32bits(f) | 1)
}

// Convert returns the value as an element of type t, as NumPy's astype, where that
// is defined and loses no part: not from a float to an integer, nor from a
// complex number to a real one.
func (v Value) Convert(t Type) (Value, bool) {
	switch {
	case t == v.Type:
		return v, true
	case t == Bool:
		return ValueOf(v.Complex() != 0), true
	case v.Type == Uint64 && !t.Integer():
		return FromFloat(t, v.Float()), true
	case v.Type.Kind() <= KindInt:
		return FromInt(t, v.Int()), true
	case t.Integer() || v.Type.Kind() > t.Kind():
		return Value{}, false
	}
	return FromComplex(t, v.Complex()), true
}

// Int returns the value of an integer or a bool; a uint64 beyond int64 wraps.
func (v Value) Int() int64 {
	switch v.Type {
	case Int8:
		return int64(int8(v.Lo))
	case Int16:
		return int64(int16(v.Lo))
	case Int32:
		return int64(int32(v.Lo))
	}
	return int64(v.Lo)
}

// Complex returns the value as a complex128.
func (v Value) Complex() complex128 {
	switch v.Type {
	case Complex64:
		return complex(v.Float(), float64(math.Float32frombits(uint32(v.Lo>>32))))
	case Complex128:
		return complex(v.Float(), math.Float64frombits(v.Hi))
	}
	return complex(v.Float(), 0)
}

// Fits reports whether the integer type t holds x.
func (t Type) Fits(x int64) bool {
	if !t.Integer() {
		return false
	}
	bits := 8 * t.Size()
	if t.Kind() == KindUint {
		return x >= 0 && (bits == 64 || x>>bits == 0)
	}
	return x>>(bits-1) == 0 || x>>(bits-1) == -1
}

// Weaken returns a weak number as an element of type t, which PromoteWeak gave. An
// integer that an integer type does not hold is an error, as NumPy's
// OverflowError.
func (v Value) Weaken(t Type) (Value, error) {
	if v.Type.Integer() && t.Integer() && !t.Fits(v.Int()) {
		return Value{}, fmt.Errorf("%d is out of range for %s", v.Int(), t)
	}
	w, _ := v.Convert(t)
	return w, nil
}

// String writes the value as short as it can be read back.
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends what String writes.
func (v Value) Append(text []byte) []byte {
	switch v.Type.Kind() {
	case KindInvalid:
		return append(text, v.Type.String()...)
	case KindBool:
		return strconv.AppendBool(text, v.Lo != 0)
	case KindUint:
		return strconv.AppendUint(text, v.Lo, 10)
	case KindInt:
		return strconv.AppendInt(text, v.Int(), 10)
	case KindFloat:
		bits := 64
		if v.Type != Float64 {
			bits = 32
		}
		return strconv.AppendFloat(text, v.Float(), 'g', -1, bits)
	}
	return append(text, strconv.FormatComplex(v.Complex(), 'g', -1, 8*v.Type.Size())...)
}
