package linalg

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// turned is a stack whose matrices have no fewer rows than columns: the array or, with
// true, its matrices transposed.
func turned(m *graph.Maker, n *graph.Node) (*graph.Node, bool) {
	d := len(n.Shape)
	if n.Shape[d-2] >= n.Shape[d-1] {
		return n, false
	}
	return swapped(m, n), true
}

// swapped is a stack with its matrices transposed.
func swapped(m *graph.Maker, n *graph.Node) *graph.Node {
	return graph.Call(m, shape.Swap, shape.SwapArgs{X: n, Axis: -1, Other: -2})
}

// SVD is NumPy's svd, with full_matrices where a.Full says so: the matrix is U·diag(s)·Vᵀ, of m × n
// elements and k the smaller of these U m × k, s k, falling, and Vᵀ k × n. In each right
// singular vector the largest element is positive.
//
// The values and Vᵀ read a matrix once, U twice; each with the memory of QR, and that
// of three k × k matrices in float64. Of a stack of matrices each has to fit a task.
//
// Full matrices are u of m × m and vt of n × n, of a matrix that fits a task, as does each of a
// stack, with a second u besides the result. One pass.
func SVD(site graph.Site, a SVDArgs) (u, s, vt *graph.Node, err error) {
	n, decompose := a.X, thin
	if a.Full {
		decompose = fullSVD
	}
	m := &graph.Maker{Site: site}
	u, s, vt = decompose(m, n)
	if m.Err != nil {
		return nil, nil, nil, graph.Reject(site, "svd", m.Err, n)
	}
	return named(u, n, ofRows, ofNone), named(s, n, ofNone), named(vt, n, ofNone, ofColumns), nil
}

func thin(m *graph.Maker, n *graph.Node) (u, s, vt *graph.Node) {
	switch {
	case m.Err != nil:
		return
	case isEmpty(n):
		return emptySVD(m, n)
	case isComplex(n):
		return complexSVD(m, n, false)
	case len(n.Shape) > 2:
		return thinStack(m, n)
	}
	dt, err := matrixOf(n)
	if m.Fail(err) {
		return
	}
	n, wide := turned(m, n)
	t, u, s, vt := ofTriangle(m, n)
	return t.singular(dt, u, s, vt, wide)
}

// ofTriangle decomposes a tall matrix's triangular factor.
func ofTriangle(m *graph.Maker, n *graph.Node) (t *tall, u, s, vt *graph.Node) {
	t = newTall(m, n)
	u, s, vt = packed(m, t.r(dtype.Float64), dtype.Float64)
	return t, u, s, vt
}

// singular is the decomposition of the matrix, by u of its triangular factor: in the
// matrix's type, and of its transpose where that is what was tall.
func (t *tall) singular(dt dtype.Type, u, s, vt *graph.Node, wide bool) (_, _, _ *graph.Node) {
	m := t.maker
	u, s, vt = t.q(dt, m.Transpose(u)), m.Cast(s, dt), m.Cast(vt, dt)
	if wide {
		return swapped(m, vt), s, swapped(m, u)
	}
	return u, s, vt
}

// packed decomposes matrices, m × n with m ≥ n, that fit a task.
func packed(m *graph.Maker, n *graph.Node, dt dtype.Type) (u, s, vt *graph.Node) {
	if m.Err != nil {
		return
	}
	d := len(n.Shape)
	rows, cols := n.Shape[d-2], n.Shape[d-1]
	all := each(m, "svd", 0, dt, []int{rows + 1 + cols, cols}, n)
	return m.Slice(all, "..., :%d, :", rows), m.Slice(all, "..., %d, :", rows), m.Slice(all, "..., %d:, :", rows+1)
}

func thinStack(m *graph.Maker, n *graph.Node) (u, s, vt *graph.Node) {
	dt, err := resultType(n.DType)
	if m.Fail(err) {
		return
	}
	n, wide := turned(m, n)
	if u, s, vt = packed(m, n, dt); wide {
		return swapped(m, vt), s, swapped(m, u)
	}
	return u, s, vt
}

// SVDVals is NumPy's svdvals: singular values, falling. One pass.
func SVDVals(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	return m.Result("svdvals", named(singular(m, n), n, ofNone), n)
}

func singular(m *graph.Maker, n *graph.Node) *graph.Node {
	if m.Err != nil {
		return nil
	}
	if _, _, err := stackOf(n); m.Fail(err) {
		return nil
	}
	if isComplex(n) { // of the real form each is there twice
		return m.Cast(m.Slice(singular(m, realForm(m, n)), "..., ::2"), realPart(complexResult(n)))
	}
	dt, err := resultType(n.DType)
	if m.Fail(err) {
		return nil
	}
	k := min(n.Shape[len(n.Shape)-2], n.Shape[len(n.Shape)-1])
	flat := len(n.Shape) == 2 && grid.Size(n.Shape) > 0
	if n, _ = turned(m, n); flat {
		n = joined(m, n)
	}
	return each(m, "svdvals", 0, dt, []int{k}, n)
}

// joined returns the R alone of matrices that stand side by side. A task joins a run of
// blocks, so that little is written.
func joined(m *graph.Maker, in ...*graph.Node) *graph.Node {
	if m.Err != nil {
		return nil
	}
	var cols []int
	ins := make([]*graph.Node, len(in))
	for i, n := range in {
		cols = append(cols, n.Shape[1])
		ins[i] = columns(m, n)
	}
	for rows := in[0].Shape[0]; ; {
		b := blocksOf(rows, cols...)
		n := b.cols()
		t := TSQRR{Blocks: b, Run: max(4, (b.count()+63)/64), Type: dtype.Float64}
		if b.count() == 1 {
			t.Run = 1
		}
		t.Final = t.runs() == 1
		r := m.Blockwise("qr", t, []int{t.runs() * n, n}, dtype.Float64, ins, `"r"`)
		if t.Final {
			return r
		}
		rows, cols, ins = t.runs()*n, []int{n}, []*graph.Node{m.Transpose(r)}
	}
}

// PInv is NumPy's pinv: the pseudoinverse, n × m of m × n elements. Singular values up
// to rcond times the largest count as zero (negative: the larger length times
// float64's precision). Two passes, with the memory of QR. Each matrix of a stack has to fit a task: one pass.
func PInv(site graph.Site, a RankArgs) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	return m.Result("pinv", named(pinv(m, n, a.RCond), n, ofColumns, ofRows), n)
}

func pinv(m *graph.Maker, n *graph.Node, rcond float64) *graph.Node {
	if m.Err != nil {
		return nil
	}
	_, size, err := stackOf(n)
	if m.Fail(err) {
		return nil
	}
	if isEmpty(n) { // in its own type
		return swapped(m, m.Full(dtype.FromInt(n.DType, 0), n.Shape...))
	}
	if rcond, err = cutoff(rcond, size[0], size[1], dtype.Float64); m.Fail(err) {
		return nil
	}
	if isComplex(n) {
		return inRealForm(m, n, func(n *graph.Node) *graph.Node { return pinv(m, n, rcond) })
	}
	dt, err := resultType(n.DType)
	if m.Fail(err) {
		return nil
	}
	n, wide := turned(m, n)
	var x *graph.Node // transposed
	if rows, cols := n.Shape[len(n.Shape)-2], n.Shape[len(n.Shape)-1]; len(n.Shape) > 2 {
		x = swapped(m, each(m, "pinv", rcond, dt, []int{cols, rows}, n))
	} else {
		t := newTall(m, n)
		x = t.q(dt, each(m, "pinv", rcond, dtype.Float64, []int{t.n, t.n}, t.r(dtype.Float64)))
	}
	if wide {
		return x
	}
	return swapped(m, x)
}

// LeastSquares is what NumPy's lstsq gives.
type LeastSquares struct {
	X         *graph.Node // n, or n × k
	Residuals *graph.Node // sums of squares, of each right-hand side
	Rank      *graph.Node // int64
	S         *graph.Node // singular values, falling
}

// Lstsq is NumPy's lstsq: x for which a·x is nearest to b, and of those the shortest.
// Singular values up to rcond times the largest count as zero (negative: the larger
// length times float64's precision). Residuals have a sum of squares of each
// right-hand side, also where NumPy leaves them out.
//
// One pass over a matrix of no fewer rows than columns, and of b with it; three over others, and
// where b has many columns, and of stacks, of which each matrix has to fit a task.
func Lstsq(site graph.Site, a, b *graph.Node, rcond float64) (LeastSquares, error) {
	m := &graph.Maker{Site: site}
	out := lstsq(m, a, b, rcond)
	if m.Err != nil {
		return LeastSquares{}, graph.Reject(site, "lstsq", m.Err, a, b)
	}
	out.X = namedSolution(out.X, a, b)
	return out, nil
}

// mostSides are the most right-hand sides that are factored together with a matrix of fewer columns. By more the
// matrix alone is factored: they would make its factors' work and memory those of their square.
const mostSides = 256

func lstsq(m *graph.Maker, a, b *graph.Node, rcond float64) (out LeastSquares) {
	if m.Err != nil {
		return out
	}
	_, size, err := stackOf(a)
	if m.Fail(err) {
		return out
	}
	vector := len(b.Shape) == 1
	if vector {
		b = m.ExpandDims(b, 1)
		defer func() { out.X = m.Squeeze(out.X, -1) }()
	}
	stacks := len(a.Shape) > 2 || len(b.Shape) > 2
	switch {
	case m.Err != nil:
	case !stacks && (isEmpty(a) || isEmpty(b)):
		return emptyLstsq(m, a, b, rcond)
	case isComplex(a, b):
		return complexLstsq(m, a, b, rcond)
	}
	_, right, err := stackOf(b)
	if err != nil {
		m.Fail(fmt.Errorf("the right-hand side: %w", err))
		return out
	}
	rows, n, k := size[0], size[1], right[1]
	if right[0] != rows {
		m.Fail(fmt.Errorf("the right-hand side has %d rows, for a matrix of %d", right[0], rows))
		return out
	}
	dt, err := common(a, b)
	if m.Fail(err) {
		return out
	}
	if rcond, err = cutoff(rcond, rows, n, dtype.Float64); m.Fail(err) {
		return out
	}
	if !stacks && rows >= n && k <= max(n, mostSides) {
		r := joined(m, a, b)
		x := each(m, "lstsq", rcond, dtype.Float64, []int{n, k}, r)
		out.Residuals = each(m, "lstsq_residuals", 0, dt, []int{k}, r, x)
		out.S = each(m, "svdvals", 0, dt, []int{n}, m.Slice(r, ":%d, :%d", n, n))
		out.X = m.Cast(x, dt)
	} else {
		a = m.Cast(a, dtype.Float64)
		s, p := singular(m, a), pinv(m, a, rcond)
		b = m.Cast(b, dtype.Float64)
		x := m.Product(p, b)
		// The sums of squares of a·x - b by columns.
		left := m.Apply(kernel.Square, m.Apply(kernel.Subtract, m.Product(a, x), b))
		left = m.Reduce(kernel.Sum, left, graph.ReduceOptions{Axes: []int{-2}})
		out.S, out.X, out.Residuals = m.Cast(s, dt), m.Cast(x, dt), m.Cast(left, dt)
	}
	out.Rank = above(m, out.S, rcond)
	return out
}

// above is how many values are larger than rcond times the first, which is the
// largest, along the last axis.
func above(m *graph.Maker, s *graph.Node, rcond float64) *graph.Node {
	least := m.Apply(kernel.Multiply, m.Slice(s, "..., :1"), m.Number(rcond))
	return m.Reduce(kernel.CountNonzero, m.Apply(kernel.Greater, s, least), graph.ReduceOptions{Axes: []int{-1}})
}

// MatrixRank is NumPy's matrix_rank: the number of singular values above rcond times
// the largest (negative: the larger length times the precision of the matrix's type, as
// in NumPy). One pass.
func MatrixRank(site graph.Site, a RankArgs) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	return m.Result("matrix_rank", named(matrixRank(m, n, a.RCond), n), n)
}

func matrixRank(m *graph.Maker, n *graph.Node, rcond float64) *graph.Node {
	_, size, err := stackOf(n)
	if m.Fail(err) {
		return nil
	}
	s := singular(m, n)
	if m.Err != nil {
		return nil
	}
	if rcond, err = cutoff(rcond, size[0], size[1], s.DType); m.Fail(err) {
		return nil
	}
	return above(m, s, rcond)
}
