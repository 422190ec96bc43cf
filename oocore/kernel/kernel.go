// Package kernel holds the inner loops: elementwise functions, conversions,
// reductions and matrix products over plain memory.
//
// Kernels trust their caller: buffers are long enough, aligned to 64 bytes or
// to an element, and do not overlap unless they are the same. They allocate
// nothing and touch no byte beyond the n elements that they are given. An
// element's result depends on its operands alone, never on its place in the
// block, on n or on the processor's vector width. Functions of float64 are within
// one unit in the last place and those of float32 within two, and both are equal to
// the bit on every machine.
package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

// Func computes n elements of dst from as many of its operands; those beyond
// the operation's arity are nil. dst may be one of them whose elements are no
// narrower.
type Func func(n int, dst, a, b, c []byte)

// Op is an elementwise operation.
type Op uint8

// The elementwise operations, under NumPy's names.
const (
	Invalid Op = iota
	// Arithmetic of two operands.
	Add
	Subtract
	Multiply
	Divide // true division: float and complex types only
	FloorDivide
	Remainder // of the divisor's sign, as Python's
	Power
	Minimum // NaN wins
	Maximum
	Fmin // NaN loses
	Fmax
	Arctan2
	Hypot
	Copysign
	LogicalAnd // of bools
	LogicalOr
	LogicalXor
	BitAnd
	BitOr
	BitXor
	LeftShift
	RightShift
	// Comparison of two operands; the result is bool.
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	// Functions of one operand.
	Negative
	Absolute // of a complex number, a float
	Sign
	Square
	Sqrt
	Cbrt
	Reciprocal
	Exp
	Exp2
	Expm1
	Log
	Log2
	Log10
	Log1p
	Erf // the error function
	Sin
	Cos
	Tan
	Arcsin
	Arccos
	Arctan
	Sinh
	Cosh
	Tanh
	Arcsinh
	Arccosh
	Arctanh
	Floor
	Ceil
	Trunc
	Rint // to nearest, ties to even
	Invert
	LogicalNot
	IsNaN // the result is bool
	IsInf
	IsFinite
	Real // of a complex number, a float
	Imag
	Conjugate
	// Where takes a bool and two operands of one type.
	Where
	// MulAdd is a·b + c of float32 or float64, rounded once. It is only in the formulas of
	// operations.
	MulAdd
	lastOp
)

var opNames = [lastOp]string{
	Add: "add", Subtract: "subtract", Multiply: "multiply", Divide: "divide", FloorDivide: "floor_divide",
	Remainder: "remainder", Power: "power", Minimum: "minimum", Maximum: "maximum", Fmin: "fmin", Fmax: "fmax",
	Arctan2: "arctan2", Hypot: "hypot", Copysign: "copysign", LogicalAnd: "logical_and", LogicalOr: "logical_or",
	LogicalXor: "logical_xor", BitAnd: "bitwise_and", BitOr: "bitwise_or", BitXor: "bitwise_xor",
	LeftShift: "left_shift", RightShift: "right_shift", Equal: "equal", NotEqual: "not_equal", Less: "less",
	LessEqual: "less_equal", Greater: "greater", GreaterEqual: "greater_equal", Negative: "negative",
	Absolute: "abs", Sign: "sign", Square: "square", Sqrt: "sqrt", Cbrt: "cbrt", Reciprocal: "reciprocal",
	Exp: "exp", Exp2: "exp2", Expm1: "expm1", Log: "log", Log2: "log2", Log10: "log10", Log1p: "log1p", Erf: "erf",
	Sin: "sin", Cos: "cos", Tan: "tan", Arcsin: "arcsin", Arccos: "arccos", Arctan: "arctan", Sinh: "sinh",
	Cosh: "cosh", Tanh: "tanh", Arcsinh: "arcsinh", Arccosh: "arccosh", Arctanh: "arctanh", Floor: "floor",
	Ceil: "ceil", Trunc: "trunc", Rint: "rint", Invert: "invert", LogicalNot: "logical_not", IsNaN: "isnan",
	IsInf: "isinf", IsFinite: "isfinite", Real: "real", Imag: "imag", Conjugate: "conjugate", Where: "where", MulAdd: "multiply_add",
}

// String is NumPy's name of the operation.
func (o Op) String() string { return opNames[o] }

// Arity is the number of operands.
func (o Op) Arity() int {
	switch {
	case o >= Where:
		return 3
	case o <= GreaterEqual:
		return 2
	}
	return 1
}

// Result is the type of the result for operands of type t: bool for a
// comparison or test, a float for the magnitude or part of a complex number,
// else t. For Where, t is the type of the second and third operands.
func (o Op) Result(t dtype.Type) dtype.Type {
	switch {
	case o >= Equal && o <= GreaterEqual, o >= IsNaN && o <= IsFinite, o == LogicalNot,
		o >= LogicalAnd && o <= LogicalXor:
		return dtype.Bool
	case o == Absolute || o == Real || o == Imag:
		switch t {
		case dtype.Complex64:
			return dtype.Float32
		case dtype.Complex128:
			return dtype.Float64
		}
	}
	return t
}
