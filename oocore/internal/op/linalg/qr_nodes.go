package linalg

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// resultType is the type of results of real matrices, NumPy's.
func resultType(t dtype.Type) (dtype.Type, error) {
	switch {
	case t.Kind() == dtype.KindComplex:
		return 0, fmt.Errorf("takes real numbers, not %s", t)
	case t.Short():
		return 0, fmt.Errorf("does not take %s: bring it to float32 with AsType", t)
	case t == dtype.Float32:
		return t, nil
	}
	return dtype.Float64, nil
}

// matrixOf checks that an array is one matrix with elements, and gives the type of
// results.
func matrixOf(n *graph.Node) (dtype.Type, error) {
	if len(n.Shape) != 2 {
		return 0, fmt.Errorf("takes a matrix, not an array of shape %s", grid.Format(n.Shape))
	}
	if grid.Size(n.Shape) == 0 {
		return 0, fmt.Errorf("a matrix of shape %s has no elements", grid.Format(n.Shape))
	}
	return resultType(n.DType)
}

// columns is a matrix as operations read it: transposed, in float64.
func columns(m *graph.Maker, n *graph.Node) *graph.Node {
	return m.Transpose(m.Cast(n, dtype.Float64))
}

// tall is a matrix of no fewer rows than columns, with the stacks of triangles by
// which its R is reached: those of the blocks of rows, then of the blocks of that
// stack, and so on (J. Demmel, L. Grigori, M. Hoemmen and J. Langou,
// Communication-optimal parallel and sequential QR and LU factorizations, SISC 2012).
type tall struct {
	maker  *graph.Maker
	n      int // columns
	blocks []Blocks
	in     []*graph.Node // the transposed matrix, then the stacks
}

func newTall(m *graph.Maker, n *graph.Node) *tall {
	t := &tall{maker: m}
	if m.Err != nil {
		return t
	}
	t.n, t.in = n.Shape[1], []*graph.Node{columns(m, n)}
	for rows := n.Shape[0]; ; {
		b := blocksOf(rows, t.n)
		t.blocks = append(t.blocks, b)
		if b.count() == 1 {
			return t
		}
		rows = b.count() * t.n
		stack := m.Blockwise("qr", TSQRR{Blocks: b, Run: 1, Type: dtype.Float64}, []int{rows, t.n}, dtype.Float64, t.in[len(t.in)-1:], `"r"`)
		t.in = append(t.in, m.Transpose(stack))
	}
}

// r is R, whose diagonal is not negative.
func (t *tall) r(dt dtype.Type) *graph.Node {
	if t.maker.Err != nil {
		return nil
	}
	last := len(t.in) - 1
	return t.maker.Blockwise("qr", TSQRR{Blocks: t.blocks[last], Run: 1, Final: true, Type: dt}, []int{t.n, t.n}, dt, t.in[last:], `"r"`)
}

// q is Q, or where there is one, Q times a factor of k columns, which is given
// transposed.
func (t *tall) q(dt dtype.Type, factor *graph.Node) *graph.Node {
	m := t.maker
	if m.Err != nil {
		return nil
	}
	k := t.n
	if factor != nil {
		k = factor.Shape[0]
	}
	for i := len(t.in) - 1; ; i-- {
		op := TSQRQ{Blocks: t.blocks[i], K: k, With: factor != nil, Final: i == len(t.in)-1, Type: dtype.Float64}
		in := []*graph.Node{t.in[i]}
		if factor != nil {
			in = append(in, factor)
		}
		if i == 0 {
			op.Type = dt
		}
		out := m.Blockwise("qr", op, []int{t.blocks[i].M, k}, op.Type, in, `"q"`)
		if i == 0 {
			return out
		}
		factor = m.Transpose(out)
	}
}

// QR is NumPy's qr of a matrix in its reduced form: the matrix is Q·R, where Q has
// orthonormal columns and R is upper triangular, with nothing negative on its diagonal,
// which makes them unique (LAPACK's, and so NumPy's, differ by signs). Of m × n
// elements with m ≥ n Q is m × n and R n × n; with m < n m × m and m × n.
//
// Of complex matrices R's diagonal is real, Q takes the passes of two, and columns that depend
// on each other are an error of the run.
//
// R reads the matrix once, Q twice. A task takes about 36 MiB, or four times 2n
// rows in float64 where that is more. Each matrix of a stack has to fit a task.
func QR(site graph.Site, a op.Unary) (q, r *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	q, r = qr(m, n)
	if m.Err != nil {
		return nil, nil, graph.Reject(site, "qr", m.Err, n)
	}
	return named(q, n, ofRows, ofNone), named(r, n, ofNone, ofColumns), nil
}

func qr(m *graph.Maker, n *graph.Node) (q, r *graph.Node) {
	switch {
	case m.Err != nil:
		return
	case isEmpty(n):
		return emptyQR(m, n)
	case isComplex(n):
		return complexQR(m, n)
	case len(n.Shape) > 2:
		return qrStack(m, n)
	}
	dt, err := matrixOf(n)
	if m.Fail(err) {
		return
	}
	if n.Shape[0] >= n.Shape[1] {
		t := newTall(m, n)
		return t.q(dt, nil), t.r(dt)
	}
	t := newTall(m, m.Slice(n, ":, :%d", n.Shape[0]))
	// R is Qᵀ times the matrix, of which what lies below the diagonal is rounding.
	wide := m.Product(m.Transpose(t.q(dtype.Float64, nil)), m.Cast(n, dtype.Float64))
	r = graph.Call(m, shape.Upper, op.Shifted{X: wide, Offset: 0})
	return t.q(dt, nil), m.Cast(r, dt)
}

func qrStack(m *graph.Maker, n *graph.Node) (q, r *graph.Node) {
	dt, err := resultType(n.DType)
	if m.Fail(err) {
		return
	}
	rows, cols := n.Shape[len(n.Shape)-2], n.Shape[len(n.Shape)-1]
	k := min(rows, cols)
	return each(m, "qr_q", 0, dt, []int{rows, k}, n), each(m, "qr_r", 0, dt, []int{k, cols}, n)
}
