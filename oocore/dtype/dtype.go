// Package dtype names the element types of arrays: their sizes, their NumPy
// names, how they promote, and the short floats that Go lacks.
//
// It is pure arithmetic. Bytes of elements are always little-endian in memory;
// stores swap on the way in and out.
package dtype

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Type is the type of an array's elements. Its numbers are larger than the lengths of axes that people write, so that a
// shape in the place of a type is an error. What is stored has names in their place.
type Type uint32

// Invalid is no type.
const Invalid Type = 0

// The element types, in promotion order within each kind, and then those that are stored only.
const (
	Bool Type = 0xd7000001 + iota
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
	Float8E4M3FN
	Float8E5M2
)

// Kind groups types that share arithmetic.
type Kind uint8

// The kinds, in promotion order.
const (
	KindInvalid Kind = iota
	KindBool
	KindUint
	KindInt
	KindFloat
	KindComplex
)

var table = [...]struct {
	name string
	size int
	kind Kind
}{
	0:                     {"invalid", 0, KindInvalid},
	Bool - Bool + 1:       {"bool", 1, KindBool},
	Int8 - Bool + 1:       {"int8", 1, KindInt},
	Int16 - Bool + 1:      {"int16", 2, KindInt},
	Int32 - Bool + 1:      {"int32", 4, KindInt},
	Int64 - Bool + 1:      {"int64", 8, KindInt},
	Uint8 - Bool + 1:      {"uint8", 1, KindUint},
	Uint16 - Bool + 1:     {"uint16", 2, KindUint},
	Uint32 - Bool + 1:     {"uint32", 4, KindUint},
	Uint64 - Bool + 1:     {"uint64", 8, KindUint},
	Float16 - Bool + 1:    {"float16", 2, KindFloat},
	BFloat16 - Bool + 1:   {"bfloat16", 2, KindFloat},
	Float32 - Bool + 1:    {"float32", 4, KindFloat},
	Float64 - Bool + 1:    {"float64", 8, KindFloat},
	Complex64 - Bool + 1:  {"complex64", 8, KindComplex},
	Complex128 - Bool + 1: {"complex128", 16, KindComplex},

	Float8E4M3FN - Bool + 1: {"float8_e4m3fn", 1, KindFloat},
	Float8E5M2 - Bool + 1:   {"float8_e5m2", 1, KindFloat},
}

// All lists the types that operations compute in.
func All() []Type { return slices.DeleteFunc(Stored(), Type.StorageOnly) }

// Stored lists every valid type.
func Stored() []Type {
	all := make([]Type, 0, len(table)-1)
	for i := range Type(len(table) - 1) {
		all = append(all, Bool+i)
	}
	return all
}

// row is the type's place in the table; that of no type is the first.
func (t Type) row() int {
	if i := t - Bool + 1; i < Type(len(table)) && t >= Bool {
		return int(i)
	}
	return 0
}

// Known reports whether t is one of the types of elements, rather than Invalid or
// some other number.
func (t Type) Known() bool { return t.row() > 0 }

// Part returns the type of the numbers that make an element: a complex number is two floats.
func (t Type) Part() Type {
	switch t {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return t
}

// Size returns the number of bytes of one element; 0 for a number that is not a type.
func (t Type) Size() int { return table[t.row()].size }

// String returns NumPy's name of the type.
func (t Type) String() string {
	if t != Invalid && !t.Known() {
		return fmt.Sprintf("Type(%d)", uint32(t))
	}
	return table[t.row()].name
}

// Kind returns the group that the type belongs to.
func (t Type) Kind() Kind { return table[t.row()].kind }

// Integer reports whether t is a signed or unsigned integer type. Bool is none.
func (t Type) Integer() bool { return t.Kind() == KindInt || t.Kind() == KindUint }

// Short reports whether t is a 16-bit float, whose arithmetic is done in float32.
func (t Type) Short() bool { return t == Float16 || t == BFloat16 }

// StorageOnly reports whether t is a float of 8 bits. Arrays are stored in it and nothing is computed in it:
// views and astype keep it, and every other operation takes its elements as float32.
func (t Type) StorageOnly() bool { return t == Float8E4M3FN || t == Float8E5M2 }

// Parse returns the type of a NumPy name such as "float32".
func Parse(name string) (Type, error) {
	names := make([]string, 0, len(table)-1)
	for _, t := range Stored() {
		if t.String() == name {
			return t, nil
		}
		names = append(names, t.String())
	}
	return Invalid, fmt.Errorf("dtype %q is unknown: use one of %s", name, strings.Join(names, ", "))
}

// MarshalText writes the NumPy name.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a NumPy name.
func (t *Type) UnmarshalText(b []byte) (err error) {
	if t == nil {
		return errors.New("a nil *dtype.Type takes no name")
	}
	*t, err = Parse(string(b))
	return err
}
