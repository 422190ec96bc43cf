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
	{Usage: "signbit(x)", Build: Signbit,
		Go: "(a *Array) Signbit()", Doc: `Signbit returns which elements have their sign bit set: negative ones, -0 and NaN with a sign.`},
	{Usage: "spacing(x)", Build: Spacing,
		Go: "(a *Array) Spacing()", Doc: `Spacing returns the distance of each element to the next float away from zero, with its sign; of float16, as in NumPy, to the next larger one. Complex numbers are an error.`},
	{Usage: "i0(x)", Build: I0,
		Go: "(a *Array) I0()", Doc: `I0 returns the modified Bessel function of the first kind and order zero (NumPy's i0). Complex numbers are an error.`},
	{Usage: "fabs(x)", Build: Fabs},
	{Usage: "positive(x)", Build: Positive},
	{Usage: "radians(x)", Also: "deg2rad", Build: Radians,
		Go: "(a *Array) Radians()", Doc: `Radians returns degrees as radians. Complex numbers are an error.`},
	{Usage: "degrees(x)", Also: "rad2deg", Build: Degrees,
		Go: "(a *Array) Degrees()", Doc: `Degrees returns radians as degrees. Complex numbers are an error.`},
	{Usage: "sinc(x)", Build: Sinc,
		Go: "(a *Array) Sinc()", Doc: `Sinc returns sin(pi·x)/(pi·x), and 1 of 0. Complex numbers are an error.`},
	{Usage: "isposinf(x)", Build: IsPosInf,
		Go: "(a *Array) IsPosInf()", Doc: `IsPosInf returns which elements are infinite and positive.`},
	{Usage: "isneginf(x)", Build: IsNegInf,
		Go: "(a *Array) IsNegInf()", Doc: `IsNegInf returns which elements are infinite and negative.`},
	{Usage: "isreal(x)", Build: IsReal,
		Go: "(a *Array) IsReal()", Doc: `IsReal returns which elements have no imaginary part.`},
	{Usage: "iscomplex(x)", Build: IsComplex,
		Go: "(a *Array) IsComplex()", Doc: `IsComplex returns which elements have an imaginary part.`},
	{Usage: "logaddexp(a, b)", Build: LogAddExp,
		Go: "(a *Array) LogAddExp(b any)", Doc: `LogAddExp returns log(exp(a) + exp(b)), without overflow between; b is an array or a number of Go. Complex numbers are an error.`},
	{Usage: "nextafter(a, b)", Build: NextAfter,
		Go: "(a *Array) NextAfter(b any)", Doc: `NextAfter returns the float that comes after a on the way to b, an array or a number of Go; b where they are equal. Complex numbers are an error.`},
	{Usage: "ldexp(x, exponents)", Build: Ldexp,
		Go: "(a *Array) Ldexp(exponents any)", Doc: `Ldexp returns a·2^exponents, rounded once; exponents are an array of integers or an integer. Complex numbers are an error.`},
	{Usage: "full_like(x, value)", Build: Filled,
		Go: "(a *Array) FullLike(value any)", Doc: `FullLike returns one value, an array of one element or a number of Go, everywhere in the array's shape and in its type. It takes no memory.`},
	{Usage: "fmod(a, b)", Build: Fmod,
		Go: "(a *Array) Fmod(b any)", Doc: `Fmod returns C's remainder by b, an array or a number of Go: of the sign of a, where Mod's is that of b. Complex numbers are an error.`},
	{Usage: "float_power(a, b)", Build: FloatPower,
		Go: "(a *Array) FloatPower(b any)", Doc: `FloatPower returns the power b, an array or a number of Go, in float64 or complex128.`},
	{Usage: "heaviside(a, b)", Build: Heaviside,
		Go: "(a *Array) Heaviside(b any)", Doc: `Heaviside returns 0 below zero, b at zero, an array or a number of Go, and 1 above. Complex numbers are an error.`},
	{Usage: "logaddexp2(a, b)", Build: LogAddExp2,
		Go: "(a *Array) LogAddExp2(b any)", Doc: `LogAddExp2 returns log2(2^a + 2^b), without overflow between; b is an array or a number of Go. Complex numbers are an error.`},
	{Usage: `frexp(x, "mantissa" or "exponent")`, Build: Frexp, Examples: `frexp(x, "mantissa")`,
		Go: "(a *Array) Frexp() (mantissa, exponent *Array)", Doc: `Frexp returns the elements as mantissas, from a half to one, and exponents of two, as int32: a is mantissa·2^exponent. Complex numbers are an error.`},
	{Usage: `modf(x, "fraction" or "integral")`, Build: Modf, Examples: `modf(x, "fraction")`,
		Go: "(a *Array) Modf() (fraction, integral *Array)", Doc: `Modf returns the fractional and the integral parts, which both have the sign. Complex numbers are an error.`},
	{Usage: `angle(x, "deg")`, Build: Angle,
		Go: "(a *Array) Angle()", Doc: `Angle returns the angles of complex numbers in radians; of real ones 0, or pi below zero.`},
	{Usage: "choose(x, a, b...)", Build: Choose, Examples: "choose(i & 1, x, y)",
		Go: "(a *Array) Choose(choices ...any)", Doc: `Choose returns, of each element, an integer, the element of the choice with that number: choices are arrays or numbers of Go that broadcast with it. A number that no choice has is an error of the run.`},
	{Usage: "select(condition, x, condition, y...2, otherwise)", Build: chosen,
		Go: "Select"},
	{Usage: `isclose(a, b, rtol=1e-5, atol=1e-8, "equal_nan")`, Build: closeness(IsClose),
		Go: "(a *Array) IsClose(b any, c Closeness) = a, b, c.Relative, c.Absolute, c.EqualNaN", Doc: `IsClose returns which elements are close to b's, an array or a number of Go, as NumPy's isclose.`},
	{Usage: `allclose(a, b, rtol=1e-5, atol=1e-8, "equal_nan")`, Passes: "1", Holds: "an accumulator", Build: closeness(AllClose),
		Go: "(a *Array) AllClose(b any, c Closeness) = a, b, c.Relative, c.Absolute, c.EqualNaN", Doc: `AllClose returns whether all elements are close to b's, an array or a number of Go.`},
	{Usage: "nan_to_num(x, nan=0, posinf=inf, neginf=-inf)", Build: NaNToNum,
		Go: "(a *Array) NaNToNum(nan, high, low float64)", Doc: `NaNToNum returns the array with nan for NaN, and with high and low for positive and negative infinity: the type's largest and smallest finite number where they are infinite. Complex numbers are an error.`},
	{Usage: "clip(x, low=, high=)", Build: graph.Clip,
		Go: "(a *Array) Clip(low, high any)", Doc: `Clip returns a, not below low and not above high; nil leaves a side open. Bounds beyond an integer type's range leave that side open too.`},
	{Usage: "round(x, decimals=0)", Also: "around", Build: Round,
		Go: "(a *Array) Round(decimals int)", Doc: `Round rounds to so many decimals, halves to the even digit; a negative number of them rounds to tens, hundreds and so on.`},
	{Usage: `astype(x, "float16")`, NumPy: "x.astype", Build: graph.AsType, Moves: true, Examples: `astype(x, "float16"); astype(i, "float64")`,
		Go: "(a *Array) AsType(t DType)", Doc: `AsType returns the array in another type: floats lose their fraction, integers wrap, and a complex array is rejected, to take its Real, Imag
or Abs.`},
	{Usage: `linspace(start, stop, count, "endpoint=false")`, Build: linspace, Examples: "linspace(0, 1, 64)",
		Go: "Linspace(start, stop float64, count int) = start, stop, count", Doc: `Linspace returns count float64 numbers at equal distances from start to stop, both included; without the end they are Linspace(start, stop, count+1).Slice(":-1"). It takes no memory.`,
		More: []op.Func{{Go: "(a *Array) LinspaceTo(stop *Array, count int) = a, stop, count", Doc: `LinspaceTo returns count numbers at equal distances from each element to that of stop, both included, along a new first axis (NumPy's linspace of arrays).`}}},
	{Usage: "zeros_like(x)", Also: "empty_like", Build: like(0)},
	{Usage: "ones_like(x)", Build: like(1)},
}

func init() { Rows = append(Rows, functions()...) }

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
		row := op.Row{Also: aliases[r.Name], NumPy: r.NumPy()}
		usage, signature := "x", "()"
		switch r.Arity {
		case 1:
			row.Build = func(site graph.Site, x *graph.Node, as dtype.Type) (*graph.Node, error) { return in(site, r, as, x) }
		case 2:
			usage, signature = "a, b", "(b any)"
			row.Build = func(site graph.Site, a, b *graph.Node, as dtype.Type) (*graph.Node, error) {
				return in(site, r, as, a, b)
			}
		case 3:
			usage = "condition, x, y"
			row.Build = func(site graph.Site, a, b, c *graph.Node) (*graph.Node, error) {
				return graph.Apply(site, r.Op, a, b, c)
			}
		}
		name := cmp.Or(r.Method, r.Const)
		row.Go = "(a *Array) " + name + signature
		switch {
		case r.Arity == 3:
			row.Go = name + "(condition *Array, x, y any)"
		case r.Op.Result(dtype.Float64) == dtype.Float64:
			usage += `, "dtype=float32"`
		case r.Arity == 2:
			row.Build = func(site graph.Site, a, b *graph.Node) (*graph.Node, error) { return graph.Apply(site, r.Op, a, b) }
		default:
			row.Build = func(site graph.Site, x *graph.Node) (*graph.Node, error) { return graph.Apply(site, r.Op, x) }
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
		row.Usage, row.Doc = r.Name+"("+usage+")", name+" "+r.Sentence+"."
		all = append(all, row)
	}
	return all
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

func chosen(site graph.Site, in []*graph.Node) (*graph.Node, error) {
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

func closeness(f func(site graph.Site, a, b *graph.Node, c Closeness) (*graph.Node, error)) any {
	return func(site graph.Site, a, b *graph.Node, relative, absolute float64, equalNaN bool) (*graph.Node, error) {
		return f(site, a, b, Closeness{relative, absolute, equalNaN})
	}
}

// linspace is of numbers or of arrays; an open one has a step more, of which the last is left
// out.
func linspace(site graph.Site, start, stop *graph.Node, count int, open bool) (out *graph.Node, err error) {
	if open && count >= 0 {
		count++
	}
	if start.Weak && stop.Weak && max(start.DType, stop.DType).Kind() <= dtype.KindFloat {
		out, err = graph.Linspace(site, start.Value.Float(), stop.Value.Float(), count)
	} else {
		out, err = Linspace(site, start, stop, count)
	}
	if err != nil || !open {
		return out, err
	}
	return graph.Slice(site, out, ":-1")
}

func like(value int64) any {
	return func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return graph.Full(site, dtype.FromInt(x.DType, value), x.Shape...)
	}
}
