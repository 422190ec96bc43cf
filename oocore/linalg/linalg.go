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
	"strconv"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
)

// RandomOptions are the less common arguments of RandomizedSVD and PCA.
type RandomOptions struct {
	Iterations int    // passes that turn the random vectors towards the singular ones; 0: 2
	Oversample int    // vectors beside the k that are asked for; 0: 10
	Seed       uint64 // of the random vectors
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
// Both may be stacks, which broadcast, of matrices that fit a task.
//
// Each result is one pass over a and b; three where a has more columns than rows, or they are stacks.
func Lstsq(a, b *oocore.Array, rcond float64) LeastSquares {
	all := door.Several[oocore.Array](4, "lstsq", func(site graph.Site, in []*graph.Node) ([]*graph.Node, error) {
		l, err := linalg.Lstsq(site, in[0], in[1], rcond)
		return []*graph.Node{l.X, l.Residuals, l.Rank, l.S}, err
	}, a, b)
	return LeastSquares{X: all[0], Residuals: all[1], Rank: all[2], S: all[3]}
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
	all := door.Several[oocore.Array](6, "pca", func(site graph.Site, in []*graph.Node) ([]*graph.Node, error) {
		c, err := linalg.PCA(site, in[0], k, (*linalg.RandomOptions)(o))
		if err != nil {
			return nil, err
		}
		return []*graph.Node{c.Mean, c.Vectors, c.Values, c.Variance, c.Explained, c.Scores}, nil
	}, a)
	return Components{Mean: all[0], Components: all[1], SingularValues: all[2], ExplainedVariance: all[3], ExplainedRatio: all[4], Scores: all[5]}
}

// Order says which norm: one of those below, or P.
type Order string

// The norms. Two is the root of the sum of squares, of any axes.
const (
	Two       Order = ""
	Frobenius Order = "fro"
	Nuclear   Order = "nuc"
)

// P is NumPy's norm of a number: of matrices 1, 2, -1, -2 and infinities, of vectors any.
func P(p float64) Order { return Order(strconv.FormatFloat(p, 'g', -1, 64)) }

// order is the norm as the engine has it.
func (o Order) order() linalg.Order {
	if p, err := strconv.ParseFloat(string(o), 64); err == nil {
		return linalg.Order{Name: "p", P: p}
	}
	return linalg.Order{Name: string(o)}
}

// Norm returns the norms of vectors along an axis, or of matrices along two, and without
// axes of the whole array. One pass; with singular values, those of SVDVals.
func Norm(a *oocore.Array, o Order, axes ...int) *oocore.Array {
	return door.One("norm", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return linalg.Norm(site, n, o.order(), axes...)
	}, a)
}

// Cond returns how much a relative error of a right-hand side can grow: the largest by the
// smallest singular value, or of another order than Two and P(2), the norm of the matrix
// times that of its inverse.
func Cond(a *oocore.Array, o Order) *oocore.Array {
	return door.One("cond", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return linalg.Cond(site, n, o.order())
	}, a)
}
