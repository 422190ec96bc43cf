// Package linalg is linear algebra on arrays larger than memory, under NumPy's names.
//
// Tall matrices are factorized by blocks of their rows, whose triangular factors are
// joined in a tree: QR, SVD, Lstsq, PInv and PCA read a matrix once or twice, whatever
// its length, and a task takes about 36 MiB, or four times 2n rows of n columns in float64
// where that is more. Positive definite matrices of any size are
// factorized by panels (Cholesky, SolvePositive). Inv, Det, Solve, LU and EigH take matrices
// that fit a task, and stacks of such in an array's last two axes.
//
// float32 gives float32, all other real types float64, and complex64 and complex128 the same
// type; all is computed in float64 or complex128. Complex matrices are computed in the real
// form, of four numbers for an element, wherever that has the same factors, with its passes and
// bounds: all but Det, SlogDet, LU, EigH and the vectors of SVD, which take those that fit a
// task; a taller one is factorized by QR before its SVD. Q of a complex matrix takes the passes
// of two, and columns that depend on each other are an error of its QR. RandomizedSVD and PCA
// take real matrices. Nothing is computed at a call: functions with several results share their
// stages where one run computes more than one of them.
//
// An element that is not finite, a matrix that is singular (also to working precision)
// or not positive definite is an error of the run, which says where.
package linalg

import (
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/linalg"
)

// one builds an array of a function of one.
func one(name string, a *oocore.Array, f func(graph.Site, *graph.Node) (*graph.Node, error)) *oocore.Array {
	return oocore.Build(name, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0]) }, a)
}

// QR returns the matrix as q·r, where q has orthonormal columns and r is upper triangular
// with nothing negative on its diagonal, which makes them unique; NumPy's differ by
// signs. Of m × n elements and k the smaller length q is m × k and r k × n.
//
// r reads the matrix once; q twice, and is written once.
func QR(a *oocore.Array) (q, r *oocore.Array) {
	part := func(k int) *oocore.Array {
		return one("qr", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			q, r, err := linalg.QR(site, n)
			return [2]*graph.Node{q, r}[k], err
		})
	}
	return part(0), part(1)
}

// SVD returns the matrix as u·diag(s)·vt, in its reduced form: of m × n elements and k the
// smaller length u is m × k, s has the k singular values, falling, and vt is k × n. In
// each row of vt the largest element is positive.
//
// s and vt read the matrix once; u twice. Beside a block a task holds three n × n
// matrices. Each matrix of a stack has to fit a task.
func SVD(a *oocore.Array) (u, s, vt *oocore.Array) {
	return three("svd", a, linalg.SVD)
}

// FullSVD is SVD with all of u's m columns and vt's n rows, of matrices that fit a task:
// one pass.
func FullSVD(a *oocore.Array) (u, s, vt *oocore.Array) {
	return three("svd", a, linalg.FullSVD)
}

// LU returns the matrix as p·l·u: p exchanges rows, l is lower triangular with ones on its
// diagonal and nothing above one in magnitude, u is upper triangular. Of m × n elements and
// k the smaller length they are m × m, m × k and k × n. Matrices fit a task: one pass.
func LU(a *oocore.Array) (p, l, u *oocore.Array) { return three("lu", a, linalg.LU) }

func three(name string, a *oocore.Array, f func(graph.Site, *graph.Node) (a, b, c *graph.Node, err error)) (u, s, vt *oocore.Array) {
	part := func(k int) *oocore.Array {
		return one(name, a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			u, s, vt, err := f(site, n)
			return [3]*graph.Node{u, s, vt}[k], err
		})
	}
	return part(0), part(1), part(2)
}

// SVDVals returns the singular values, falling. One pass.
func SVDVals(a *oocore.Array) *oocore.Array { return one("svdvals", a, linalg.SVDVals) }

// RandomOptions are the less common arguments of RandomizedSVD and PCA.
type RandomOptions = linalg.RandomOptions

// RandomizedSVD approximates the k largest singular values and their vectors, in 1 +
// o.Iterations passes over the matrix: u m × k, s falling, vt k × n. Vectors that are
// random, and the same for the same seed, are multiplied with aᵀ·a and made orthonormal,
// each time in one pass; the matrix is then decomposed in the space that they span
// (Halko, Martinsson and Tropp, SIAM Review 2011). Values below about 10⁻⁷ of the
// largest are not told from noise. The signs of vectors are arbitrary.
//
// A task holds a block of 12 MiB in float64, or one row, and k + o.Oversample rows.
func RandomizedSVD(a *oocore.Array, k int, o RandomOptions) (u, s, vt *oocore.Array) {
	return three("randomized_svd", a, func(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
		return linalg.RandomizedSVD(site, n, k, o)
	})
}

// PInv returns the pseudoinverse, n × m of an m × n matrix: two passes. Singular values up to
// rcond times the largest count as zero; a negative rcond is the larger length times
// float64's precision, in which it is computed.
func PInv(a *oocore.Array, rcond float64) *oocore.Array {
	return one("pinv", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) { return linalg.PInv(site, n, rcond) })
}

// MatrixRank returns the number of singular values above rcond times the largest, as int64:
// one pass. A negative rcond is the larger length times the precision of a's type.
func MatrixRank(a *oocore.Array, rcond float64) *oocore.Array {
	return one("matrix_rank", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return linalg.MatrixRank(site, n, rcond)
	})
}

// LeastSquares is what Lstsq gives.
type LeastSquares struct {
	X         *oocore.Array // n, or n × k
	Residuals *oocore.Array // sum of squares of what is left of each right-hand side: k
	Rank      *oocore.Array // int64, no dimensions
	S         *oocore.Array // singular values, falling
}

// Lstsq returns the x for which a·x is nearest to b, a vector of m elements or m × k of them,
// and of those the shortest. Singular values up to rcond times the largest count as
// zero; a negative rcond is the larger length times float64's precision, in which it is
// computed. NumPy's has no residuals where the rank is less than n; here they are always
// there.
//
// Each result is one pass over a and b; three where a has more columns than rows.
func Lstsq(a, b *oocore.Array, rcond float64) LeastSquares {
	part := func(get func(linalg.LeastSquares) *graph.Node) *oocore.Array {
		return oocore.Build("lstsq", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
			out, err := linalg.Lstsq(site, in[0], in[1], rcond)
			if err != nil {
				return nil, err
			}
			return get(out), nil
		}, a, b)
	}
	return LeastSquares{
		X:         part(func(l linalg.LeastSquares) *graph.Node { return l.X }),
		Residuals: part(func(l linalg.LeastSquares) *graph.Node { return l.Residuals }),
		Rank:      part(func(l linalg.LeastSquares) *graph.Node { return l.Rank }),
		S:         part(func(l linalg.LeastSquares) *graph.Node { return l.S }),
	}
}

// Components are the principal components of observations.
type Components struct {
	Mean              *oocore.Array // n: of each column
	Components        *oocore.Array // k × n: orthonormal rows, the largest element of each positive
	SingularValues    *oocore.Array // k, falling: of the centred matrix
	ExplainedVariance *oocore.Array // k: with m-1 as divisor
	ExplainedRatio    *oocore.Array // k: shares of the whole variance
	Scores            *oocore.Array // m × k: the centred observations in the components
}

// PCA returns the k principal components (0: all) of the m observations that are the rows of
// a matrix of n columns: the mean is one pass, components and variances are a second one,
// and scores a third.
func PCA(a *oocore.Array, k int) Components { return pca(a, k, nil) }

// RandomizedPCA is PCA by RandomizedSVD, for many columns: 2 + o.Iterations passes, and
// one for scores.
func RandomizedPCA(a *oocore.Array, k int, o RandomOptions) Components { return pca(a, k, &o) }

func pca(a *oocore.Array, k int, o *RandomOptions) Components {
	part := func(get func(*linalg.Components) *graph.Node) *oocore.Array {
		return one("pca", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			c, err := linalg.PCA(site, n, k, o)
			if err != nil {
				return nil, err
			}
			return get(c), nil
		})
	}
	return Components{
		Mean:              part(func(c *linalg.Components) *graph.Node { return c.Mean }),
		Components:        part(func(c *linalg.Components) *graph.Node { return c.Vectors }),
		SingularValues:    part(func(c *linalg.Components) *graph.Node { return c.Values }),
		ExplainedVariance: part(func(c *linalg.Components) *graph.Node { return c.Variance }),
		ExplainedRatio:    part(func(c *linalg.Components) *graph.Node { return c.Explained }),
		Scores:            part(func(c *linalg.Components) *graph.Node { return c.Scores }),
	}
}

// Cholesky returns the lower triangular l of a positive definite matrix l·lᵀ, of which the
// lower triangle is read. A stack of matrices, or one of up to 2048 rows, is one pass,
// and each has to fit a task. A larger one is computed by panels of 1024 columns, which
// each read all those before: n³/6144 elements in all; a task holds 40 MiB.
func Cholesky(a *oocore.Array) *oocore.Array { return one("cholesky", a, linalg.Cholesky) }

// Solve returns x of a·x = b for square matrices that fit a task, and b a vector or a stack
// of matrices.
func Solve(a, b *oocore.Array) *oocore.Array {
	return two("solve", a, b, linalg.Solve)
}

// SolvePositive is Solve for one positive definite matrix of any size, by Cholesky.
func SolvePositive(a, b *oocore.Array) *oocore.Array {
	return two("solve", a, b, linalg.SolvePositive)
}

// SolveTriangular returns x of a·x = b by the lower triangle of a matrix of any size, or the
// upper: one pass over b, and one over a for each 12 MiB of b's columns in float64.
func SolveTriangular(a, b *oocore.Array, upper bool) *oocore.Array {
	return two("solve_triangular", a, b, func(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
		return linalg.SolveTriangular(site, a, b, upper)
	})
}

func two(name string, a, b *oocore.Array, f func(site graph.Site, a, b *graph.Node) (*graph.Node, error)) *oocore.Array {
	return oocore.Build(name, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0], in[1]) }, a, b)
}

// Inv returns the inverses of matrices that fit a task.
func Inv(a *oocore.Array) *oocore.Array { return one("inv", a, linalg.Inv) }

// MatrixPower returns square matrices multiplied with themselves, by repeated squaring; of a
// negative power their inverses, and of power 0 the identity.
func MatrixPower(a *oocore.Array, power int) *oocore.Array {
	return one("matrix_power", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return linalg.MatrixPower(site, n, power)
	})
}

// Det returns the determinants of matrices that fit a task.
func Det(a *oocore.Array) *oocore.Array { return one("det", a, linalg.Det) }

// SlogDet returns the signs of determinants, 0 of singular matrices, and the logarithms of
// their magnitudes.
func SlogDet(a *oocore.Array) (sign, logabsdet *oocore.Array) {
	part := func(k int) *oocore.Array {
		return one("slogdet", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			sign, logabs, err := linalg.SlogDet(site, n)
			return [2]*graph.Node{sign, logabs}[k], err
		})
	}
	return part(0), part(1)
}

// EigH returns the eigenvalues, rising, and eigenvectors as columns of symmetric matrices
// that fit a task, of which the lower triangle is read. The largest element of each
// vector is positive.
func EigH(a *oocore.Array) (values, vectors *oocore.Array) {
	part := func(k int) *oocore.Array {
		return one("eigh", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
			values, vectors, err := linalg.EigH(site, n)
			return [2]*graph.Node{values, vectors}[k], err
		})
	}
	return part(0), part(1)
}

// Order says which norm.
type Order = linalg.Order

// The norms. Two is the root of the sum of squares, of any axes.
var (
	Two       = Order{}
	Frobenius = Order{Name: "fro"}
	Nuclear   = Order{Name: "nuc"}
)

// P is NumPy's norm of a number: of matrices 1, 2, -1, -2 and infinities, of vectors any.
func P(p float64) Order { return Order{Name: "p", P: p} }

// Norm returns the norms of vectors along an axis, or of matrices along two, and without
// axes of the whole array. One pass; with singular values, those of SVDVals.
func Norm(a *oocore.Array, o Order, axes ...int) *oocore.Array {
	return one("norm", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) { return linalg.Norm(site, n, o, axes...) })
}

// Cond returns how much a relative error of a right-hand side can grow: the largest by the
// smallest singular value, or of another order than Two and P(2), the norm of the matrix
// times that of its inverse.
func Cond(a *oocore.Array, o Order) *oocore.Array {
	return one("cond", a, func(site graph.Site, n *graph.Node) (*graph.Node, error) { return linalg.Cond(site, n, o) })
}
