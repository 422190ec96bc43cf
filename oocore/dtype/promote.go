package dtype

import (
	"cmp"
	"slices"
)

// Promote returns the type that holds elements of both types: NumPy's result_type of
// two arrays. Where NumPy has no rule, for bfloat16, it is that of ml_dtypes and
// JAX: bfloat16 wins over integers and meets float16 in float32. A float of 8 bits is float32 to all others
// but bool.
func Promote(a, b Type) Type {
	if a.Kind() > b.Kind() {
		a, b = b, a
	}
	switch {
	case a == b || a == Bool:
		return b
	case a.StorageOnly():
		return Promote(Float32, b)
	case b.StorageOnly():
		return Promote(a, Float32)
	case b.Integer():
		return promoteIntegers(a, b)
	case b == BFloat16 && a.Integer():
		return b
	case b.Kind() == KindFloat:
		return promoteFloats(a.Float(), b)
	case b.Kind() == KindComplex && (a == Complex128 || a.Float() == Float64):
		return Complex128
	}
	return b
}

// PromoteAll returns NumPy's result_type of several arrays, in any order: the type of the
// highest kind is promoted with each of the others first, so that uint16, int16 and
// float32 meet in float32, though uint16 and int16 alone meet in int32.
func PromoteAll(types ...Type) Type {
	if len(types) == 0 {
		return Invalid
	}
	highest := slices.MaxFunc(types, func(a, b Type) int { return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(a, b)) })
	t := highest
	for _, other := range types {
		t = Promote(t, Promote(highest, other))
	}
	return t
}

// promoteIntegers takes a's kind to be at most b's: unsigned before signed.
func promoteIntegers(a, b Type) Type {
	switch {
	case a.Kind() == b.Kind():
		return max(a, b)
	case a.Size() < b.Size():
		return b
	case a == Uint64:
		return Float64
	}
	return Int8 + (a - Uint8) + 1 // the signed type of the next size
}

func promoteFloats(a, b Type) Type {
	if a.Short() && b.Short() && a != b {
		return Float32
	}
	return max(a, b)
}

// Float returns the type in which NumPy computes functions such as sqrt of elements
// of type t: the smallest float that holds an integer of 8 or 16 bits, float64
// for a larger one, and t itself for floats and complex numbers.
func (t Type) Float() Type {
	switch {
	case t.StorageOnly():
		return Float32
	case t.Kind() >= KindFloat:
		return t
	case t.Size() == 1:
		return Float16
	case t.Size() == 2:
		return Float32
	}
	return Float64
}

// PromoteWeak returns the type of strong operands together with a weak one: a number
// of the program, which has a kind and no size (NumPy's NEP 50). strong is
// Invalid where there is none, and weak then gets its default: int64, float64
// or complex128.
func PromoteWeak(strong Type, weak Kind) Type {
	switch {
	case weak == KindComplex && strong.Kind() == KindFloat && strong != Float64:
		return Complex64
	case strong.Kind() >= weak || strong.Integer() && weak == KindInt:
		return strong
	}
	switch weak {
	case KindBool:
		return Bool
	case KindInt:
		return Int64
	case KindFloat:
		return Float64
	}
	return Complex128
}
