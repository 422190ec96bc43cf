package linalg

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/shape"
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
func columns(site graph.Site, n *graph.Node) (*graph.Node, error) {
	n, err := graph.AsType(site, n, dtype.Float64)
	if err != nil {
		return nil, err
	}
	return graph.Transpose(site, n)
}

// tall is a matrix of no fewer rows than columns, with the stacks of triangles by
// which its R is reached: those of the blocks of rows, then of the blocks of that
// stack, and so on (J. Demmel, L. Grigori, M. Hoemmen and J. Langou,
// Communication-optimal parallel and sequential QR and LU factorizations, SISC 2012).
type tall struct {
	site   graph.Site
	m, n   int
	blocks []Blocks
	in     []*graph.Node // the transposed matrix, then the stacks
}

func newTall(site graph.Site, n *graph.Node) (*tall, error) {
	in, err := columns(site, n)
	if err != nil {
		return nil, err
	}
	t := &tall{site: site, m: n.Shape[0], n: n.Shape[1], in: []*graph.Node{in}}
	for rows := t.m; ; {
		b := blocksOf(rows, t.n)
		t.blocks = append(t.blocks, b)
		if b.count() == 1 {
			return t, nil
		}
		rows = b.count() * t.n
		stack, err := graph.NewBlockwise(site, "qr", TSQRR{Blocks: b, Run: 1, Type: dtype.Float64}, []int{rows, t.n}, dtype.Float64, t.in[len(t.in)-1:], `"r"`)
		if err != nil {
			return nil, err
		}
		if stack, err = graph.Transpose(site, stack); err != nil {
			return nil, err
		}
		t.in = append(t.in, stack)
	}
}

// r is R, whose diagonal is not negative.
func (t *tall) r(dt dtype.Type) (*graph.Node, error) {
	last := len(t.in) - 1
	return graph.NewBlockwise(t.site, "qr", TSQRR{Blocks: t.blocks[last], Run: 1, Final: true, Type: dt}, []int{t.n, t.n}, dt, t.in[last:], `"r"`)
}

// q is Q, or where there is one, Q times a factor of k columns, which is given
// transposed.
func (t *tall) q(dt dtype.Type, factor *graph.Node) (*graph.Node, error) {
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
		out, err := graph.NewBlockwise(t.site, "qr", op, []int{t.blocks[i].M, k}, op.Type, in, `"q"`)
		if err != nil || i == 0 {
			return out, err
		}
		if factor, err = graph.Transpose(t.site, out); err != nil {
			return nil, err
		}
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
func QR(site graph.Site, n *graph.Node) (q, r *graph.Node, err error) {
	q, r, err = qr(site, n)
	if err != nil {
		return nil, nil, graph.Reject(site, "qr", err, n)
	}
	return named(q, n, ofRows, ofNone), named(r, n, ofNone, ofColumns), nil
}

func qr(site graph.Site, n *graph.Node) (q, r *graph.Node, err error) {
	if isEmpty(n) {
		return emptyQR(site, n)
	}
	if isComplex(n) {
		return complexQR(site, n)
	}
	if len(n.Shape) > 2 {
		return qrStack(site, n)
	}
	dt, err := matrixOf(n)
	if err != nil {
		return nil, nil, err
	}
	wide := n.Shape[0] < n.Shape[1]
	left := n
	if wide {
		if left, err = graph.Slice(site, n, fmt.Sprintf(":, :%d", n.Shape[0])); err != nil {
			return nil, nil, err
		}
	}
	t, err := newTall(site, left)
	if err != nil {
		return nil, nil, err
	}
	if q, err = t.q(dt, nil); err != nil {
		return nil, nil, err
	}
	if !wide {
		r, err = t.r(dt)
		return q, r, err
	}
	if r, err = wideR(site, t, n); err != nil {
		return nil, nil, err
	}
	r, err = graph.AsType(site, r, dt)
	return q, r, err
}

func qrStack(site graph.Site, n *graph.Node) (q, r *graph.Node, err error) {
	dt, err := resultType(n.DType)
	if err != nil {
		return nil, nil, err
	}
	_, m, err := stackOf(n)
	if err != nil {
		return nil, nil, err
	}
	k := min(m[0], m[1])
	if q, err = each(site, "qr_q", 0, dt, []int{m[0], k}, n); err != nil {
		return nil, nil, err
	}
	r, err = each(site, "qr_r", 0, dt, []int{k, m[1]}, n)
	return q, r, err
}

// wideR is Qᵀ times the matrix, of which what lies below the diagonal is rounding.
func wideR(site graph.Site, t *tall, n *graph.Node) (*graph.Node, error) {
	q, err := t.q(dtype.Float64, nil)
	if err != nil {
		return nil, err
	}
	if q, err = graph.Transpose(site, q); err != nil {
		return nil, err
	}
	if n, err = graph.AsType(site, n, dtype.Float64); err != nil {
		return nil, err
	}
	r, err := graph.Product(site, q, n)
	if err != nil {
		return nil, err
	}
	return shape.Upper(site, r, 0)
}
