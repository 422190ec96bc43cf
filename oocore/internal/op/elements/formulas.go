package elements

import (
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// FormulaArgs are the arguments of a function of one array, or of two.
type FormulaArgs struct {
	Name string `usage:"-"`
	A, B *graph.Node
}

// formula is a function of scipy.special: of one real array, which is both x and y then, or of two, in float64.
type formula struct {
	name, method, doc string
	arity             int
	of                func(m *graph.Maker, x, y *graph.Node) *graph.Node
}

// Where a plain formula would cancel, overflow, or have no number at an end, another takes its place.
var formulas = []formula{
	{"expit", "Expit", "1/(1 + exp(-a))", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node {
		e := fading(m, x)
		return m.Of(kernel.Divide, m.Of(kernel.Where, m.Of(kernel.Less, x, 0), e, 1.0), m.Of(kernel.Add, e, 1.0))
	}},
	{"log_expit", "LogExpit", "log(1/(1 + exp(-a)))", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node {
		return m.Of(kernel.Subtract, m.Of(kernel.Minimum, x, 0), m.Of(kernel.Log1p, fading(m, x)))
	}},
	{"softplus", "Softplus", "log(1 + exp(a)), without overflow between", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node {
		return m.Of(kernel.Add, m.Of(kernel.Maximum, x, 0), m.Of(kernel.Log1p, fading(m, x)))
	}},
	{"logit", "Logit", "log(a/(1 - a))", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node {
		s := m.Of(kernel.Subtract, m.Of(kernel.Multiply, x, 2.0), 1.0) // is exact where x is around a half
		far := m.Of(kernel.Log, m.Of(kernel.Divide, x, m.Of(kernel.Subtract, 1.0, x)))
		return m.Of(kernel.Where, m.Of(kernel.Less, m.Of(kernel.Absolute, s), 0.4), m.Of(kernel.Multiply, m.Of(kernel.Arctanh, s), 2.0), far)
	}},
	{"entr", "Entr", "-a·log(a), 0 of 0, and minus infinity below", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node {
		return m.Of(kernel.Where, m.Of(kernel.Less, x, 0), math.Inf(-1), m.Of(kernel.Negative, timesLog(kernel.Log)(m, x, x)))
	}},
	{"erfc", "Erfc", "1 - erf(a), precise where that is near 0", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node { return Special{"erfc"}.of(m, x) }},
	{"gammaln", "GammaLn", "the logarithm of the magnitude of the gamma function", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node { return Special{"gammaln"}.of(m, x) }},
	{"log_ndtr", "LogNDTR", "the logarithm of NDTR, precise where that is near 0 or 1", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node { return Special{"log_ndtr"}.of(m, x) }},
	{"ndtr", "NDTR", "the share of the normal distribution that is below a", 1, func(m *graph.Maker, x, _ *graph.Node) *graph.Node { return Special{"ndtr"}.of(m, x) }},
	{"xlogy", "XLogY", "a·log(b), and 0 where a is 0 and b is not NaN", 2, timesLog(kernel.Log)},
	{"xlog1py", "XLog1PY", "a·log(1 + b), and 0 where a is 0 and b is not NaN", 2, timesLog(kernel.Log1p)},
	{"rel_entr", "RelEntr", "a·log(a/b), 0 where a is 0, and infinity where one of them is negative", 2, entropy(false)},
	{"kl_div", "KLDiv", "a·log(a/b) - a + b, b where a is 0, and infinity where one of them is negative", 2, entropy(true)},
}

func formulaRows() (all []op.Row) {
	for _, f := range formulas {
		i := f.arity - 1
		all = append(all, op.Row{Name: f.name, Names: []string{"x", ""}[i], NumPy: "scipy.special." + f.name, Build: op.Build(Formula).With(FormulaArgs{Name: f.name}),
			Without: []string{"B", ""}[i], Examples: f.name + []string{"(x)", "(x, y)"}[i], Go: "(a *Array) " + f.method + []string{"()", "(b any)"}[i],
			Doc: f.method + " returns " + f.doc + []string{"", "; b is an array or a number of Go"}[i] + ". Complex numbers are an error."})
	}
	return all
}

// Formula makes the nodes of a function of scipy.special, in float64. The result has the type of arctan2's.
func Formula(site graph.Site, a FormulaArgs) (*graph.Node, error) {
	f := formulas[slices.IndexFunc(formulas, func(f formula) bool { return f.name == a.Name })]
	in := []*graph.Node{a.A, a.B}[:f.arity]
	return made(site, a.Name, false, in, func(m *graph.Maker) *graph.Node {
		x, y := in[0], in[f.arity-1]
		return m.Cast(f.of(m, m.Cast(x, dtype.Float64), m.Cast(y, dtype.Float64)), m.Apply(kernel.Arctan2, x, y).DType)
	})
}

// fading is exp(-|x|), which does not overflow.
func fading(m *graph.Maker, x *graph.Node) *graph.Node {
	return m.Of(kernel.Exp, m.Of(kernel.Negative, m.Of(kernel.Absolute, x)))
}

// timesLog is x·log(y), and 0 where x is 0, unless y is NaN.
func timesLog(log kernel.Op) func(m *graph.Maker, x, y *graph.Node) *graph.Node {
	return func(m *graph.Maker, x, y *graph.Node) *graph.Node {
		return m.Of(kernel.Where, m.Of(kernel.LogicalAnd, m.Of(kernel.Equal, x, 0), m.Of(kernel.Equal, y, y)), 0.0, m.Of(kernel.Multiply, x, m.Of(log, y)))
	}
}

// entropy is rel_entr, or kl_div, which adds y - x. SciPy's kl_div overflows where x/y does.
func entropy(divergence bool) func(m *graph.Maker, x, y *graph.Node) *graph.Node {
	return func(m *graph.Maker, x, y *graph.Node) *graph.Node {
		by := m.Of(kernel.Divide, x, y)
		log := m.Of(kernel.Subtract, m.Of(kernel.Log, x), m.Of(kernel.Log, y)) // where no normal number is the quotient
		log = m.Of(kernel.Where, m.Of(kernel.LogicalAnd, m.Of(kernel.Greater, by, 0x1p-1022), m.Of(kernel.Less, by, math.Inf(1))), m.Of(kernel.Log, by), log)
		log = m.Of(kernel.Where, m.Of(kernel.LogicalAnd, m.Of(kernel.Greater, by, 0.5), m.Of(kernel.Less, by, 2)), m.Of(kernel.Log1p, m.Of(kernel.Divide, m.Of(kernel.Subtract, x, y), y)), log)
		out, zero := m.Of(kernel.Multiply, x, log), m.Number(0.0)
		if divergence {
			out, zero = m.Of(kernel.Add, m.Of(kernel.Subtract, out, x), y), y
		}
		zero = m.Of(kernel.Where, m.Of(kernel.LogicalAnd, m.Of(kernel.Equal, x, 0), m.Of(kernel.GreaterEqual, y, 0)), zero, math.Inf(1))
		out = m.Of(kernel.Where, m.Of(kernel.LogicalOr, m.Of(kernel.LessEqual, x, 0), m.Of(kernel.LessEqual, y, 0)), zero, out)
		return m.Of(kernel.Where, m.Of(kernel.IsNaN, m.Of(kernel.Add, m.Of(kernel.Absolute, x), m.Of(kernel.Absolute, y))), math.NaN(), out)
	}
}
