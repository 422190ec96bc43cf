package linalg

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

const (
	blocks = "36 MiB, or twice as many rows as columns four times in float64"
	whole  = "a matrix, or about 4 MiB of small ones: each input, the result and a factor in float64"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "det", NumPy: "np.linalg.det", Passes: "1", Holds: whole, Build: op.Build(Det),
		Go: "linalg.Det(a *Array)", Doc: `Det returns the determinants of matrices that fit a task.`},
	{Name: "inv", NumPy: "np.linalg.inv", Passes: "1", Holds: whole, Build: op.Build(Inv),
		Go: "linalg.Inv(a *Array)", Doc: `Inv returns the inverses of matrices that fit a task.`},
	{Name: "cholesky", NumPy: "np.linalg.cholesky", Passes: "1; of more than 2048 rows, 2 for each 1024 columns over those before", Holds: whole + "; of panels, 40 MiB", Build: op.Build(Cholesky),
		Go: "linalg.Cholesky(a *Array)", Doc: `Cholesky returns the lower triangular l of a positive definite matrix l·lᵀ, of which the lower triangle is read. Each matrix of a stack has to fit a task; one of more than 2048 rows is computed by panels of 1024 columns, which each read all those before: n³/6144 elements in all.`},
	{Name: "svdvals", NumPy: "np.linalg.svdvals", Passes: "1", Holds: blocks, Build: op.Build(SVDVals), Examples: `svdvals(n); svdvals(slice(z, ":, 0:4"))`,
		Go: "linalg.SVDVals(a *Array)", Doc: `SVDVals returns the singular values, falling.`},
	{Name: "solve", NumPy: "np.linalg.solve", Passes: `1; of "pos", a positive definite matrix, those of cholesky and 2 more`, Holds: whole, Build: op.Build(BuildSolve),
		Go: "linalg.Solve(a, b *Array)", Doc: `Solve returns x of a·x = b for square matrices that fit a task, and b a vector or a stack of matrices.`,
		More: []op.Func{{Go: "linalg.SolvePositive(a, b *Array) = a, b, true", Doc: `SolvePositive is Solve for one positive definite matrix of any size, by Cholesky.`}}},
	{Name: "solve_triangular", NumPy: "scipy.linalg.solve_triangular", Passes: "1 over b, and 1 over a for each 12 MiB of b's columns", Holds: "whole columns of b, and rows of a: 12 MiB of each in float64", Build: op.Build(BuildSolveTriangular),
		Go: "linalg.SolveTriangular(a, b *Array, of types.Triangle) = a, b, of.String()", Doc: `SolveTriangular returns x of a·x = b by one triangle of a matrix of any size, oocore.Lower or oocore.Upper.`},
	{Name: "slogdet", Parts: "sign logabsdet", NumPy: "np.linalg.slogdet", Passes: "1", Holds: whole, Build: op.Build2(SlogDet), Examples: `slogdet(slice(s, "0:64, 0:64"), "sign")`,
		Go: "linalg.SlogDet(a *Array) (sign, logabsdet *Array)", Doc: `SlogDet returns the signs of determinants, 0 of singular matrices, and the logarithms of their magnitudes.`},
	{Name: "eigh", Parts: "values vectors", NumPy: "np.linalg.eigh", Passes: "1", Holds: whole, Build: op.Build2(EigH), Examples: `eigh(slice(s, "0:64, 0:64"), "values")`,
		Go: "linalg.EigH(a *Array) (values, vectors *Array)", Doc: `EigH returns the eigenvalues, rising, and eigenvectors as columns of symmetric matrices that fit a task, of which the lower triangle is read. The largest element of each vector is positive.`},
	{Name: "eigvalsh", NumPy: "np.linalg.eigvalsh", Passes: "1", Holds: whole, Build: op.Build(onlyValues),
		Go: "linalg.EigH"},
	{Name: "eig", Parts: "values vectors", NumPy: "np.linalg.eig", Passes: "1", Holds: whole + ", of complex numbers", Build: op.Build2(Eig), Examples: `eig(slice(s, "0:64, 0:64"), "values")`,
		Go: "linalg.Eig(a *Array) (values, vectors *Array)", Doc: `Eig returns the eigenvalues, in no order, and eigenvectors as columns of square matrices that fit a task. Both are complex, where NumPy's of real matrices are real if all values are. Vectors have the length one, and a largest element that is real and positive.`},
	{Name: "eigvals", NumPy: "np.linalg.eigvals", Passes: "1", Holds: whole + ", of complex numbers", Build: op.Build(EigVals), Examples: `eigvals(slice(s, "0:64, 0:64"))`,
		Go: "linalg.EigVals(a *Array)", Doc: `EigVals returns the eigenvalues of Eig alone.`},
	{Name: "multi_dot", NumPy: "np.linalg.multi_dot", Passes: "as matmul, for each two arrays, in the order that takes the fewest multiplications", Holds: "as matmul", Build: op.Build(MultiDot), Examples: "multi_dot(transpose(n), n)",
		Go: "linalg.MultiDot(arrays ...*Array)", Doc: `MultiDot returns the product of matrices, in the order that takes the fewest multiplications. The first may be a vector that is a row, and the last one that is a column.`},
	{Name: "tensorsolve", NumPy: "np.linalg.tensorsolve", Passes: "as solve", Holds: whole, Build: op.Build(TensorSolve), Examples: `tensorsolve(reshape(slice(s, "0:64, 0:64") + eye(64) * 64, 8, 8, 64), slice(s, "0:8, 0:8"))`,
		Go: "linalg.TensorSolve(a, b *Array, axes ...int)", Doc: `TensorSolve returns x for which the sums of products along the last axes of a and all of x are b; axes of a, if any, are moved to its end first. With b's axes for rows and x's for columns a is a square matrix that fits a task.`},
	{Name: "tensorinv", Names: "x ind", NumPy: "np.linalg.tensorinv", Passes: "as inv", Holds: whole, Build: op.Build(TensorInv), Examples: `tensorinv(reshape(slice(s, "0:64, 0:64") + eye(64) * 64, 8, 8, 64), 2)`,
		Go: "linalg.TensorInv(a *Array, ind int)", Doc: `TensorInv returns the inverse for products along all of the last axes of a, those after the first ind. With these for columns and the first for rows a is a square matrix that fits a task.`},
	{Name: "qr", Parts: "q r", NumPy: "np.linalg.qr", Passes: `"r": 1; "q": 2 read, 1 written, twice that of complex matrices`, Holds: blocks, Build: op.Build2(QR), Examples: `qr(n, "q"); qr(n, "r"); qr(slice(z, ":, 0:4"), "q")`,
		Go: "linalg.QR(a *Array) (q, r *Array)", Doc: `QR returns the matrix as q·r, where q has orthonormal columns and r is upper triangular with nothing negative on its diagonal, which makes them unique; NumPy's differ by signs. Of m × n elements and k the smaller length q is m × k and r k × n.`},
	{Name: "svd", Parts: "u s vt", NumPy: "np.linalg.svd", Passes: `"s" and "vt": 1; "u": 2 read, 1 written; "full": 1`, Holds: blocks + `; "full" of matrices that fit a task`, Build: op.Build3(SVD), Examples: `svd(n, "u")`,
		Go: "linalg.SVD(a *Array) (u, s, vt *Array)", Doc: `SVD returns the matrix as u·diag(s)·vt, in its reduced form: of m × n elements and k the smaller length u is m × k, s has the k singular values, falling, and vt is k × n. In each row of vt the largest element is positive. Each matrix of a stack has to fit a task.`,
		More: []op.Func{{Go: "linalg.FullSVD(a *Array) (u, s, vt *Array) = a, true", Doc: `FullSVD is SVD with all of u's m columns and vt's n rows, of matrices that fit a task: one pass.`}}},
	{Name: "lu", Parts: "p l u", NumPy: "scipy.linalg.lu", Passes: "1", Holds: whole, Build: op.Build3(LU),
		Go: "linalg.LU(a *Array) (p, l, u *Array)", Doc: `LU returns the matrix as p·l·u: p exchanges rows, l is lower triangular with ones on its diagonal and nothing above one in magnitude, u is upper triangular. Of m × n elements and k the smaller length they are m × m, m × k and k × n. Matrices fit a task.`},
	{Name: "randomized_svd", Parts: "u s vt", NumPy: "sklearn.utils.extmath.randomized_svd", Passes: "1 and one for each iteration (2)", Holds: "a block of 12 MiB in float64, or a row, and k + oversample rows of x", Build: op.Build3(RandomizedSVD), Examples: `randomized_svd(x, 8, 1, 0, "u")`,
		Go: "linalg.RandomizedSVD(a *Array, k int, o RandomOptions) (u, s, vt *Array) = a, k, o.Iterations, o.Seed, o.Oversample", Doc: `RandomizedSVD approximates the k largest singular values and their vectors: u m × k, s falling, vt k × n. Vectors that are random, and the same for the same seed, are multiplied with aᵀ·a and made orthonormal, each time in one pass; the matrix is then decomposed in the space that they span (Halko, Martinsson and Tropp, SIAM Review 2011). Values below about 10⁻⁷ of the largest are not told from noise. The signs of vectors are arbitrary.`},
	{Name: "pinv", NumPy: "np.linalg.pinv", Passes: "2 read, 1 written; of stacks 1", Holds: blocks, Build: op.Build(PInv), Examples: "pinv(n); pinv(m)",
		Go: "linalg.PInv(a *Array, rcond float64)", Doc: `PInv returns the pseudoinverse, n × m of an m × n matrix. Singular values up to rcond times the largest count as zero; a negative rcond is the larger length times float64's precision, in which it is computed. Each matrix of a stack has to fit a task.`},
	{Name: "matrix_rank", NumPy: "np.linalg.matrix_rank", Passes: "1", Holds: blocks, Build: op.Build(MatrixRank),
		Go: "linalg.MatrixRank(a *Array, rcond float64)", Doc: `MatrixRank returns the number of singular values above rcond times the largest, as int64. A negative rcond is the larger length times the precision of a's type.`},
	{Name: "matrix_power", NumPy: "np.linalg.matrix_power", Passes: "as matmul, twice for each binary digit of n at most", Holds: "as matmul; as inv where n is negative", Build: op.Build(MatrixPower),
		Go: "linalg.MatrixPower(a *Array, power int)", Doc: `MatrixPower returns square matrices multiplied with themselves, by repeated squaring; of a negative power their inverses, and of power 0 the identity.`},
	{Name: "lstsq", NumPy: "np.linalg.lstsq", Passes: "1 over both; 3 where there are more columns than rows, or more than 256 right-hand sides, and of stacks", Holds: blocks, Build: op.Build(solution), Examples: `lstsq(n, slice(n, ":, 0:3")); lstsq(m, m)`,
		Go: "linalg.Lstsq"},
	{Name: "norm", NumPy: "np.linalg.norm", Passes: "1; of singular values as svdvals", Holds: "an accumulator for each result", Build: op.Build(normOf), Examples: "norm(x)",
		Go: "linalg.Norm"},
	{Name: "cond", NumPy: "np.linalg.cond", Passes: "1", Holds: blocks, Build: op.Build(condOf),
		Go: "linalg.Cond"},
}

// Arguments, by the operation.
type (
	// SolveArgs are the arguments of solve. Pos says that a is positive definite.
	SolveArgs struct {
		A, B *graph.Node
		Pos  bool
	}
	TriangleArgs struct {
		A, B     *graph.Node
		Triangle string `words:"upper lower" default:"upper"`
	}
	SVDArgs struct {
		X    *graph.Node
		Full bool
	}
	RandomArgs struct {
		X          *graph.Node
		K          int
		Iterations int    `default:"0"`
		Seed       uint64 `default:"0"`
		Oversample int    `word:"10"`
	}
	RankArgs struct {
		X     *graph.Node
		RCond float64 `default:"-1"`
	}
	solutionArgs struct {
		A, B  *graph.Node
		RCond float64 `default:"-1"`
	}
	// MultiDotArgs are the arguments of multi_dot.
	MultiDotArgs struct {
		Arrays []*graph.Node `usage:"a, b..." least:"2"`
	}
	TensorSolveArgs struct {
		A, B *graph.Node
		Axes []int
	}
	TensorInvArgs struct {
		A   *graph.Node
		Ind int `default:"2"`
	}
	normArgs struct {
		X        *graph.Node
		Ord      op.Value `default:""`
		Axes     []int
		KeepDims bool
	}
	condArgs struct {
		X   *graph.Node
		Ord op.Value `default:""`
	}
)

// BuildSolve is Solve or SolvePositive.
func BuildSolve(site graph.Site, args SolveArgs) (*graph.Node, error) {
	if args.Pos {
		return SolvePositive(site, args.A, args.B)
	}
	return Solve(site, args.A, args.B)
}

// BuildSolveTriangular is SolveTriangular with a word for the triangle.
func BuildSolveTriangular(site graph.Site, args TriangleArgs) (*graph.Node, error) {
	return SolveTriangular(site, args.A, args.B, args.Triangle == "upper")
}

func onlyValues(site graph.Site, a op.Unary) (*graph.Node, error) {
	values, _, err := EigH(site, op.Unary{X: a.X})
	return values, err
}

func solution(site graph.Site, args solutionArgs) (*graph.Node, error) {
	out, err := Lstsq(site, args.A, args.B, args.RCond)
	return out.X, err
}

func normOf(site graph.Site, a normArgs) (*graph.Node, error) {
	x, ord, axes, keep := a.X, a.Ord, a.Axes, a.KeepDims
	o, err := orderOf(ord)
	if err != nil {
		return nil, err
	}
	out, err := Norm(site, x, o, axes...)
	if err != nil || !keep {
		return out, err
	}
	if axes, err = grid.Axes(axes, len(x.Shape)); err != nil {
		return nil, err
	}
	return graph.ExpandDims(site, out, axes...)
}

func condOf(site graph.Site, a condArgs) (*graph.Node, error) {
	o, err := orderOf(a.Ord)
	if err != nil {
		return nil, err
	}
	return Cond(site, a.X, o)
}

// orderOf is a norm's order: a number, text, or nothing.
func orderOf(ord op.Value) (Order, error) {
	switch p, ok := ord.Float(); {
	case ord.Text != nil:
		return Order{Name: *ord.Text}, nil
	case ok:
		return Order{Name: "p", P: p}, nil
	case ord.Number != nil || ord.Node != nil:
		return Order{}, ord.Reject("takes a real number or a text here")
	}
	return Order{}, nil
}

// MatrixPower is NumPy's matrix_power of square matrices: products by repeated squaring,
// each with matmul's passes; of a negative power those of the inverse.
func MatrixPower(site graph.Site, a op.Numbered) (*graph.Node, error) {
	n, power := a.X, a.N
	stack, size, err := squareOf(n)
	if err != nil {
		return nil, graph.Reject(site, "matrix_power", err, n)
	}
	m := &graph.Maker{Site: site}
	if power == 0 {
		ones := m.Full(dtype.FromInt(n.DType, 1), size)
		one := graph.Call(m, shape.Diag, op.Shifted{X: ones, Offset: 0})
		return m.BroadcastTo(one, append(stack, size, size)...), m.Err
	}
	times := uint64(power)
	if power < 0 {
		n, m.Err = Inv(site, op.Unary{X: n})
		times = -times // also of the smallest integer, which has no negative
	}
	var out *graph.Node
	for {
		switch {
		case times&1 == 0:
		case out == nil:
			out = n
		default:
			out = m.Product(out, n)
		}
		if times >>= 1; times == 0 || m.Err != nil {
			return out, m.Err
		}
		n = m.Product(n, n)
	}
}
