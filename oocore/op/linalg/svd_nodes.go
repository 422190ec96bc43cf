package linalg

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/compose"
)

// turned is a stack whose matrices have no fewer rows than columns: the array or, with
// true, its matrices transposed.
func turned(site graph.Site, n *graph.Node) (*graph.Node, bool, error) {
	d := len(n.Shape)
	if n.Shape[d-2] >= n.Shape[d-1] {
		return n, false, nil
	}
	n, err := swapped(site, n)
	return n, true, err
}

// swapped is a stack with its matrices transposed.
func swapped(site graph.Site, n *graph.Node) (*graph.Node, error) {
	axes := make([]int, len(n.Shape))
	for d := range axes {
		axes[d] = d
	}
	d := len(axes)
	axes[d-1], axes[d-2] = d-2, d-1
	return graph.Transpose(site, n, axes...)
}

// SVD is NumPy's svd with full_matrices=False: the matrix is U·diag(s)·Vᵀ, of m × n
// elements and k the smaller of these U m × k, s k, falling, and Vᵀ k × n. In each right
// singular vector the largest element is positive.
//
// The values and Vᵀ read a matrix once, U twice; each with the memory of QR, and that
// of three k × k matrices in float64. Of a stack of matrices each has to fit a task.
func SVD(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
	if u, s, vt, err = thin(site, n); err != nil {
		return nil, nil, nil, graph.Reject(site, "svd", err, n)
	}
	return named(u, n, ofRows, ofNone), named(s, n, ofNone), named(vt, n, ofNone, ofColumns), nil
}

func thin(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
	if isEmpty(n) {
		return emptySVD(site, n)
	}
	if isComplex(n) {
		return complexSVD(site, n, false)
	}
	if len(n.Shape) > 2 {
		return thinStack(site, n)
	}
	dt, err := matrixOf(n)
	if err != nil {
		return nil, nil, nil, err
	}
	n, wide, err := turned(site, n)
	if err != nil {
		return nil, nil, nil, err
	}
	t, u, s, vt, err := ofTriangle(site, n)
	if err != nil {
		return nil, nil, nil, err
	}
	return t.singular(site, dt, u, s, vt, wide)
}

// ofTriangle decomposes a tall matrix's triangular factor.
func ofTriangle(site graph.Site, n *graph.Node) (t *tall, u, s, vt *graph.Node, err error) {
	if t, err = newTall(site, n); err != nil {
		return nil, nil, nil, nil, err
	}
	r, err := t.r(dtype.Float64)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	u, s, vt, err = packed(site, r, dtype.Float64)
	return t, u, s, vt, err
}

// singular is the decomposition of the matrix, by u of its triangular factor: in the
// matrix's type, and of its transpose where that is what was tall.
func (t *tall) singular(site graph.Site, dt dtype.Type, u, s, vt *graph.Node, wide bool) (_, _, _ *graph.Node, err error) {
	if u, err = graph.Transpose(site, u); err != nil {
		return nil, nil, nil, err
	}
	if u, err = t.q(dt, u); err != nil {
		return nil, nil, nil, err
	}
	if s, err = graph.AsType(site, s, dt); err != nil {
		return nil, nil, nil, err
	}
	if vt, err = graph.AsType(site, vt, dt); err != nil {
		return nil, nil, nil, err
	}
	if wide {
		return exchanged(site, u, s, vt)
	}
	return u, s, vt, nil
}

// exchanged is the decomposition of the transpose.
func exchanged(site graph.Site, u, s, vt *graph.Node) (*graph.Node, *graph.Node, *graph.Node, error) {
	v, err := swapped(site, vt)
	if err != nil {
		return nil, nil, nil, err
	}
	ut, err := swapped(site, u)
	return v, s, ut, err
}

// packed decomposes matrices, m × n with m ≥ n, that fit a task.
func packed(site graph.Site, n *graph.Node, dt dtype.Type) (u, s, vt *graph.Node, err error) {
	d := len(n.Shape)
	rows, cols := n.Shape[d-2], n.Shape[d-1]
	all, err := each(site, "svd", 0, dt, []int{rows + 1 + cols, cols}, n)
	if err != nil {
		return nil, nil, nil, err
	}
	if u, err = graph.Slice(site, all, fmt.Sprintf("..., :%d, :", rows)); err != nil {
		return nil, nil, nil, err
	}
	if s, err = graph.Slice(site, all, fmt.Sprintf("..., %d, :", rows)); err != nil {
		return nil, nil, nil, err
	}
	vt, err = graph.Slice(site, all, fmt.Sprintf("..., %d:, :", rows+1))
	return u, s, vt, err
}

func thinStack(site graph.Site, n *graph.Node) (u, s, vt *graph.Node, err error) {
	dt, err := resultType(n.DType)
	if err != nil {
		return nil, nil, nil, err
	}
	n, wide, err := turned(site, n)
	if err != nil {
		return nil, nil, nil, err
	}
	u, s, vt, err = packed(site, n, dt)
	if err != nil || !wide {
		return u, s, vt, err
	}
	return exchanged(site, u, s, vt)
}

// SVDVals is NumPy's svdvals: singular values, falling. One pass.
func SVDVals(site graph.Site, n *graph.Node) (*graph.Node, error) {
	s, err := singular(site, n)
	if err != nil {
		return nil, graph.Reject(site, "svdvals", err, n)
	}
	return named(s, n, ofNone), nil
}

func singular(site graph.Site, n *graph.Node) (*graph.Node, error) {
	if _, _, err := stackOf(n); err != nil {
		return nil, err
	}
	if isComplex(n) { // of the real form each is there twice
		m := &compose.Maker{Site: site}
		t := realPart(complexResult(n))
		form := realForm(m, n)
		s := m.Make(func() (*graph.Node, error) { return singular(site, form) })
		return m.Cast(part(m, s, "..., ::2"), t), m.Err
	}
	dt, err := resultType(n.DType)
	if err != nil {
		return nil, err
	}
	if n, _, err = turned(site, n); err != nil {
		return nil, err
	}
	if len(n.Shape) == 2 && grid.Size(n.Shape) > 0 {
		if n, err = joined(site, n); err != nil {
			return nil, err
		}
	}
	return each(site, "svdvals", 0, dt, n.Shape[len(n.Shape)-1:], n)
}

// joined is the R of matrices beside each other that only R is wanted of: runs of
// blocks are joined in a task, so that little is written.
func joined(site graph.Site, in ...*graph.Node) (*graph.Node, error) {
	var cols []int
	ins := make([]*graph.Node, len(in))
	for i, n := range in {
		cols = append(cols, n.Shape[1])
		var err error
		if ins[i], err = columns(site, n); err != nil {
			return nil, err
		}
	}
	for rows := in[0].Shape[0]; ; {
		b := blocksOf(rows, cols...)
		n := b.cols()
		t := TSQRR{Blocks: b, Run: max(4, (b.count()+63)/64), Type: dtype.Float64}
		if b.count() == 1 {
			t.Run = 1
		}
		t.Final = t.runs() == 1
		r, err := graph.NewBlockwise(site, "qr", t, []int{t.runs() * n, n}, dtype.Float64, ins, `"r"`)
		if err != nil || t.Final {
			return r, err
		}
		rows, cols = t.runs()*n, []int{n}
		if r, err = graph.Transpose(site, r); err != nil {
			return nil, err
		}
		ins = []*graph.Node{r}
	}
}

// PInv is NumPy's pinv: the pseudoinverse, n × m of m × n elements. Singular values up
// to rcond times the largest count as zero (negative: the larger length times
// float64's precision). Two passes, with the memory of QR.
func PInv(site graph.Site, n *graph.Node, rcond float64) (*graph.Node, error) {
	out, err := pinv(site, n, rcond)
	if err != nil {
		return nil, graph.Reject(site, "pinv", err, n)
	}
	return named(out, n, ofColumns, ofRows), nil
}

func pinv(site graph.Site, n *graph.Node, rcond float64) (*graph.Node, error) {
	if isEmpty(n) && len(n.Shape) == 2 { // in its own type
		return graph.Full(site, dtype.FromInt(n.DType, 0), n.Shape[1], n.Shape[0])
	}
	if isComplex(n) && len(n.Shape) == 2 {
		rcond, err := cutoff(rcond, n.Shape[0], n.Shape[1], dtype.Float64)
		if err != nil {
			return nil, err
		}
		return inRealForm(site, n, func(n *graph.Node) (*graph.Node, error) { return pinv(site, n, rcond) })
	}
	dt, err := matrixOf(n)
	if err != nil {
		return nil, err
	}
	if rcond, err = cutoff(rcond, n.Shape[0], n.Shape[1], dtype.Float64); err != nil {
		return nil, err
	}
	n, wide, err := turned(site, n)
	if err != nil {
		return nil, err
	}
	t, err := newTall(site, n)
	if err != nil {
		return nil, err
	}
	r, err := t.r(dtype.Float64)
	if err != nil {
		return nil, err
	}
	factor, err := each(site, "pinv", rcond, dtype.Float64, []int{t.n, t.n}, r)
	if err != nil {
		return nil, err
	}
	x, err := t.q(dt, factor)
	if err != nil || wide {
		return x, err
	}
	return graph.Transpose(site, x)
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
// One pass over a matrix of no fewer rows than columns, and of b beside it; three over
// others.
func Lstsq(site graph.Site, a, b *graph.Node, rcond float64) (LeastSquares, error) {
	out, err := lstsq(site, a, b, rcond)
	if err != nil {
		return LeastSquares{}, graph.Reject(site, "lstsq", err, a, b)
	}
	out.X = namedSolution(out.X, a, b)
	return out, nil
}

func lstsq(site graph.Site, a, b *graph.Node, rcond float64) (out LeastSquares, err error) {
	if len(a.Shape) == 2 && (isEmpty(a) || isEmpty(b)) {
		return emptyLstsq(site, a, b, rcond)
	}
	if isComplex(a, b) && len(a.Shape) == 2 && len(b.Shape) > 0 {
		return complexLstsq(site, a, b, rcond)
	}
	if _, err = matrixOf(a); err != nil {
		return out, err
	}
	vector := len(b.Shape) == 1
	if vector {
		if b, err = graph.ExpandDims(site, b, 1); err != nil {
			return out, err
		}
	}
	if _, err = matrixOf(b); err != nil {
		return out, fmt.Errorf("the right-hand side: %w", err)
	}
	m, n, k := a.Shape[0], a.Shape[1], b.Shape[1]
	if b.Shape[0] != m {
		return out, fmt.Errorf("the right-hand side has %d rows, for a matrix of %d", b.Shape[0], m)
	}
	dt, err := common(a, b)
	if err != nil {
		return out, err
	}
	if rcond, err = cutoff(rcond, m, n, dtype.Float64); err != nil {
		return out, err
	}
	if m >= n {
		r, err := joined(site, a, b)
		if err != nil {
			return out, err
		}
		x, err := each(site, "lstsq", rcond, dtype.Float64, []int{n, k}, r)
		if err != nil {
			return out, err
		}
		if out.Residuals, err = each(site, "lstsq_residuals", 0, dt, []int{k}, r, x); err != nil {
			return out, err
		}
		if r, err = graph.Slice(site, r, fmt.Sprintf(":%d, :%d", n, n)); err != nil {
			return out, err
		}
		if out.S, err = each(site, "svdvals", 0, dt, []int{n}, r); err != nil {
			return out, err
		}
		if out.X, err = graph.AsType(site, x, dt); err != nil {
			return out, err
		}
	} else {
		if a, err = graph.AsType(site, a, dtype.Float64); err != nil {
			return out, err
		}
		if out.S, err = singular(site, a); err != nil {
			return out, err
		}
		p, err := pinv(site, a, rcond)
		if err != nil {
			return out, err
		}
		if b, err = graph.AsType(site, b, dtype.Float64); err != nil {
			return out, err
		}
		if out.X, err = graph.Product(site, p, b); err != nil {
			return out, err
		}
		if out.Residuals, err = left(site, a, out.X, b); err != nil {
			return out, err
		}
		for _, n := range []**graph.Node{&out.S, &out.X, &out.Residuals} {
			if *n, err = graph.AsType(site, *n, dt); err != nil {
				return out, err
			}
		}
	}
	if out.Rank, err = above(site, out.S, rcond); err != nil {
		return out, err
	}
	if vector {
		out.X, err = graph.Squeeze(site, out.X, 1)
	}
	return out, err
}

// left is the sums of squares of a·x - b by columns.
func left(site graph.Site, a, x, b *graph.Node) (*graph.Node, error) {
	ax, err := graph.Product(site, a, x)
	if err != nil {
		return nil, err
	}
	if ax, err = graph.Apply(site, kernel.Subtract, ax, b); err != nil {
		return nil, err
	}
	if ax, err = graph.Apply(site, kernel.Square, ax); err != nil {
		return nil, err
	}
	return graph.Aggregate(site, kernel.Sum, ax, graph.ReduceOptions{Axes: []int{0}})
}

// above is how many values are larger than rcond times the first, which is the
// largest, along the last axis.
func above(site graph.Site, s *graph.Node, rcond float64) (*graph.Node, error) {
	first, err := graph.Slice(site, s, "..., :1")
	if err != nil {
		return nil, err
	}
	by, err := graph.Scalar(site, rcond)
	if err != nil {
		return nil, err
	}
	if first, err = graph.Apply(site, kernel.Multiply, first, by); err != nil {
		return nil, err
	}
	more, err := graph.Apply(site, kernel.Greater, s, first)
	if err != nil {
		return nil, err
	}
	return graph.Aggregate(site, kernel.CountNonzero, more, graph.ReduceOptions{Axes: []int{-1}})
}

// MatrixRank is NumPy's matrix_rank: the number of singular values above rcond times
// the largest (negative: the larger length times the precision of the matrix's type, as
// in NumPy). One pass.
func MatrixRank(site graph.Site, n *graph.Node, rcond float64) (*graph.Node, error) {
	out, err := func() (*graph.Node, error) {
		_, m, err := stackOf(n)
		if err != nil {
			return nil, err
		}
		s, err := singular(site, n)
		if err != nil {
			return nil, err
		}
		if rcond, err = cutoff(rcond, m[0], m[1], s.DType); err != nil {
			return nil, err
		}
		return above(site, s, rcond)
	}()
	if err != nil {
		return nil, graph.Reject(site, "matrix_rank", err, n)
	}
	return named(out, n), nil
}
