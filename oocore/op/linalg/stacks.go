package linalg

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
)

// A stack is an array whose last two axes are those of matrices. What follows takes
// one pass and matrices that fit a task: in float64, each input, the result and once
// more a factor are in memory.

// stackOf checks that an array is a stack, and gives its axes before those of the
// matrices.
func stackOf(n *graph.Node) (stack []int, m [2]int, err error) {
	d := len(n.Shape) - 2
	if d < 0 {
		return nil, m, fmt.Errorf("takes matrices, not an array of shape %s", grid.Format(n.Shape))
	}
	return slices.Clone(n.Shape[:d]), [2]int{n.Shape[d], n.Shape[d+1]}, nil
}

func squareOf(n *graph.Node) ([]int, int, error) {
	stack, m, err := stackOf(n)
	if err == nil && m[0] != m[1] {
		err = fmt.Errorf("takes square matrices, not %d × %d", m[0], m[1])
	}
	return stack, m[0], err
}

// each applies a function to stacks, which are broadcast together.
func each(site graph.Site, function string, limit float64, dt dtype.Type, out []int, in ...*graph.Node) (*graph.Node, error) {
	e := Batched{Function: function, Out: out, Limit: limit, Type: dt}
	shapes := make([][]int, len(in))
	for i, n := range in {
		shapes[i] = n.Shape[:len(n.Shape)-2]
	}
	stack, err := grid.Broadcast(shapes...)
	if err != nil {
		return nil, err
	}
	e.Stack = append([]int{}, stack...)
	operands := make([]*graph.Node, len(in))
	for i, n := range in {
		m := [2]int(n.Shape[len(n.Shape)-2:])
		e.In = append(e.In, m)
		if n, err = graph.AsType(site, n, dtype.Float64); err != nil {
			return nil, err
		}
		if operands[i], err = graph.BroadcastTo(site, n, append(slices.Clone(stack), m[:]...)...); err != nil {
			return nil, err
		}
	}
	return graph.NewBlockwise(site, function, e, append(slices.Clone(stack), out...), dt, operands)
}

// ofSquares is a function of stacks of square matrices.
func ofSquares(site graph.Site, function string, n *graph.Node, out func(n int) []int) (*graph.Node, error) {
	_, m, err := squareOf(n)
	if err != nil {
		return nil, graph.Reject(site, function, err, n)
	}
	if isComplex(n) {
		r, err := inRealForm(site, n, func(n *graph.Node) (*graph.Node, error) { return each(site, function, 0, dtype.Float64, out(2*m), n) })
		if err != nil {
			return nil, graph.Reject(site, function, unwrap(err), n)
		}
		return r, nil
	}
	dt, err := resultType(n.DType)
	if err != nil {
		return nil, graph.Reject(site, function, err, n)
	}
	r, err := each(site, function, 0, dt, out(m), n)
	if err != nil {
		return nil, graph.Reject(site, function, err, n)
	}
	return r, nil
}

// Det is NumPy's det: determinants, by elimination.
func Det(site graph.Site, n *graph.Node) (out *graph.Node, err error) {
	if _, _, failed := squareOf(n); isComplex(n) && failed == nil {
		out, err = complexDet(site, n)
	} else {
		out, err = ofSquares(site, "det", n, func(int) []int { return nil })
	}
	return named(out, n), err
}

// SlogDet is NumPy's slogdet: the determinants' signs, 0 of singular matrices, and the
// logarithms of their magnitudes.
func SlogDet(site graph.Site, n *graph.Node) (sign, logabs *graph.Node, err error) {
	sign, logabs, err = slogDet(site, n)
	return named(sign, n), named(logabs, n), err
}

func slogDet(site graph.Site, n *graph.Node) (sign, logabs *graph.Node, err error) {
	if _, _, err := squareOf(n); isComplex(n) && err == nil {
		return complexSlogDet(site, n)
	}
	both, err := ofSquares(site, "slogdet", n, func(int) []int { return []int{2} })
	if err != nil {
		return nil, nil, err
	}
	if sign, err = graph.Slice(site, both, "..., 0"); err != nil {
		return nil, nil, err
	}
	logabs, err = graph.Slice(site, both, "..., 1")
	return sign, logabs, err
}

// Inv is NumPy's inv. A matrix that is singular, or so near to it that rounding alone
// gives the result, is an error when it is computed.
func Inv(site graph.Site, n *graph.Node) (*graph.Node, error) {
	out, err := ofSquares(site, "inv", n, func(m int) []int { return []int{m, m} })
	return named(out, n, ofColumns, ofRows), err
}

// EigH is NumPy's eigh of symmetric matrices, whose lower triangles are read:
// eigenvalues, rising, and eigenvectors as columns, whose largest element is positive.
func EigH(site graph.Site, n *graph.Node) (values, vectors *graph.Node, err error) {
	values, vectors, err = eigH(site, n)
	return named(values, n, ofNone), named(vectors, n, ofRows, ofNone), err
}

func eigH(site graph.Site, n *graph.Node) (values, vectors *graph.Node, err error) {
	if _, _, err := squareOf(n); isComplex(n) && err == nil {
		return complexEigH(site, n)
	}
	both, err := ofSquares(site, "eigh", n, func(m int) []int { return []int{m + 1, m} })
	if err != nil {
		return nil, nil, err
	}
	if values, err = graph.Slice(site, both, "..., 0, :"); err != nil {
		return nil, nil, err
	}
	vectors, err = graph.Slice(site, both, "..., 1:, :")
	return values, vectors, err
}

// Solve is NumPy's solve: x of a·x = b, where b is a vector or a stack of matrices. A
// matrix that is singular, or so near to it that rounding alone gives the result, is an
// error when it is computed.
func Solve(site graph.Site, a, b *graph.Node) (out *graph.Node, err error) {
	if isComplex(a, b) {
		out, err = solveInRealForm(site, "solve", a, b, func(a, b *graph.Node) (*graph.Node, error) { return Solve(site, a, b) })
	} else {
		out, err = withVector(site, "solve", a, b, func(b *graph.Node, dt dtype.Type) (*graph.Node, error) {
			return each(site, "solve", 0, dt, b.Shape[len(b.Shape)-2:], a, b)
		})
	}
	return namedSolution(out, a, b), err
}

// withVector checks the operands of a·x = b, and takes a vector as a matrix of one
// column.
func withVector(site graph.Site, name string, a, b *graph.Node, f func(b *graph.Node, dt dtype.Type) (*graph.Node, error)) (*graph.Node, error) {
	out, err := func() (*graph.Node, error) {
		_, m, err := squareOf(a)
		if err != nil {
			return nil, err
		}
		if len(b.Shape) == 0 {
			return nil, errors.New("the right-hand side is a scalar")
		}
		vector := len(b.Shape) == 1
		if vector {
			if b, err = graph.ExpandDims(site, b, 1); err != nil {
				return nil, err
			}
		}
		if rows := b.Shape[len(b.Shape)-2]; rows != m {
			return nil, fmt.Errorf("the right-hand side has %d rows, for matrices of %d", rows, m)
		}
		dt, err := common(a, b)
		if err != nil {
			return nil, err
		}
		x, err := f(b, dt)
		if err != nil || !vector {
			return x, err
		}
		return graph.Squeeze(site, x, -1)
	}()
	if err != nil {
		return nil, graph.Reject(site, name, err, a, b)
	}
	return out, nil
}

// common is the type of results of two operands: float32 where both are.
func common(a, b *graph.Node) (dtype.Type, error) {
	t, err := resultType(a.DType)
	if err != nil {
		return 0, err
	}
	u, err := resultType(b.DType)
	return max(t, u), err
}

// epsilon is the distance from 1 to the next number.
func epsilon(t dtype.Type) float64 {
	if t == dtype.Float32 {
		return 0x1p-23
	}
	return 0x1p-52
}

// cutoff is the share of the largest singular value up to which others count as zero:
// rcond or, where that is negative, the larger length times the precision of dt, the type
// in which the decomposition is computed. As in NumPy, that is float64 for float32
// operands, too: with float32's, a matrix of 10⁶ rows would lose columns that are real.
func cutoff(rcond float64, m, n int, dt dtype.Type) (float64, error) {
	if rcond < 0 {
		rcond = float64(max(m, n)) * epsilon(dt)
	}
	if !(rcond < 1) {
		return 0, fmt.Errorf("singular values up to %g of the largest would count as zero: give an rcond less than 1", rcond)
	}
	return rcond, nil
}
