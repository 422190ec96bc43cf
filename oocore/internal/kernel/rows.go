package kernel

import (
	"cmp"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Row is all that there is to say of an elementwise operation. A new function of floats is a row
// at the end of the table and a formula of its name in internal/asm, from which go generate makes
// the constant, plain Go, assembly and PTX; any other operation has loops in the tables by type.
type Row struct {
	Op         Op     // the row's number, by which plans are encoded
	Const      string // the name of the constant
	Name       string // NumPy's, and the name in expressions
	Home       string // the Python package of that name; empty for NumPy itself, None where no package has it
	Method     string // the name of Array's method; empty where it is the constant's
	Sentence   string // what the method does with a, b: "returns a + b"
	Arity      int
	Family     Family
	Takes      Operands
	Gives      result
	Sign       string // how it is written between or before its operands; empty: as a function
	Precedence int    // of the sign, as in Go; of one operand 6
	Nanos      Costs
	Units      Errors
	Internal   bool // only in formulas of operations, by no name
}

// Family groups operations whose operands are of one kind.
type Family uint8

// The families of operations.
const (
	Arithmetic Family = iota
	Function          // of floats, by a formula or the processor's root
	Rounding
	Comparison
	Logic // of bools
	Bits  // of integers and bools
	Test  // of floats
	Part  // of complex numbers
	Choice
)

// Operands says in which type operands meet, after NumPy's promotion.
type Operands uint8

// The types that operands meet in.
const (
	Common    Operands = iota // what they are promoted to
	Numbers                   // that, and int8 of bools
	Floats                    // that, and of integers the float that holds them
	EachFloat                 // the float that holds each of the integers, whatever they are promoted to
	Doubles                   // that, and float64 of integers
	Bools                     // bool of anything
)

// Meet returns the type that operands promoted to t are computed in.
func (o Operands) Meet(t dtype.Type) dtype.Type {
	switch {
	case o == Bools:
		return dtype.Bool
	case t.Kind() >= dtype.KindFloat:
	case o == Numbers && t == dtype.Bool:
		return dtype.Int8
	case o == Floats || o == EachFloat:
		return t.Float()
	case o == Doubles:
		return dtype.Float64
	}
	return t
}

// result says which type an operation gives.
type result uint8

const (
	same     result = iota // its operands'
	truth                  // bool
	realPart               // that of a complex number's parts
)

// Costs are nanoseconds of one core an element, in cache and with the vectors of AVX-512 where
// there are any: of bools and integers of one byte, wider integers, float32, float64 and complex
// numbers. They are nominal: a machine differs by a factor for each operation. Zero: no loop.
type Costs [5]float64

// Of returns the cost of an element of type t.
func (c Costs) Of(t dtype.Type) float64 {
	switch {
	case t.Kind() == dtype.KindComplex:
		return c[4]
	case t == dtype.Float64:
		return c[3]
	case t.Kind() == dtype.KindFloat:
		return c[2]
	case t.Size() == 1:
		return cmp.Or(c[0], c[1])
	}
	return cmp.Or(c[1], c[0])
}

// Errors are how far results may be from the exact ones, in units in the last place: of float32,
// float64 and complex numbers; that of powers of complex numbers grows with the exponent, here up
// to a thousand. Zero is exact, or rounded once.
type Errors [3]float64

// Of returns the bound for type t.
func (e Errors) Of(t dtype.Type) float64 {
	switch {
	case t.Kind() == dtype.KindComplex:
		return e[2]
	case t == dtype.Float64:
		return e[1]
	case t.Kind() == dtype.KindFloat:
		return e[0]
	}
	return 0
}

// rows is the table. Encoded plans have an operation's number in it, so that rows are only added
// at its end.
var rows = [...]Row{
	{},
	{Const: "Add", Name: "add", Sentence: "returns a + b", Arity: 2, Sign: "+", Precedence: 4, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 0.83}, Units: Errors{0, 0, 8}},
	{Const: "Subtract", Name: "subtract", Method: "Sub", Sentence: "returns a - b", Arity: 2, Sign: "-", Precedence: 4, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 0.81}, Units: Errors{0, 0, 8}},
	{Const: "Multiply", Name: "multiply", Method: "Mul", Sentence: "returns a * b, element by element", Arity: 2, Sign: "*", Precedence: 5, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 9.6}, Units: Errors{0, 0, 8}},
	{Const: "Divide", Name: "divide", Method: "Div", Sentence: "returns a / b, of integers in float64", Arity: 2, Takes: Doubles, Sign: "/", Precedence: 5, Nanos: Costs{0, 0, 0.12, 0.34, 14}, Units: Errors{0, 0, 8}},
	{Const: "FloorDivide", Name: "floor_divide", Method: "FloorDiv", Sentence: "returns the largest integer below or equal to a / b", Arity: 2, Takes: Numbers, Nanos: Costs{2.4, 2.4, 3, 17, 0}},
	{Const: "Remainder", Name: "remainder", Method: "Mod", Sentence: "returns what FloorDiv leaves, with the sign of b", Arity: 2, Takes: Numbers, Sign: "%", Precedence: 5, Nanos: Costs{2.4, 2.3, 4, 15, 0}},
	{Const: "Power", Name: "power", Method: "Pow", Sentence: "returns a to the power of b; a negative exponent of integers is an error", Arity: 2, Takes: Numbers, Nanos: Costs{3.6, 3.9, 1.8, 3.6, 94}, Units: Errors{2, 1, 2000}},
	{Const: "Minimum", Name: "minimum", Sentence: "returns the smaller of a and b; NaN where one is NaN", Arity: 2, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 3.7}, Units: Errors{0, 0, 8}},
	{Const: "Maximum", Name: "maximum", Sentence: "returns the larger of a and b; NaN where one is NaN", Arity: 2, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 3.7}, Units: Errors{0, 0, 8}},
	{Const: "Fmin", Name: "fmin", Sentence: "returns the smaller of a and b; the other where one is NaN", Arity: 2, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 3.7}, Units: Errors{0, 0, 8}},
	{Const: "Fmax", Name: "fmax", Sentence: "returns the larger of a and b; the other where one is NaN", Arity: 2, Nanos: Costs{0.02, 0.14, 0.05, 0.23, 3.7}, Units: Errors{0, 0, 8}},
	{Const: "Arctan2", Name: "arctan2", Sentence: "returns the angle of the point (b, a)", Arity: 2, Family: Function, Takes: EachFloat, Nanos: Costs{0, 0, 0.48, 1.9, 0}, Units: Errors{2, 1, 0}},
	{Const: "Hypot", Name: "hypot", Sentence: "returns the square root of a² + b², without overflow between", Arity: 2, Family: Function, Takes: EachFloat, Nanos: Costs{0, 0, 0.23, 0.62, 0}, Units: Errors{2, 1, 0}},
	{Const: "Copysign", Name: "copysign", Sentence: "returns a with the sign of b", Arity: 2, Takes: EachFloat, Nanos: Costs{0, 0, 0.07, 0.23, 0}},
	{Const: "LogicalAnd", Name: "logical_and", Sentence: "returns whether both are true, that is, not zero", Arity: 2, Family: Logic, Takes: Bools, Gives: truth, Sign: "&&", Precedence: 2, Nanos: Costs{0.02, 0, 0, 0, 0}},
	{Const: "LogicalOr", Name: "logical_or", Sentence: "returns whether one is true", Arity: 2, Family: Logic, Takes: Bools, Gives: truth, Sign: "||", Precedence: 1, Nanos: Costs{0.02, 0, 0, 0, 0}},
	{Const: "LogicalXor", Name: "logical_xor", Sentence: "returns whether exactly one is true", Arity: 2, Family: Logic, Takes: Bools, Gives: truth, Nanos: Costs{0.02, 0, 0, 0, 0}},
	{Const: "BitAnd", Name: "bitwise_and", Method: "BitwiseAnd", Sentence: "returns the bits that both integers have", Arity: 2, Family: Bits, Sign: "&", Precedence: 5, Nanos: Costs{0.02, 0.14, 0, 0, 0}},
	{Const: "BitOr", Name: "bitwise_or", Method: "BitwiseOr", Sentence: "returns the bits that one of the integers has", Arity: 2, Family: Bits, Sign: "|", Precedence: 4, Nanos: Costs{0.02, 0.14, 0, 0, 0}},
	{Const: "BitXor", Name: "bitwise_xor", Method: "BitwiseXor", Sentence: "returns the bits that exactly one of the integers has", Arity: 2, Family: Bits, Sign: "^", Precedence: 4, Nanos: Costs{0.02, 0.14, 0, 0, 0}},
	{Const: "LeftShift", Name: "left_shift", Sentence: "returns the bits of a moved up by b places", Arity: 2, Family: Bits, Takes: Numbers, Sign: "<<", Precedence: 5, Nanos: Costs{2.1, 2.2, 0, 0, 0}},
	{Const: "RightShift", Name: "right_shift", Sentence: "returns the bits of a moved down by b places, keeping the sign", Arity: 2, Family: Bits, Takes: Numbers, Sign: ">>", Precedence: 5, Nanos: Costs{1.8, 1.8, 0, 0, 0}},
	{Const: "Equal", Name: "equal", Sentence: "returns whether a = b", Arity: 2, Family: Comparison, Gives: truth, Sign: "==", Precedence: 3, Nanos: Costs{0.02, 0.08, 0.05, 0.1, 3.1}, Units: Errors{0, 0, 8}},
	{Const: "NotEqual", Name: "not_equal", Sentence: "returns whether a ≠ b", Arity: 2, Family: Comparison, Gives: truth, Sign: "!=", Precedence: 3, Nanos: Costs{0.02, 0.08, 0.05, 0.1, 3.3}, Units: Errors{0, 0, 8}},
	{Const: "Less", Name: "less", Sentence: "returns whether a < b", Arity: 2, Family: Comparison, Gives: truth, Sign: "<", Precedence: 3, Nanos: Costs{0.02, 0.07, 0.05, 0.1, 3.4}, Units: Errors{0, 0, 8}},
	{Const: "LessEqual", Name: "less_equal", Sentence: "returns whether a ≤ b", Arity: 2, Family: Comparison, Gives: truth, Sign: "<=", Precedence: 3, Nanos: Costs{0.02, 0.07, 0.05, 0.1, 3.5}, Units: Errors{0, 0, 8}},
	{Const: "Greater", Name: "greater", Sentence: "returns whether a > b", Arity: 2, Family: Comparison, Gives: truth, Sign: ">", Precedence: 3, Nanos: Costs{0.02, 0.07, 0.04, 0.1, 3.8}, Units: Errors{0, 0, 8}},
	{Const: "GreaterEqual", Name: "greater_equal", Sentence: "returns whether a ≥ b", Arity: 2, Family: Comparison, Gives: truth, Sign: ">=", Precedence: 3, Nanos: Costs{0.02, 0.07, 0.05, 0.1, 3.9}, Units: Errors{0, 0, 8}},
	{Const: "Negative", Name: "negative", Method: "Neg", Sentence: "returns -a", Arity: 1, Sign: "-", Precedence: 6, Nanos: Costs{0.01, 0.07, 0.04, 0.095, 0.6}, Units: Errors{0, 0, 8}},
	{Const: "Absolute", Name: "abs", Method: "Abs", Sentence: "returns the magnitude; of complex numbers, a float", Arity: 1, Gives: realPart, Nanos: Costs{0.01, 0.07, 0.04, 0.096, 5.6}, Units: Errors{0, 0, 8}},
	{Const: "Sign", Name: "sign", Sentence: "returns -1, 0 or 1; NaN of NaN; of complex numbers, a divided by its magnitude", Arity: 1, Nanos: Costs{1.8, 1.8, 0.09, 0.18, 11}, Units: Errors{0, 0, 8}},
	{Const: "Square", Name: "square", Sentence: "returns a²", Arity: 1, Takes: Numbers, Nanos: Costs{0.02, 0.07, 0.04, 0.09, 9.5}, Units: Errors{0, 0, 8}},
	{Const: "Sqrt", Name: "sqrt", Sentence: "returns the square root; NaN of negative numbers", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.19, 0.59, 3.6}, Units: Errors{0, 0, 8}},
	{Const: "Cbrt", Name: "cbrt", Sentence: "returns the cube root", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.43, 1, 0}, Units: Errors{2, 1, 0}},
	{Const: "Reciprocal", Name: "reciprocal", Sentence: "returns 1/a, of integers an integer", Arity: 1, Takes: Numbers, Nanos: Costs{1.8, 1.9, 0.12, 0.34, 13}, Units: Errors{0, 0, 8}},
	{Const: "Exp", Name: "exp", Sentence: "returns e to the power of a", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.23, 0.72, 25}, Units: Errors{2, 1, 8}},
	{Const: "Exp2", Name: "exp2", Sentence: "returns 2 to the power of a", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.2, 0.66, 15}, Units: Errors{2, 1, 8}},
	{Const: "Expm1", Name: "expm1", Sentence: "returns exp(a) - 1, precise near zero", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.42, 1.2, 39}, Units: Errors{2, 1, 8}},
	{Const: "Log", Name: "log", Sentence: "returns the natural logarithm", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.25, 0.76, 25}, Units: Errors{2, 1, 8}},
	{Const: "Log2", Name: "log2", Sentence: "returns the logarithm to base 2", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.27, 0.89, 26}, Units: Errors{2, 1, 8}},
	{Const: "Log10", Name: "log10", Sentence: "returns the logarithm to base 10", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.28, 0.95, 26}, Units: Errors{2, 1, 8}},
	{Const: "Log1p", Name: "log1p", Sentence: "returns log(1 + a), precise near zero", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.42, 1, 19}, Units: Errors{2, 1, 8}},
	{Const: "Erf", Name: "erf", Home: "scipy.special", Sentence: "returns the error function, 2/√π · ∫ exp(-t²) dt from 0 to a, of real numbers", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.54, 2, 0}, Units: Errors{2, 1, 0}},
	{Const: "Sin", Name: "sin", Sentence: "returns the sine of an angle in radians", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.34, 1.2, 39}, Units: Errors{2, 1, 8}},
	{Const: "Cos", Name: "cos", Sentence: "returns the cosine of an angle in radians", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.34, 1.2, 38}, Units: Errors{2, 1, 8}},
	{Const: "Tan", Name: "tan", Sentence: "returns the tangent of an angle in radians", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.45, 1.5, 28}, Units: Errors{2, 1, 8}},
	{Const: "Arcsin", Name: "arcsin", Sentence: "returns the inverse sine", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.29, 1.2, 24}, Units: Errors{2, 1, 8}},
	{Const: "Arccos", Name: "arccos", Sentence: "returns the inverse cosine", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.33, 1.4, 23}, Units: Errors{2, 1, 8}},
	{Const: "Arctan", Name: "arctan", Sentence: "returns the inverse tangent", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.32, 1.4, 21}, Units: Errors{2, 1, 8}},
	{Const: "Sinh", Name: "sinh", Sentence: "returns the hyperbolic sine", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.38, 1.2, 29}, Units: Errors{2, 1, 8}},
	{Const: "Cosh", Name: "cosh", Sentence: "returns the hyperbolic cosine", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.37, 1.1, 29}, Units: Errors{2, 1, 8}},
	{Const: "Tanh", Name: "tanh", Sentence: "returns the hyperbolic tangent", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.32, 1.8, 29}, Units: Errors{2, 1, 8}},
	{Const: "Arcsinh", Name: "arcsinh", Sentence: "returns the inverse hyperbolic sine", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.86, 2, 70}, Units: Errors{2, 1, 8}},
	{Const: "Arccosh", Name: "arccosh", Sentence: "returns the inverse hyperbolic cosine", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.66, 2.1, 35}, Units: Errors{2, 1, 8}},
	{Const: "Arctanh", Name: "arctanh", Sentence: "returns the inverse hyperbolic tangent", Arity: 1, Family: Function, Takes: Floats, Nanos: Costs{0, 0, 0.66, 1.4, 25}, Units: Errors{2, 1, 8}},
	{Const: "Floor", Name: "floor", Sentence: "rounds down", Arity: 1, Family: Rounding, Nanos: Costs{0.01, 0.07, 0.04, 0.096, 0}},
	{Const: "Ceil", Name: "ceil", Sentence: "rounds up", Arity: 1, Family: Rounding, Nanos: Costs{0.01, 0.07, 0.08, 0.095, 0}},
	{Const: "Trunc", Name: "trunc", Sentence: "rounds towards zero", Arity: 1, Family: Rounding, Nanos: Costs{0.01, 0.07, 0.04, 0.09, 0}},
	{Const: "Rint", Name: "rint", Sentence: "rounds to the nearest integer, halves to the even one", Arity: 1, Family: Rounding, Takes: Floats, Nanos: Costs{0, 0, 0.04, 0.09, 8.9}, Units: Errors{0, 0, 8}},
	{Const: "Invert", Name: "invert", Sentence: "flips the bits of integers, and bools", Arity: 1, Family: Bits, Sign: "^", Precedence: 6, Nanos: Costs{0.02, 0.07, 0, 0, 0}},
	{Const: "LogicalNot", Name: "logical_not", Sentence: "returns whether the element is zero", Arity: 1, Family: Logic, Takes: Bools, Gives: truth, Sign: "!", Precedence: 6, Nanos: Costs{0.02, 0, 0, 0, 0}},
	{Const: "IsNaN", Name: "isnan", Sentence: "returns whether the element is not a number", Arity: 1, Family: Test, Gives: truth, Nanos: Costs{0.3, 0.6, 0.07, 0.13, 3.1}, Units: Errors{0, 0, 8}},
	{Const: "IsInf", Name: "isinf", Sentence: "returns whether the element is infinite", Arity: 1, Family: Test, Gives: truth, Nanos: Costs{0.3, 0.6, 0.07, 0.14, 5.8}, Units: Errors{0, 0, 8}},
	{Const: "IsFinite", Name: "isfinite", Sentence: "returns whether the element is neither infinite nor NaN", Arity: 1, Family: Test, Gives: truth, Nanos: Costs{0.59, 0.3, 0.07, 0.15, 3.7}, Units: Errors{0, 0, 8}},
	{Const: "Real", Name: "real", Sentence: "returns the real part", Arity: 1, Family: Part, Gives: realPart, Nanos: Costs{0.01, 0.07, 0.04, 0.1, 1.8}, Units: Errors{0, 0, 8}},
	{Const: "Imag", Name: "imag", Sentence: "returns the imaginary part", Arity: 1, Family: Part, Gives: realPart, Nanos: Costs{0.31, 0.46, 0.6, 0.31, 1.9}, Units: Errors{0, 0, 8}},
	{Const: "Conjugate", Name: "conjugate", Method: "Conj", Sentence: "returns the complex conjugate", Arity: 1, Family: Part, Takes: Numbers, Nanos: Costs{0.01, 0.07, 0.04, 0.099, 8.6}, Units: Errors{0, 0, 8}},
	{Const: "Where", Name: "where", Sentence: "returns x where the condition is true, that is, not zero, and y elsewhere", Arity: 3, Family: Choice, Nanos: Costs{0.02, 0.15, 0.06, 0.23, 0.53}},
	{Const: "MulAdd", Name: "multiply_add", Sentence: "returns a·b + c of float32 or float64, rounded once", Arity: 3, Nanos: Costs{0, 0, 0.07, 0.28, 0}, Internal: true},
}

func init() {
	for i := range rows {
		rows[i].Op, rows[i].Home, rows[i].Method = Op(i), cmp.Or(rows[i].Home, "np"), cmp.Or(rows[i].Method, rows[i].Const)
	}
	for r := range reductionRows {
		reductionRows[r].Reduction = Reduction(r)
	}
}

// Rows returns the operations that have NumPy's names, all but the internal ones.
func Rows() (all []*Row) {
	for _, o := range Ops() {
		if r := o.Row(); !r.Internal {
			all = append(all, r)
		}
	}
	return all
}

// Ops returns all operations.
func Ops() (all []Op) {
	for i := range rows[1:] {
		all = append(all, Op(i+1))
	}
	return all
}

// Row returns the operation's row; an empty one of what is no operation.
func (o Op) Row() *Row {
	if int(o) < len(rows) {
		return &rows[o]
	}
	return &rows[Invalid]
}

// None is where neither NumPy nor SciPy has a function.
const None = "none"

// NumPy returns the name with its package: np.add, scipy.special.erf; or None.
func (r *Row) NumPy() string {
	if r.Home == None {
		return None
	}
	return r.Home + "." + r.Name
}

// Cost returns the nanoseconds of one core that an element takes, for operands of type t.
func (r *Row) Cost(t dtype.Type) float64 { return r.Nanos.Of(t) }

// String returns NumPy's name of the operation.
func (o Op) String() string { return o.Row().Name }

// Arity returns the number of operands.
func (o Op) Arity() int { return o.Row().Arity }

// Result returns the type of the result for operands of type t: bool for a comparison or test, a
// float for the magnitude or part of a complex number, else t. For Where, t is the type of the
// second and third operands.
func (o Op) Result(t dtype.Type) dtype.Type {
	switch o.Row().Gives {
	case truth:
		return dtype.Bool
	case realPart:
		return part(t)
	}
	return t
}

// part returns the type of a complex number's parts; of others t itself.
func part(t dtype.Type) dtype.Type {
	switch t {
	case dtype.Complex64:
		return dtype.Float32
	case dtype.Complex128:
		return dtype.Float64
	}
	return t
}
