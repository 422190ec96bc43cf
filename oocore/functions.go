package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/elements"
)

// Functions of integers are computed in floats, the shortest that hold an
// integer of 8 or 16 bits, else float64.

// Neg returns -a.
func (a *Array) Neg() *Array { return apply(kernel.Negative, a) }

// Abs returns the magnitude; of complex numbers, a float.
func (a *Array) Abs() *Array { return apply(kernel.Absolute, a) }

// Sign returns -1, 0 or 1; NaN of NaN; of complex numbers, a divided by its magnitude.
func (a *Array) Sign() *Array { return apply(kernel.Sign, a) }

// Square returns a².
func (a *Array) Square() *Array { return apply(kernel.Square, a) }

// Sqrt returns the square root; NaN of negative numbers.
func (a *Array) Sqrt() *Array { return apply(kernel.Sqrt, a) }

// Cbrt returns the cube root.
func (a *Array) Cbrt() *Array { return apply(kernel.Cbrt, a) }

// Reciprocal returns 1/a, of integers an integer.
func (a *Array) Reciprocal() *Array { return apply(kernel.Reciprocal, a) }

// Exp returns e to the power of a.
func (a *Array) Exp() *Array { return apply(kernel.Exp, a) }

// Exp2 returns 2 to the power of a.
func (a *Array) Exp2() *Array { return apply(kernel.Exp2, a) }

// Expm1 returns exp(a) - 1, precise near zero.
func (a *Array) Expm1() *Array { return apply(kernel.Expm1, a) }

// Log returns the natural logarithm.
func (a *Array) Log() *Array { return apply(kernel.Log, a) }

// Erf returns the error function, 2/√π · ∫ exp(-t²) dt from 0 to a (scipy.special.erf), of real
// numbers; its types are as those of Exp.
func (a *Array) Erf() *Array { return apply(kernel.Erf, a) }

// Log2 returns the logarithm to base 2.
func (a *Array) Log2() *Array { return apply(kernel.Log2, a) }

// Log10 returns the logarithm to base 10.
func (a *Array) Log10() *Array { return apply(kernel.Log10, a) }

// Log1p returns log(1 + a), precise near zero.
func (a *Array) Log1p() *Array { return apply(kernel.Log1p, a) }

// Sin returns the sine of an angle in radians.
func (a *Array) Sin() *Array { return apply(kernel.Sin, a) }

// Cos returns the cosine of an angle in radians.
func (a *Array) Cos() *Array { return apply(kernel.Cos, a) }

// Tan returns the tangent of an angle in radians.
func (a *Array) Tan() *Array { return apply(kernel.Tan, a) }

// Arcsin returns the inverse sine.
func (a *Array) Arcsin() *Array { return apply(kernel.Arcsin, a) }

// Arccos returns the inverse cosine.
func (a *Array) Arccos() *Array { return apply(kernel.Arccos, a) }

// Arctan returns the inverse tangent.
func (a *Array) Arctan() *Array { return apply(kernel.Arctan, a) }

// Sinh returns the hyperbolic sine.
func (a *Array) Sinh() *Array { return apply(kernel.Sinh, a) }

// Cosh returns the hyperbolic cosine.
func (a *Array) Cosh() *Array { return apply(kernel.Cosh, a) }

// Tanh returns the hyperbolic tangent.
func (a *Array) Tanh() *Array { return apply(kernel.Tanh, a) }

// Arcsinh returns the inverse hyperbolic sine.
func (a *Array) Arcsinh() *Array { return apply(kernel.Arcsinh, a) }

// Arccosh returns the inverse hyperbolic cosine.
func (a *Array) Arccosh() *Array { return apply(kernel.Arccosh, a) }

// Arctanh returns the inverse hyperbolic tangent.
func (a *Array) Arctanh() *Array { return apply(kernel.Arctanh, a) }

// Floor rounds down.
func (a *Array) Floor() *Array { return apply(kernel.Floor, a) }

// Ceil rounds up.
func (a *Array) Ceil() *Array { return apply(kernel.Ceil, a) }

// Trunc rounds towards zero.
func (a *Array) Trunc() *Array { return apply(kernel.Trunc, a) }

// Rint rounds to the nearest integer, halves to the even one.
func (a *Array) Rint() *Array { return apply(kernel.Rint, a) }

// Invert flips the bits of integers, and bools.
func (a *Array) Invert() *Array { return apply(kernel.Invert, a) }

// LogicalNot returns whether the element is zero.
func (a *Array) LogicalNot() *Array { return apply(kernel.LogicalNot, a) }

// IsNaN returns whether the element is not a number.
func (a *Array) IsNaN() *Array { return apply(kernel.IsNaN, a) }

// IsInf returns whether the element is infinite.
func (a *Array) IsInf() *Array { return apply(kernel.IsInf, a) }

// IsFinite returns whether the element is neither infinite nor NaN.
func (a *Array) IsFinite() *Array { return apply(kernel.IsFinite, a) }

// Real returns the real part.
func (a *Array) Real() *Array { return apply(kernel.Real, a) }

// Imag returns the imaginary part.
func (a *Array) Imag() *Array { return apply(kernel.Imag, a) }

// Conj returns the complex conjugate.
func (a *Array) Conj() *Array { return apply(kernel.Conjugate, a) }

// Clip returns a, not below low and not above high; nil leaves a side open. Bounds
// beyond an integer type's range leave that side open too.
func (a *Array) Clip(low, high any) *Array {
	operands := []any{a}
	for _, bound := range []any{low, high} {
		if bound != nil {
			operands = append(operands, bound)
		}
	}
	return build("clip", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		var bounds [2]*graph.Node
		at := 1
		for i, bound := range []any{low, high} {
			if bound != nil {
				bounds[i] = in[at]
				at++
			}
		}
		return graph.Clip(site, in[0], bounds[0], bounds[1])
	}, operands...)
}

// Round rounds to so many decimals, halves to the even digit; a negative number
// of them rounds to tens, hundreds and so on.
func (a *Array) Round(decimals int) *Array {
	return a.view("round", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return elements.Round(site, n, decimals)
	})
}

// AsType returns the array in another type: floats lose their fraction, integers
// wrap, and a complex array is rejected, to take its Real, Imag or Abs.
func (a *Array) AsType(t DType) *Array {
	return a.view("astype", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.AsType(site, n, t)
	})
}
