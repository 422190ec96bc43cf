package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/linalg"
)

func init() {
	const (
		blocks = "36 MiB, or twice as many rows as columns four times in float64"
		whole  = "a matrix, or about 4 MiB of small ones: each input, the result and a factor in float64"
	)
	defineOne("det(x)", linalg.Det)
	defineOne("inv(x)", linalg.Inv)
	defineOne("cholesky(x)", linalg.Cholesky)
	defineOne("svdvals(x)", linalg.SVDVals)
	for _, name := range []string{"det", "inv", "eigvalsh", "eigh", "slogdet"} {
		document(name, Doc{NumPy: "np.linalg." + name, Passes: "1", Working: whole})
	}
	document("cholesky", Doc{NumPy: "np.linalg.cholesky", Passes: "1; of more than 2048 rows, 2 for each 1024 columns over those before", Working: whole + "; of panels, 40 MiB"})
	document("svdvals", Doc{NumPy: "np.linalg.svdvals", Passes: "1", Working: blocks})
	define("solve(a, b, \"pos\")", 2, 3, func(c *call) (*graph.Node, error) {
		return withPart(c, 2, map[string]func(a, b *graph.Node) (*graph.Node, error){
			"":    func(a, b *graph.Node) (*graph.Node, error) { return linalg.Solve(c.site, a, b) },
			"pos": func(a, b *graph.Node) (*graph.Node, error) { return linalg.SolvePositive(c.site, a, b) },
		})
	})
	document("solve", Doc{NumPy: "np.linalg.solve", Passes: "1; of \"pos\", a positive definite matrix, those of cholesky and 2 more", Working: whole})
	define("solve_triangular(a, b, \"lower\")", 2, 3, func(c *call) (*graph.Node, error) {
		upper := func(a, b *graph.Node) (*graph.Node, error) { return linalg.SolveTriangular(c.site, a, b, true) }
		return withPart(c, 2, map[string]func(a, b *graph.Node) (*graph.Node, error){
			"": upper, "upper": upper,
			"lower": func(a, b *graph.Node) (*graph.Node, error) { return linalg.SolveTriangular(c.site, a, b, false) },
		})
	})
	document("solve_triangular", Doc{NumPy: "scipy.linalg.solve_triangular", Passes: "1 over b, and 1 over a for each 12 MiB of b's columns", Working: "whole columns of b, and rows of a: 12 MiB of each in float64"})
	defineParts("slogdet(x, \"sign\" or \"logabsdet\")", []string{"sign", "logabsdet"}, func(c *call, x *graph.Node) ([]*graph.Node, error) {
		sign, logabs, err := linalg.SlogDet(c.site, x)
		return []*graph.Node{sign, logabs}, err
	})
	defineParts("eigh(x, \"values\" or \"vectors\")", []string{"values", "vectors"}, func(c *call, x *graph.Node) ([]*graph.Node, error) {
		values, vectors, err := linalg.EigH(c.site, x)
		return []*graph.Node{values, vectors}, err
	})
	defineOne("eigvalsh(x)", func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		values, _, err := linalg.EigH(site, x)
		return values, err
	})
	defineParts("qr(x, \"q\" or \"r\")", []string{"q", "r"}, func(c *call, x *graph.Node) ([]*graph.Node, error) {
		q, r, err := linalg.QR(c.site, x)
		return []*graph.Node{q, r}, err
	})
	document("qr", Doc{NumPy: "np.linalg.qr", Passes: "\"r\": 1; \"q\": 2 read, 1 written, twice that of complex matrices", Working: blocks})
	define(`svd(x, "u", "s" or "vt", "full")`, 2, 3, func(c *call) (*graph.Node, error) {
		decompose := linalg.SVD
		if c.option("full") {
			decompose = linalg.FullSVD
		}
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		if len(c.values) != 2 {
			return nil, c.fail(c.args[len(c.args)-1].Pos(), "svd gives one of its results, by name: %s", c.f.Usage)
		}
		part, err := c.part(1, []string{"u", "s", "vt"})
		if err != nil {
			return nil, err
		}
		u, s, vt, err := decompose(c.site, in[0])
		return []*graph.Node{u, s, vt}[part], err
	})
	defineParts(`lu(x, "p", "l" or "u")`, []string{"p", "l", "u"}, func(c *call, x *graph.Node) ([]*graph.Node, error) {
		p, l, u, err := linalg.LU(c.site, x)
		return []*graph.Node{p, l, u}, err
	})
	document("lu", Doc{NumPy: "scipy.linalg.lu", Passes: "1", Working: whole})
	document("svd", Doc{NumPy: "np.linalg.svd", Passes: "\"s\" and \"vt\": 1; \"u\": 2 read, 1 written; \"full\": 1", Working: blocks + "; \"full\" of matrices that fit a task"})
	define("randomized_svd(x, k, iterations, seed, \"u\", \"s\" or \"vt\")", 3, 5, randomizedSVD)
	document("randomized_svd", Doc{NumPy: "sklearn.utils.extmath.randomized_svd", Passes: "1 and one for each iteration (2)", Working: "a block of 12 MiB in float64, or a row, and k+10 rows of x"})
	define("pinv(x, rcond)", 1, 2, withLimit(linalg.PInv))
	document("pinv", Doc{NumPy: "np.linalg.pinv", Passes: "2 read, 1 written", Working: blocks})
	define("matrix_rank(x, rcond)", 1, 2, withLimit(linalg.MatrixRank))
	document("matrix_rank", Doc{NumPy: "np.linalg.matrix_rank", Passes: "1", Working: blocks})
	define("matrix_power(x, n)", 2, 2, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
		return linalg.MatrixPower(c.site, x, n[0])
	}))
	document("matrix_power", Doc{NumPy: "np.linalg.matrix_power", Passes: "as matmul, twice for each binary digit of n at most", Working: "as matmul; as inv where n is negative"})
	define("lstsq(a, b, rcond)", 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		rcond := -1.0
		if len(c.values) > 2 {
			if rcond, err = c.float(2); err != nil {
				return nil, err
			}
		}
		out, err := linalg.Lstsq(c.site, in[0], in[1], rcond)
		return out.X, err
	})
	document("lstsq", Doc{NumPy: "np.linalg.lstsq", Passes: "1 over both; 3 where there are more columns than rows", Working: blocks})
	define(`norm(x, ord, axes..., "keepdims")`, 1, 5, func(c *call) (*graph.Node, error) {
		keep := c.option("keepdims")
		return withOrder(c, func(x *graph.Node, o linalg.Order, axes []int) (*graph.Node, error) {
			out, err := linalg.Norm(c.site, x, o, axes...)
			if err != nil || !keep {
				return out, err
			}
			if axes, err = grid.Axes(axes, len(x.Shape)); err != nil {
				return nil, err
			}
			return graph.ExpandDims(c.site, out, axes...)
		})
	})
	document("norm", Doc{NumPy: "np.linalg.norm", Passes: "1; of singular values as svdvals", Working: "an accumulator for each result"})
	define("cond(x, ord)", 1, 2, func(c *call) (*graph.Node, error) {
		return withOrder(c, func(x *graph.Node, o linalg.Order, _ []int) (*graph.Node, error) { return linalg.Cond(c.site, x, o) })
	})
	document("cond", Doc{NumPy: "np.linalg.cond", Passes: "1", Working: blocks})
}

// defineOne adds a function of one array alone.
func defineOne(usage string, f func(graph.Site, *graph.Node) (*graph.Node, error)) {
	define(usage, 1, 1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		return f(c.site, in[0])
	})
}

// defineParts adds a function of one array that has several results, of which its last
// argument names one.
func defineParts(usage string, parts []string, f func(c *call, x *graph.Node) ([]*graph.Node, error)) {
	define(usage, 2, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		part, err := c.part(1, parts)
		if err != nil {
			return nil, err
		}
		all, err := f(c, in[0])
		if err != nil {
			return nil, err
		}
		return all[part], nil
	})
}

// option takes a word from the end of the arguments, and reports whether it stood there.
func (c *call) option(word string) bool {
	last := len(c.values) - 1
	if last == 0 || c.values[last].Text == nil || *c.values[last].Text != word {
		return false
	}
	c.values = c.values[:last]
	return true
}

// part is which of a function's results an argument names.
func (c *call) part(at int, parts []string) (int, error) {
	text := c.values[at].Text
	if text != nil {
		for i, p := range parts {
			if *text == p {
				return i, nil
			}
		}
	}
	return 0, c.fail(c.args[at].Pos(), "%s gives one of its results, by name: %s", c.f.Name, c.f.Usage)
}

// withPart is a function of two arrays and a name of its form.
func withPart(c *call, at int, forms map[string]func(a, b *graph.Node) (*graph.Node, error)) (*graph.Node, error) {
	in, err := c.arrays(2)
	if err != nil {
		return nil, err
	}
	name := ""
	if len(c.values) > at {
		if c.values[at].Text != nil {
			name = *c.values[at].Text
		}
		if name == "" || forms[name] == nil {
			return nil, c.fail(c.args[at].Pos(), "%s has no such form: %s", c.f.Name, c.f.Usage)
		}
	}
	return forms[name](in[0], in[1])
}

// withLimit is a function of an array and the share of the largest singular value up to
// which others are zero.
func withLimit(f func(graph.Site, *graph.Node, float64) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		rcond := -1.0
		if len(c.values) > 1 {
			if rcond, err = c.float(1); err != nil {
				return nil, err
			}
		}
		return f(c.site, in[0], rcond)
	}
}

// withOrder is a function of an array, a norm's order and axes.
func withOrder(c *call, f func(x *graph.Node, o linalg.Order, axes []int) (*graph.Node, error)) (*graph.Node, error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, err
	}
	var o linalg.Order
	if len(c.values) > 1 {
		if text := c.values[1].Text; text != nil {
			o.Name = *text
		} else if o.P, err = c.float(1); err != nil {
			return nil, err
		} else {
			o.Name = "p"
		}
	}
	axes, err := c.ints(2)
	if err != nil {
		return nil, err
	}
	return f(in[0], o, axes)
}

func randomizedSVD(c *call) (*graph.Node, error) {
	in, err := c.arrays(1)
	if err != nil {
		return nil, err
	}
	last := len(c.values) - 1
	part, err := c.part(last, []string{"u", "s", "vt"})
	if err != nil {
		return nil, err
	}
	c.values = c.values[:last]
	n, err := c.ints(1)
	if err != nil {
		return nil, err
	}
	var o linalg.RandomOptions
	if len(n) > 1 {
		o.Iterations = n[1]
	}
	if len(n) > 2 {
		if n[2] < 0 {
			return nil, c.fail(c.args[3].Pos(), "a seed is not negative")
		}
		o.Seed = uint64(n[2])
	}
	u, s, vt, err := linalg.RandomizedSVD(c.site, in[0], n[0], o)
	return []*graph.Node{u, s, vt}[part], err
}
