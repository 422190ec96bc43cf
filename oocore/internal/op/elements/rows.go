package elements

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "signbit", Build: op.Build(Signbit),
		Go: "(a *Array) Signbit()", Doc: `Signbit returns which elements have their sign bit set: negative ones, -0 and NaN with a sign.`},
	{Name: "spacing", Build: op.Build(Spacing),
		Go: "(a *Array) Spacing()", Doc: `Spacing returns the distance of each element to the next float away from zero, with its sign; of float16, as in NumPy, to the next larger one. Complex numbers are an error.`},
	{Name: "i0", Build: op.Build(I0),
		Go: "(a *Array) I0()", Doc: `I0 returns the modified Bessel function of the first kind and order zero (NumPy's i0). Complex numbers are an error.`},
	{Name: "fabs", Build: op.Build(Fabs)},
	{Name: "positive", Build: op.Build(Positive)},
	{Name: "radians", Also: "deg2rad", Build: op.Build(Radians),
		Go: "(a *Array) Radians()", Doc: `Radians returns degrees as radians. Complex numbers are an error.`},
	{Name: "degrees", Also: "rad2deg", Build: op.Build(Degrees),
		Go: "(a *Array) Degrees()", Doc: `Degrees returns radians as degrees. Complex numbers are an error.`},
	{Name: "sinc", Build: op.Build(Sinc),
		Go: "(a *Array) Sinc()", Doc: `Sinc returns sin(pi·x)/(pi·x), and 1 of 0. Complex numbers are an error.`},
	{Name: "isposinf", Build: op.Build(IsPosInf),
		Go: "(a *Array) IsPosInf()", Doc: `IsPosInf returns which elements are infinite and positive.`},
	{Name: "isneginf", Build: op.Build(IsNegInf),
		Go: "(a *Array) IsNegInf()", Doc: `IsNegInf returns which elements are infinite and negative.`},
	{Name: "isreal", Build: op.Build(IsReal),
		Go: "(a *Array) IsReal()", Doc: `IsReal returns which elements have no imaginary part.`},
	{Name: "iscomplex", Build: op.Build(IsComplex),
		Go: "(a *Array) IsComplex()", Doc: `IsComplex returns which elements have an imaginary part.`},
	{Name: "logaddexp", Build: op.Build(LogAddExp),
		Go: "(a *Array) LogAddExp(b any)", Doc: `LogAddExp returns log(exp(a) + exp(b)), without overflow between; b is an array or a number of Go. Complex numbers are an error.`},
	{Name: "nextafter", Build: op.Build(NextAfter),
		Go: "(a *Array) NextAfter(b any)", Doc: `NextAfter returns the float that comes after a on the way to b, an array or a number of Go; b where they are equal. Complex numbers are an error.`},
	{Name: "ldexp", Names: "x exponents", Build: op.Build(Ldexp),
		Go: "(a *Array) Ldexp(exponents any)", Doc: `Ldexp returns a·2^exponents, rounded once; exponents are an array of integers or an integer. Complex numbers are an error.`},
	{Name: "full_like", Names: "x value", Build: op.Build(Filled),
		Go: "(a *Array) FullLike(value any)", Doc: `FullLike returns one value, an array of one element or a number of Go, everywhere in the array's shape and in its type. It takes no memory.`},
	{Name: "fmod", Build: op.Build(Fmod),
		Go: "(a *Array) Fmod(b any)", Doc: `Fmod returns C's remainder by b, an array or a number of Go: of the sign of a, where Mod's is that of b. Complex numbers are an error.`},
	{Name: "float_power", Build: op.Build(FloatPower),
		Go: "(a *Array) FloatPower(b any)", Doc: `FloatPower returns the power b, an array or a number of Go, in float64 or complex128.`},
	{Name: "heaviside", Build: op.Build(Heaviside),
		Go: "(a *Array) Heaviside(b any)", Doc: `Heaviside returns 0 below zero, b at zero, an array or a number of Go, and 1 above. Complex numbers are an error.`},
	{Name: "logaddexp2", Build: op.Build(LogAddExp2),
		Go: "(a *Array) LogAddExp2(b any)", Doc: `LogAddExp2 returns log2(2^a + 2^b), without overflow between; b is an array or a number of Go. Complex numbers are an error.`},
	{Name: "frexp", Parts: "mantissa exponent", Build: op.Build2(Frexp), Examples: `frexp(x, "mantissa")`,
		Go: "(a *Array) Frexp() (mantissa, exponent *Array)", Doc: `Frexp returns the elements as mantissas, from a half to one, and exponents of two, as int32: a is mantissa·2^exponent. Complex numbers are an error.`},
	{Name: "modf", Parts: "fraction integral", Build: op.Build2(Modf), Examples: `modf(x, "fraction")`,
		Go: "(a *Array) Modf() (fraction, integral *Array)", Doc: `Modf returns the fractional and the integral parts, which both have the sign. Complex numbers are an error.`},
	{Name: "divmod", Parts: "quotient remainder", Build: op.Build2(DivMod), Examples: `divmod(i, j | 1, "quotient")`,
		Go: "(a *Array) DivMod(b any) (quotient, remainder *Array)", Doc: `DivMod returns the quotients by b, an array or a number of Go, rounded down, and what they leave: FloorDiv and Mod. Complex numbers are an error.`},
	{Name: "gcd", Build: op.Build(Common), Examples: "gcd(i & 255, j & 255)",
		Go: "(a *Array) GCD(b any)", Doc: `GCD returns the greatest common divisors with b, an array or a number of Go, both integers: not negative, and 0 of zeros.`},
	{Name: "lcm", Build: op.Build(Common).With(DivisorArgs{Multiple: true}), Examples: "lcm(i & 255, j & 255)",
		Go: "(a *Array) LCM(b any)", Doc: `LCM returns the least common multiples with b, an array or a number of Go, both integers: not negative, and 0 where one is zero. One beyond the type's range wraps.`},
	{Name: "packbits", Passes: "1", Holds: "an accumulator for each result", Without: "Count", Build: op.Build(PackBits), Examples: "packbits(x > 0.5, 1)",
		Go: "(a *Array) PackBits(axis int, little bool) = a, []int{axis}, little", Doc: `PackBits returns 8 elements along an axis as the bits of a uint8, 1 of those that are not zero, the first the highest bit, or with little the lowest. Bits that no element is left for are 0. Elements are integers or bools.`},
	{Name: "unpackbits", Holds: op.Shown, Build: op.Build(UnpackBits), Examples: `unpackbits(astype(i & 255, "uint8"), 1)`,
		Go: "(a *Array) UnpackBits(axis int, little bool, count ...int) = a, []int{axis}, little, count", Doc: `UnpackBits returns the bits of uint8s along an axis, as uint8s of 0 and 1, the highest first, or with little the lowest. A count is how many along the axis: zeros are appended, or a negative one leaves out so many.`},
	{Name: "angle", Build: op.Build(Angle),
		Go: "(a *Array) Angle()", Doc: `Angle returns the angles of complex numbers in radians; of real ones 0, or pi below zero.`},
	{Name: "choose", Build: op.Build(Choose), Examples: "choose(i & 1, x, y)",
		Go: "(a *Array) Choose(choices ...any)", Doc: `Choose returns, of each element, an integer, the element of the choice with that number: choices are arrays or numbers of Go that broadcast with it. A number that no choice has is an error of the run.`},
	{Name: "select", Build: op.Build(chosen),
		Go: "Select"},
	{Name: "isclose", Build: op.Build(IsClose),
		Go: "(a *Array) IsClose(b any, c Closeness) = a, b, c.Relative, c.Absolute, c.EqualNaN", Doc: `IsClose returns which elements are close to b's, an array or a number of Go, as NumPy's isclose.`},
	{Name: "array_equal", Names: "a b", Passes: "1", Holds: "an accumulator", Build: op.Build(ArrayEqual), Examples: "array_equal(x, y)",
		Go: "(a *Array) ArrayEqual(b *Array, equalNaN bool)", Doc: `ArrayEqual returns whether two arrays have the same shape and equal elements, where NaN is equal to NaN if that is so said.`},
	{Name: "allclose", Passes: "1", Holds: "an accumulator", Build: op.Build(AllClose),
		Go: "(a *Array) AllClose(b any, c Closeness) = a, b, c.Relative, c.Absolute, c.EqualNaN", Doc: `AllClose returns whether all elements are close to b's, an array or a number of Go.`},
	{Name: "nan_to_num", Build: op.Build(NaNToNum),
		Go: "(a *Array) NaNToNum(nan, high, low float64)", Doc: `NaNToNum returns the array with nan for NaN, and with high and low for positive and negative infinity: the type's largest and smallest finite number where they are infinite. Complex numbers are an error.`},
	{Name: "clip", Build: op.Build(Clip),
		Go: "(a *Array) Clip(low, high any)", Doc: `Clip returns a, not below low and not above high; nil leaves a side open. Bounds beyond an integer type's range leave that side open too.`},
	{Name: "round", Names: "x decimals", Also: "around", Build: op.Build(Round),
		Go: "(a *Array) Round(decimals int)", Doc: `Round rounds to so many decimals, halves to the even digit; a negative number of them rounds to tens, hundreds and so on.`},
	{Name: "astype", NumPy: "x.astype", Build: op.Build(AsType), Moves: true, Examples: `astype(x, "float16"); astype(i, "float64")`,
		Go: "(a *Array) AsType(t DType)", Doc: `AsType returns the array in another type: floats lose their fraction, integers wrap, and a complex array is rejected, to take its Real, Imag
or Abs.`},
	{Name: "linspace", Build: op.Build(Linspace), Examples: "linspace(0, 1, 64)",
		Go: "Linspace(start, stop float64, count int) = start, stop, count", Doc: `Linspace returns count float64 numbers at equal distances from start to stop, both included; without the end they are Linspace(start, stop, count+1).Slice(":-1"). It takes no memory.`,
		More: []op.Func{{Go: "(a *Array) LinspaceTo(stop *Array, count int) = a, stop, count", Doc: `LinspaceTo returns count numbers at equal distances from each element to that of stop, both included, along a new first axis (NumPy's linspace of arrays).`}}},
	{Name: "zeros_like", Also: "empty_like", Build: op.Build(like(0))},
	{Name: "ones_like", Build: op.Build(like(1))},
}

// Arguments, by the operation.
type (
	AngleArgs struct {
		X   *graph.Node
		Deg bool
	}
	ChooseArgs struct {
		X       *graph.Node
		Choices []*graph.Node `usage:"a, b..." least:"1"`
	}
	chosenArgs struct {
		In []*graph.Node `usage:"condition, x, condition, y...2, otherwise" least:"2"`
	}
	// BitsArgs are the arguments of packbits and unpackbits: no axis is the array as if flattened, no count all bits.
	BitsArgs struct {
		X      *graph.Node
		Axis   []int `most:"1"`
		Little bool
		Count  []int `word:"5"`
	}
	EqualArgs struct {
		A, B     *graph.Node
		EqualNaN bool `usage:"equal_nan"`
	}
	CloseArgs struct {
		A, B *graph.Node
		Closeness
	}
	NaNToNumArgs struct {
		X      *graph.Node
		NaN    float64 `default:"0"`
		PosInf float64 `default:"inf"`
		NegInf float64 `default:"-inf"`
	}
	ClipArgs struct {
		X         *graph.Node
		Low, High *graph.Node `default:""`
	}
	AsTypeArgs struct {
		X    *graph.Node
		Type dtype.Type `usage:"float16"`
	}
	LinspaceArgs struct {
		Start, Stop *graph.Node
		Count       int
		Open        bool `usage:"endpoint=false"`
	}
	// FunctionArgs are the arguments of a function of each element of one array or of two. DType is what it is
	// computed in, NumPy's dtype of universal functions, for functions whose results have their type.
	FunctionArgs struct {
		Op    kernel.Op `usage:"-"`
		A, B  *graph.Node
		DType dtype.Type `word:"float32"`
	}
)

// WhereArgs are the arguments of where.
type WhereArgs struct{ Condition, X, Y *graph.Node }

func init() { Rows = append(append(Rows, functions()...), formulaRows()...) }

// aliases are NumPy's other names of functions.
var aliases = map[string]string{
	"abs": "absolute", "conjugate": "conj", "power": "pow", "remainder": "mod", "divide": "true_divide", "trunc": "fix", "isnan": "isnull",
	"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "arctan2": "atan2",
	"invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}

// functions are the rows of the kernels.
func functions() (all []op.Row) {
	for _, r := range kernel.Rows() {
		if r.Internal {
			continue
		}
		row := op.Row{Name: r.Name, Also: aliases[r.Name], NumPy: r.NumPy()}
		signature := "()"
		switch r.Arity {
		case 1:
			row.Build, row.Names, row.Without = op.Build(Function).With(FunctionArgs{Op: r.Op}), "x", "B"
		case 2:
			row.Build, signature = op.Build(Function).With(FunctionArgs{Op: r.Op}), "(b any)"
		case 3:
			row.Build, signature = op.Build(Where), "(condition *Array, x, y any)"
		}
		name := cmp.Or(r.Method, r.Const)
		if row.Go = "(a *Array) " + name + signature; r.Arity == 3 {
			row.Go = name + signature
		} else if r.Op.Result(dtype.Float64) != dtype.Float64 {
			row.Without += " DType"
		}
		operands := "(" + strings.Join([]string{"x", "y", "y"}[:r.Arity], ", ") + ")"
		switch {
		case r.Family == kernel.Choice:
			operands = "(x > 0.5, x, y)"
		case r.Family == kernel.Logic && r.Arity == 2:
			operands = "(x > 0.5, y > 0.25)"
		case r.Family == kernel.Bits && strings.HasSuffix(r.Name, "shift"):
			operands = "(i, j & 15)"
		case r.Family == kernel.Bits && r.Arity == 2:
			operands = "(i, j)"
		case r.Family == kernel.Bits:
			operands = "(i)"
		case r.Family == kernel.Part:
			operands = "(z)"
		}
		row.Examples = r.Name + operands
		row.Doc = name + " " + r.Sentence + "."
		all = append(all, row)
	}
	return all
}

// Function makes the nodes of a function of one array or of two.
func Function(site graph.Site, a FunctionArgs) (*graph.Node, error) {
	if a.B == nil {
		return in(site, a.Op.Row(), a.DType, a.A)
	}
	return in(site, a.Op.Row(), a.DType, a.A, a.B)
}

// Where is x where a condition is true, and else y.
func Where(site graph.Site, a WhereArgs) (*graph.Node, error) {
	return graph.Apply(site, kernel.Where, a.Condition, a.X, a.Y)
}

// in applies an operation in a type, NumPy's dtype of universal functions: operands are brought
// to it, and the result has it. None is what NumPy's promotion says.
func in(site graph.Site, r *kernel.Row, as dtype.Type, all ...*graph.Node) (*graph.Node, error) {
	operands := slices.Clone(all)
	for i, n := range all {
		from, to := n.DType.Kind(), as.Kind()
		if as == dtype.Invalid {
			break
		}
		if from > to && !(from == dtype.KindInt && to == dtype.KindUint && n.Weak) {
			return nil, graph.Reject(site, r.Name, fmt.Errorf("%s is not computed in %s, which cannot hold it: astype says so of an operand", n.DType, as), all...)
		}
		if n.Weak {
			if _, err := n.Value.Weaken(as); err != nil {
				return nil, graph.Reject(site, r.Name, err, all...)
			}
		}
		var err error
		if operands[i], err = graph.AsType(site, n, as); err != nil {
			return nil, err
		}
	}
	if r.Op == kernel.Power {
		return Power(site, operands[0], operands[1])
	}
	out, err := graph.Apply(site, r.Op, operands...)
	if err == nil && as != dtype.Invalid && out.DType != as {
		err = graph.Reject(site, r.Name, fmt.Errorf("of %s gives %s", as, out.DType), all...)
	}
	return out, err
}

func chosen(site graph.Site, a chosenArgs) (*graph.Node, error) {
	in := a.In
	var conditions, choices []*graph.Node
	for i := 0; i+1 < len(in); i += 2 {
		conditions, choices = append(conditions, in[i]), append(choices, in[i+1])
	}
	var otherwise *graph.Node
	if len(in)%2 == 1 {
		otherwise = in[len(in)-1]
	}
	return Select(site, conditions, choices, otherwise)
}

// Linspace is of numbers or of arrays; an open one has a step more, of which the last is left
// out.
func Linspace(site graph.Site, a LinspaceArgs) (out *graph.Node, err error) {
	start, stop, count, open := a.Start, a.Stop, a.Count, a.Open
	if open && count >= 0 {
		count++
	}
	if start.Weak && stop.Weak && max(start.DType, stop.DType).Kind() <= dtype.KindFloat {
		out, err = graph.Linspace(site, start.Value.Float(), stop.Value.Float(), count)
	} else {
		out, err = between(site, start, stop, count)
	}
	if err != nil || !open {
		return out, err
	}
	return graph.Slice(site, out, ":-1")
}

func like(value int64) func(site graph.Site, a op.Unary) (*graph.Node, error) {
	return func(site graph.Site, a op.Unary) (*graph.Node, error) {
		return graph.Full(site, dtype.FromInt(a.X.DType, value), a.X.Shape...)
	}
}

// Clip has no element below low and none above high.
func Clip(site graph.Site, a ClipArgs) (*graph.Node, error) {
	return graph.Clip(site, a.X, a.Low, a.High)
}

// AsType is the array in another type.
func AsType(site graph.Site, a AsTypeArgs) (*graph.Node, error) {
	return graph.AsType(site, a.X, a.Type)
}
