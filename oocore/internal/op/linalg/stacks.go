package linalg

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
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
func each(m *graph.Maker, function string, limit float64, dt dtype.Type, out []int, in ...*graph.Node) *graph.Node {
	if m.Err != nil {
		return nil
	}
	e := Batched{Function: function, Out: out, Limit: limit, Type: dt}
	shapes := make([][]int, len(in))
	for i, n := range in {
		shapes[i] = n.Shape[:len(n.Shape)-2]
	}
	stack, err := grid.Broadcast(shapes...)
	if m.Fail(err) {
		return nil
	}
	e.Stack = append([]int{}, stack...)
	operands := make([]*graph.Node, len(in))
	for i, n := range in {
		size := [2]int(n.Shape[len(n.Shape)-2:])
		e.In = append(e.In, size)
		operands[i] = m.BroadcastTo(m.Cast(n, dtype.Float64), append(slices.Clone(stack), size[:]...)...)
	}
	return m.Blockwise(function, e, append(slices.Clone(stack), out...), dt, operands)
}

// ofSquares is a function of stacks of square matrices.
func ofSquares(m *graph.Maker, function string, n *graph.Node, out func(n int) []int) *graph.Node {
	_, size, err := squareOf(n)
	if m.Fail(err) {
		return nil
	}
	if isComplex(n) {
		return inRealForm(m, n, func(n *graph.Node) *graph.Node { return each(m, function, 0, dtype.Float64, out(2*size), n) })
	}
	dt, err := resultType(n.DType)
	if m.Fail(err) {
		return nil
	}
	return each(m, function, 0, dt, out(size), n)
}

// Det is NumPy's det: determinants, by elimination.
func Det(site graph.Site, a op.Unary) (out *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	if _, _, failed := squareOf(n); isComplex(n) && failed == nil {
		both := complexEach(m, "det_complex", n, 2)
		return named(joinParts(m, m.Slice(both, "..., 0"), m.Slice(both, "..., 1"), complexResult(n)), n), m.Err
	}
	return m.Result("det", named(ofSquares(m, "det", n, func(int) []int { return nil }), n), n)
}

// SlogDet is NumPy's slogdet: the determinants' signs, 0 of singular matrices, and the
// logarithms of their magnitudes.
func SlogDet(site graph.Site, a op.Unary) (sign, logabs *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	if _, _, err := squareOf(n); isComplex(n) && err == nil {
		all := complexEach(m, "slogdet_complex", n, 3)
		t := complexResult(n)
		sign = joinParts(m, m.Slice(all, "..., 0"), m.Slice(all, "..., 1"), t)
		return named(sign, n), named(m.Cast(m.Slice(all, "..., 2"), realPart(t)), n), m.Err
	}
	both, err := m.Result("slogdet", ofSquares(m, "slogdet", n, func(int) []int { return []int{2} }), n)
	return named(m.Slice(both, "..., 0"), n), named(m.Slice(both, "..., 1"), n), cmp.Or(err, m.Err)
}

// Inv is NumPy's inv. A matrix that is singular, or so near to it that rounding alone
// gives the result, is an error when it is computed.
func Inv(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	out := ofSquares(m, "inv", n, func(size int) []int { return []int{size, size} })
	return m.Result("inv", named(out, n, ofColumns, ofRows), n)
}

// EigH is NumPy's eigh of symmetric matrices, whose lower triangles are read:
// eigenvalues, rising, and eigenvectors as columns, whose largest element is positive.
func EigH(site graph.Site, a op.Unary) (values, vectors *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	if _, size, err := squareOf(n); isComplex(n) && err == nil {
		t := complexResult(n)
		all := complexEach(m, "eigh_complex", n, size+1, 2*size)
		values = m.Cast(m.Slice(all, "..., 0, ::2"), realPart(t))
		return named(values, n, ofNone), named(pairs(m, m.Slice(all, "..., 1:, :"), t), n, ofRows, ofNone), m.Err
	}
	both, err := m.Result("eigh", ofSquares(m, "eigh", n, func(size int) []int { return []int{size + 1, size} }), n)
	return named(m.Slice(both, "..., 0, :"), n, ofNone), named(m.Slice(both, "..., 1:, :"), n, ofRows, ofNone), cmp.Or(err, m.Err)
}

// Solve is NumPy's solve: x of a·x = b, where b is a vector or a stack of matrices. A
// matrix that is singular, or so near to it that rounding alone gives the result, is an
// error when it is computed.
func Solve(site graph.Site, a, b *graph.Node) (out *graph.Node, err error) {
	if isComplex(a, b) {
		out, err = solveInRealForm(site, "solve", a, b, func(a, b *graph.Node) (*graph.Node, error) { return Solve(site, a, b) })
	} else {
		out, err = withVector(site, "solve", a, b, func(m *graph.Maker, b *graph.Node, dt dtype.Type) *graph.Node {
			return each(m, "solve", 0, dt, b.Shape[len(b.Shape)-2:], a, b)
		})
	}
	return namedSolution(out, a, b), err
}

// withVector checks the operands of a·x = b, and takes a vector as a matrix of one
// column.
func withVector(site graph.Site, name string, a, b *graph.Node, f func(m *graph.Maker, b *graph.Node, dt dtype.Type) *graph.Node) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	x := func() *graph.Node {
		_, size, err := squareOf(a)
		if m.Fail(err) {
			return nil
		}
		if len(b.Shape) == 0 {
			m.Fail(errors.New("the right-hand side is a scalar"))
			return nil
		}
		column := b
		if len(b.Shape) == 1 {
			if column = m.ExpandDims(b, 1); m.Err != nil {
				return nil
			}
		}
		if rows := column.Shape[len(column.Shape)-2]; rows != size {
			m.Fail(fmt.Errorf("the right-hand side has %d rows, for matrices of %d", rows, size))
			return nil
		}
		dt, err := common(a, b)
		if m.Fail(err) {
			return nil
		}
		x := f(m, column, dt)
		if len(b.Shape) == 1 {
			x = m.Squeeze(x, -1)
		}
		return x
	}()
	return m.Result(name, x, a, b)
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
