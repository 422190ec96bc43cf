package kernel

// boolLoops are those of bools. They are read as bytes, any of which but 0 is true, since a
// file may hold such, and written as 0 or 1.
func boolLoops() []Func {
	or := ofBools(func(x, y bool) bool { return x || y })
	and := ofBools(func(x, y bool) bool { return x && y })
	xor := ofBools(func(x, y bool) bool { return x != y })
	not := mapOne(func(x uint8) bool { return x == 0 })
	truth := mapOne(func(x uint8) bool { return x != 0 })
	never := constantLoop(false)
	return []Func{
		Add: or, Maximum: or, Fmax: or, LogicalOr: or, BitOr: or,
		Multiply: and, Minimum: and, Fmin: and, LogicalAnd: and, BitAnd: and,
		LogicalXor: xor, BitXor: xor, NotEqual: xor,
		Equal:        ofBools(func(x, y bool) bool { return x == y }),
		Less:         ofBools(func(x, y bool) bool { return !x && y }),
		LessEqual:    ofBools(func(x, y bool) bool { return !x || y }),
		Greater:      ofBools(func(x, y bool) bool { return x && !y }),
		GreaterEqual: ofBools(func(x, y bool) bool { return x || !y }),
		LogicalNot:   not, Invert: not,
		Absolute: truth, Floor: truth, Ceil: truth, Trunc: truth, Real: truth,
		IsFinite: constantLoop(true), IsNaN: never, IsInf: never, Imag: never,
	}
}

func ofBools(f func(x, y bool) bool) Func {
	return mapPairs(func(x, y uint8) bool { return f(x != 0, y != 0) })
}
