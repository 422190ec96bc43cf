// Package curve has the operations of curves that samples stand for: interpolation, areas and polynomials.
package curve

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "interp", Passes: "as searchsorted and take", Holds: "as searchsorted and take", Build: op.Build(Interp), Examples: "interp(x, linspace(0, 1, 100), sqrt(linspace(0, 1, 100)))",
		Go: "(a *Array) Interp(xp, fp *Array)", Doc: `Interp returns the values at each element of the curve through the points xp, fp, vectors with xp rising, by straight lines, in float64: NumPy's interp. Before the first point and behind the last it is the value there.`,
		More: []op.Func{{Go: "(a *Array) InterpWithin(xp, fp *Array, left, right any)", Doc: `InterpWithin is Interp with other values before the first point and behind the last.`}}},
	{Name: "trapezoid", Passes: "1", Holds: "an accumulator for each result", Build: op.Build(Trapezoid), Examples: "trapezoid(x, 0); trapezoid(x, 1, \"x\", slice(y, \"0\"))",
		Go: "(a *Array) Trapezoid(axis int, dx float64)", Doc: `Trapezoid returns the area below the elements along an axis, which are dx apart, by the trapezoidal rule. Integers are computed in float64.`,
		More: []op.Func{{Go: "(a *Array) TrapezoidAt(axis int, x *Array) = a, axis, 1, x", Doc: `TrapezoidAt is Trapezoid of elements that stand at x, a vector along the axis or an array of a's shape.`}}},
	{Name: "polyval", Build: op.Build(PolyVal), Examples: "polyval(slice(y, \"0, :4\"), x)",
		Go: "(a *Array) PolyVal(x any)", Doc: `PolyVal returns the values at x of a polynomial, of which a has up to 64 coefficients along its first axis, that of the highest power first. Further axes of a, as polyfit returns them, are broadcast with x.`},
	{Name: "polyfit", Passes: "1 over y", Holds: "36 MiB, or twice as many rows as columns four times in float64", Build: op.Build(PolyFit), Examples: "polyfit(slice(y, \":, 0\"), slice(x, \":, 0:3\"), 2)",
		Go: "(a *Array) PolyFit(y *Array, deg int)", Doc: `PolyFit returns the coefficients of the polynomials of a degree that fit the lines of y along its first axis best at the places a, a vector, in least squares: NumPy's polyfit, in float64, with deg + 1 coefficients along the first axis, that of the highest power first. Further axes of y stay, with their names and labels; NumPy takes one.`,
		More: []op.Func{{Go: "(a *Array) PolyFitWeighted(y *Array, deg int, w *Array)", Doc: `PolyFitWeighted is PolyFit with each distance weighed by w, one for each place, before it is squared.`}}},
	{Name: "vander", Build: op.Build(Vander), Examples: "vander(slice(x, \":, 0\"), 3)",
		Go: "(a *Array) Vander(n int, increasing bool)", Doc: `Vander returns the first n powers of a vector's elements as rows, the highest first, or from 0 on where they are increasing. A negative n is the vector's length.`},
}

// Arguments, by the operation.
type (
	InterpArgs struct {
		X, XP, FP *graph.Node
		Left      *graph.Node `word:"l"`
		Right     *graph.Node `word:"r"`
	}
	TrapezoidArgs struct {
		Y    *graph.Node
		Axis int         `default:"-1"`
		DX   float64     `word:"0.5" default:"1"`
		X    *graph.Node `word:"x"`
	}
	PolyFitArgs struct {
		X, Y *graph.Node
		Deg  int
		W    *graph.Node `word:"w"`
	}
	PolyValArgs struct{ P, X *graph.Node }
	VanderArgs  struct {
		X          *graph.Node
		N          int `default:"-1"`
		Increasing bool
	}
)
