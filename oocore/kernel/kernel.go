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
)
