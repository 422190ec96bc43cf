package kernel

// boolLoop is the loop of an operation on bools. They are read as bytes, any
// of which but 0 is true, since a file may hold such, and written as 0 or 1.
func boolLoop(op Op) Func {
	switch op {
	case Add, Maximum, Fmax, LogicalOr, BitOr:
		return ofBools(func(x, y bool) bool { return x || y })
	case Multiply, Minimum, Fmin, LogicalAnd, BitAnd:
		return ofBools(func(x, y bool) bool { return x && y })
	case LogicalXor, BitXor, NotEqual:
		return ofBools(func(x, y bool) bool { return x != y })
	case Equal:
		return ofBools(func(x, y bool) bool { return x == y })
	case Less:
		return ofBools(func(x, y bool) bool { return !x && y })
	case LessEqual:
		return ofBools(func(x, y bool) bool { return !x || y })
	case Greater:
		return ofBools(func(x, y bool) bool { return x && !y })
	case GreaterEqual:
		return ofBools(func(x, y bool) bool { return x || !y })
	case LogicalNot, Invert:
		return mapOne(func(x uint8) bool { return x == 0 })
	case Absolute, Floor, Ceil, Trunc, Real:
		return mapOne(func(x uint8) bool { return x != 0 })
	case IsFinite:
		return constantLoop(true)
	case IsNaN, IsInf, Imag:
		return constantLoop(false)
	}
	return nil
}

func ofBools(f func(x, y bool) bool) Func {
	return mapPairs(func(x, y uint8) bool { return f(x != 0, y != 0) })
}
