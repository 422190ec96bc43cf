package linalg

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op"
)

const (
	blocks = "36 MiB, or twice as many rows as columns four times in float64"
	whole  = "a matrix, or about 4 MiB of small ones: each input, the result and a factor in float64"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "det(x)", NumPy: "np.linalg.det", Passes: "1", Holds: whole, Build: Det,
		Go: "linalg.Det"},
	{Usage: "inv(x)", NumPy: "np.linalg.inv", Passes: "1", Holds: whole, Build: Inv,
		Go: "linalg.Inv"},
	{Usage: "cholesky(x)", NumPy: "np.linalg.cholesky", Passes: "1; of more than 2048 rows, 2 for each 1024 columns over those before", Holds: whole + "; of panels, 40 MiB", Build: Cholesky,
		Go: "linalg.Cholesky"},
	{Usage: "svdvals(x)", NumPy: "np.linalg.svdvals", Passes: "1", Holds: blocks, Build: SVDVals, Examples: `svdvals(n); svdvals(slice(z, ":, 0:4"))`,
		Go: "linalg.SVDVals"},
	{Usage: `solve(a, b, "pos")`, NumPy: "np.linalg.solve", Passes: `1; of "pos", a positive definite matrix, those of cholesky and 2 more`, Holds: whole, Build: solved,
		Go: "linalg.Solve"},
	{Usage: `solve_triangular(a, b, "upper" or "lower"=upper)`, NumPy: "scipy.linalg.solve_triangular", Passes: "1 over b, and 1 over a for each 12 MiB of b's columns", Holds: "whole columns of b, and rows of a: 12 MiB of each in float64", Build: half,
		Go: "linalg.SolveTriangular"},
	{Usage: `slogdet(x, "sign" or "logabsdet")`, NumPy: "np.linalg.slogdet", Passes: "1", Holds: whole, Build: SlogDet, Examples: `slogdet(slice(s, "0:64, 0:64"), "sign")`,
		Go: "linalg.SlogDet"},
	{Usage: `eigh(x, "values" or "vectors")`, NumPy: "np.linalg.eigh", Passes: "1", Holds: whole, Build: EigH, Examples: `eigh(slice(s, "0:64, 0:64"), "values")`,
		Go: "linalg.EigH"},
	{Usage: "eigvalsh(x)", NumPy: "np.linalg.eigvalsh", Passes: "1", Holds: whole, Build: onlyValues,
		Go: "linalg.EigH"},
	{Usage: `qr(x, "q" or "r")`, NumPy: "np.linalg.qr", Passes: `"r": 1; "q": 2 read, 1 written, twice that of complex matrices`, Holds: blocks, Build: QR, Examples: `qr(n, "q"); qr(n, "r"); qr(slice(z, ":, 0:4"), "q")`,
		Go: "linalg.QR"},
	{Usage: `svd(x, "u" or "s" or "vt", "full")`, NumPy: "np.linalg.svd", Passes: `"s" and "vt": 1; "u": 2 read, 1 written; "full": 1`, Holds: blocks + `; "full" of matrices that fit a task`, Build: inForm, Examples: `svd(n, "u")`,
		Go: "linalg.SVD"},
	{Usage: `lu(x, "p" or "l" or "u")`, NumPy: "scipy.linalg.lu", Passes: "1", Holds: whole, Build: LU,
		Go: "linalg.LU"},
	{Usage: `randomized_svd(x, k, iterations=0, seed=0, "u" or "s" or "vt")`, NumPy: "sklearn.utils.extmath.randomized_svd", Passes: "1 and one for each iteration (2)", Holds: "a block of 12 MiB in float64, or a row, and k+10 rows of x", Build: randomParts, Examples: `randomized_svd(x, 8, 1, 0, "u")`,
		Go: "linalg.RandomizedSVD"},
	{Usage: "pinv(x, rcond=-1)", NumPy: "np.linalg.pinv", Passes: "2 read, 1 written", Holds: blocks, Build: PInv,
		Go: "linalg.PInv"},
	{Usage: "matrix_rank(x, rcond=-1)", NumPy: "np.linalg.matrix_rank", Passes: "1", Holds: blocks, Build: MatrixRank,
		Go: "linalg.MatrixRank"},
	{Usage: "matrix_power(x, n)", NumPy: "np.linalg.matrix_power", Passes: "as matmul, twice for each binary digit of n at most", Holds: "as matmul; as inv where n is negative", Build: MatrixPower,
		Go: "linalg.MatrixPower"},
	{Usage: "lstsq(a, b, rcond=-1)", NumPy: "np.linalg.lstsq", Passes: "1 over both; 3 where there are more columns than rows", Holds: blocks, Build: solution, Examples: `lstsq(n, slice(n, ":, 0:3"))`,
		Go: "linalg.Lstsq"},
	{Usage: `norm(x, ord, axes..., "keepdims")`, NumPy: "np.linalg.norm", Passes: "1; of singular values as svdvals", Holds: "an accumulator for each result", Build: normOf, Args: [2]int{1, 5}, Examples: "norm(x)",
		Go: "linalg.Norm"},
	{Usage: "cond(x, ord)", NumPy: "np.linalg.cond", Passes: "1", Holds: blocks, Build: condOf, Args: [2]int{1, 2},
		Go: "linalg.Cond"},
}

func solved(site graph.Site, a, b *graph.Node, positive bool) (*graph.Node, error) {
	if positive {
		return SolvePositive(site, a, b)
	}
	return Solve(site, a, b)
}

func half(site graph.Site, a, b *graph.Node, half string) (*graph.Node, error) {
	return SolveTriangular(site, a, b, half == "upper")
}

func onlyValues(site graph.Site, x *graph.Node) (*graph.Node, error) {
	values, _, err := EigH(site, x)
	return values, err
}

func inForm(site graph.Site, x *graph.Node, full bool) (u, s, vt *graph.Node, err error) {
	if full {
		return FullSVD(site, x)
	}
	return SVD(site, x)
}

func randomParts(site graph.Site, x *graph.Node, k, iterations int, seed uint64) (u, s, vt *graph.Node, err error) {
	return RandomizedSVD(site, x, k, RandomOptions{Iterations: iterations, Seed: seed})
}

func solution(site graph.Site, a, b *graph.Node, rcond float64) (*graph.Node, error) {
	out, err := Lstsq(site, a, b, rcond)
	return out.X, err
}

func normOf(c *op.Call) (*graph.Node, error) {
	keep := c.Option("keepdims")
	x, o, axes, err := ordered(c)
	if err != nil {
		return nil, err
	}
	out, err := Norm(c.Site, x, o, axes...)
	if err != nil || !keep {
		return out, err
	}
	if axes, err = grid.Axes(axes, len(x.Shape)); err != nil {
		return nil, err
	}
	return graph.ExpandDims(c.Site, out, axes...)
}

func condOf(c *op.Call) (*graph.Node, error) {
	x, o, _, err := ordered(c)
	if err != nil {
		return nil, err
	}
	return Cond(c.Site, x, o)
}

// ordered are an array, a norm's order, as a number or in text, and axes.
func ordered(c *op.Call) (x *graph.Node, o Order, axes []int, err error) {
	if x, err = c.Node(0); err != nil {
		return nil, o, nil, err
	}
	if len(c.Values) > 1 {
		if text := c.Values[1].Text; text != nil {
			o.Name = *text
		} else if o.P, err = c.Float(1); err != nil {
			return nil, o, nil, err
		} else {
			o.Name = "p"
		}
	}
	axes, err = c.Ints(2)
	return x, o, axes, err
}
