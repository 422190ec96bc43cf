package linalg

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Complex matrices are computed as real ones wherever those have the same factors: each
// element a + bi stands for the square [[a, -b], [b, a]], and products, inverses, factors of
// Cholesky's and QR's, least squares and singular values of such matrices are those of the
// complex ones. The others (determinants, LU, singular vectors and eigenvectors) are computed
// of complex numbers, of matrices that fit a task.

func init() { blockwise.Register("real_form", RealForm{}, blockwise.Exact) }

// RealForm is matrices of 2m × 2n real numbers for m × n complex ones.
type RealForm struct{ In []int } // shape of the input

// Requirements is the elements whose squares a box meets.
func (o RealForm) Requirements(box []int) blockwise.Requirements {
	read := slices.Clone(box)
	for d := len(box) - 2; d < len(box); d++ {
		read[d] = min(box[d]/2+1, o.In[d])
	}
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(grid.Size(read) * 16)}
}

// Fill reads the elements and writes their squares.
func (o RealForm) Fill(ctx context.Context, t *blockwise.Task) error {
	read := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
	d := len(o.In) - 2
	for a := d; a < d+2; a++ {
		end := (t.Box.Start[a] + t.Box.Shape[a] + 1) / 2
		read.Start[a] = t.Box.Start[a] / 2
		read.Shape[a] = end - read.Start[a]
	}
	in := t.Scratch[:read.Size()*16]
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		z, out := dtype.Slice[complex128](in), dtype.Slice[float64](t.Dst)
		rows, cols := t.Box.Shape[d], t.Box.Shape[d+1]
		for k := range grid.Size(t.Box.Shape[:d]) {
			for i := range rows {
				row := t.Box.Start[d] + i
				from := z[(k*read.Shape[d]+row/2-read.Start[d])*read.Shape[d+1]:]
				to := out[(k*rows+i)*cols:][:cols]
				for j := range to {
					col := t.Box.Start[d+1] + j
					v := from[col/2-read.Start[d+1]]
					switch {
					case row%2 == col%2:
						to[j] = real(v)
					case row%2 == 0:
						to[j] = -imag(v)
					default:
						to[j] = imag(v)
					}
				}
			}
		}
		return nil
	})
}

// isComplex reports whether one of the operands is complex.
func isComplex(in ...*graph.Node) bool {
	return slices.ContainsFunc(in, func(n *graph.Node) bool { return n.DType.Kind() == dtype.KindComplex })
}

// complexResult is the type of complex results: complex64 of complex64 and of float32 with it.
func complexResult(in ...*graph.Node) dtype.Type {
	for _, n := range in {
		if n.DType != dtype.Complex64 && n.DType != dtype.Float32 {
			return dtype.Complex128
		}
	}
	return dtype.Complex64
}

// realForm is matrices in their real form, whose elements are finite.
func realForm(m *graph.Maker, n *graph.Node) *graph.Node {
	if m.Err == nil {
		_, _, m.Err = stackOf(n)
	}
	n = m.Cast(n, dtype.Complex128)
	n = m.FailIf(m.Apply(kernel.LogicalNot, m.Apply(kernel.IsFinite, n)), n, "an element is not finite: all have to be")
	return m.Make(func() (*graph.Node, error) {
		d := len(n.Shape) - 2
		to := append(slices.Clone(n.Shape[:d]), 2*n.Shape[d], 2*n.Shape[d+1])
		if grid.Size(to) == 0 {
			return graph.Full(m.Site, dtype.FromFloat(dtype.Float64, 0), to...)
		}
		return graph.NewBlockwise(m.Site, "real_form", RealForm{n.Shape}, to, dtype.Float64, []*graph.Node{n})
	})
}

// joinParts makes complex numbers of real and imaginary parts.
func joinParts(m *graph.Maker, re, im *graph.Node, t dtype.Type) *graph.Node {
	return m.Cast(m.Apply(kernel.Add, re, m.Apply(kernel.Multiply, im, m.Number(complex(0, 1)))), t)
}

// complexForm is the complex matrices of a real form.
func complexForm(m *graph.Maker, n *graph.Node, t dtype.Type) *graph.Node {
	return joinParts(m, m.Slice(n, "..., ::2, ::2"), m.Slice(n, "..., 1::2, ::2"), t)
}

// inRealForm is a function of complex matrices by that of their real form.
func inRealForm(m *graph.Maker, n *graph.Node, f func(n *graph.Node) *graph.Node) *graph.Node {
	t := complexResult(n)
	form := realForm(m, n)
	if m.Err != nil {
		return nil
	}
	out := complexForm(m, f(form), t)
	m.Err = graph.Unnamed(m.Err)
	return out
}

// solveInRealForm is x of a·x = b by that of the real forms, of which a right-hand side has
// every second column.
func solveInRealForm(site graph.Site, name string, a, b *graph.Node, f func(a, b *graph.Node) (*graph.Node, error)) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	t := complexResult(a, b)
	vector := len(b.Shape) == 1
	if vector {
		b = m.ExpandDims(b, 1)
	}
	form := realForm(m, a)
	right := m.Slice(realForm(m, b), "..., ::2")
	x := m.Make(func() (*graph.Node, error) { return f(form, right) })
	x = joinParts(m, m.Slice(x, "..., ::2, :"), m.Slice(x, "..., 1::2, :"), t)
	if vector {
		x = m.Squeeze(x, -1)
	}
	if m.Err != nil {
		return nil, graph.Reject(site, name, graph.Unnamed(m.Err), a, b)
	}
	return x, nil
}

// complexQR is the factors of complex matrices whose columns do not depend on each other. Q of
// the real form is a real form up to the rounding that ill-conditioned columns enlarge, and so
// it is that of a second factorization, of the first one's Q.
func complexQR(m *graph.Maker, n *graph.Node) (q, r *graph.Node) {
	t := complexResult(n)
	once := func(n *graph.Node) (q, r *graph.Node) {
		q, r = qr(m, realForm(m, n))
		return complexForm(m, q, dtype.Complex128), complexForm(m, r, dtype.Complex128)
	}
	first, r := once(n)
	q, _ = once(first)
	if m.Err != nil {
		return nil, nil
	}
	dims := len(r.Shape)
	size := m.Apply(kernel.Absolute, graph.Call(m, shape.Diagonal, shape.DiagonalArgs{X: r, Offset: 0, Axis: dims - 2, Other: dims - 1}))
	last := graph.ReduceOptions{Axes: []int{-1}, KeepDims: true}
	depend := m.Apply(kernel.LessEqual, m.Reduce(kernel.Min, size, last), m.Apply(kernel.Multiply, m.Reduce(kernel.Max, size, last), m.Number(0x1p-44)))
	depend = m.ExpandDims(depend, -1)
	checked := func(n *graph.Node) *graph.Node {
		return m.Cast(m.FailIf(m.BroadcastTo(depend, n.Shape...), n, "the columns of a complex matrix depend on each other, so that it has no unique factors: its svd tells which"), t)
	}
	return checked(q), checked(r)
}

// interleaved is complex matrices as rows of real and imaginary parts.
func interleaved(m *graph.Maker, n *graph.Node) *graph.Node {
	return m.Slice(realForm(m, m.Apply(kernel.Conjugate, n)), "..., ::2, :")
}

// complexEach applies a function of complex matrices to stacks: its results are real numbers.
func complexEach(m *graph.Maker, function string, n *graph.Node, out ...int) *graph.Node {
	return each(m, function, 0, dtype.Float64, out, interleaved(m, n))
}

// pairs makes complex numbers of real and imaginary parts that alternate along the last axis.
func pairs(m *graph.Maker, n *graph.Node, t dtype.Type) *graph.Node {
	return joinParts(m, m.Slice(n, "..., ::2"), m.Slice(n, "..., 1::2"), t)
}

// realPart is the type of the parts of complex numbers.
func realPart(t dtype.Type) dtype.Type {
	if t == dtype.Complex64 {
		return dtype.Float32
	}
	return dtype.Float64
}

// complexSVD is u, s and vt of complex matrices, with all vectors where they are asked for.
// Tall ones that do not fit a task are factorized first.
func complexSVD(m *graph.Maker, n *graph.Node, full bool) (u, s, vt *graph.Node) {
	if m.Err != nil {
		return
	}
	_, size, err := stackOf(n)
	if m.Fail(err) {
		return
	}
	t := complexResult(n)
	turned := func(n *graph.Node) *graph.Node { return swapped(m, m.Apply(kernel.Conjugate, n)) }
	if size[0] < size[1] {
		v, s, ut := complexSVD(m, turned(n), full)
		return turned(ut), s, turned(v)
	}
	if !full && len(n.Shape) == 2 && blocksOf(2*size[0], 2*size[1]).count() > 1 {
		q, r := complexQR(m, n)
		left, s, vt := complexSVD(m, r, false)
		return m.Product(q, left), s, vt
	}
	wide, function := 2*size[1], "svd_complex"
	if full {
		wide, function = 2*size[0], "svd_complex_full"
	}
	all := complexEach(m, function, n, size[0]+1+size[1], wide)
	u = pairs(m, m.Slice(all, "..., 0:%d, :%d", size[0], wide), t)
	s = m.Cast(m.Slice(all, "..., %d, :%d:2", size[0], 2*size[1]), realPart(t))
	return u, s, pairs(m, m.Slice(all, "..., %d:, :%d", size[0]+1, 2*size[1]), t)
}

// complexLstsq is least squares of complex matrices: those of the real form, whose squares are
// those of magnitudes.
func complexLstsq(m *graph.Maker, a, b *graph.Node, rcond float64) (out LeastSquares) {
	_, size, err := stackOf(a)
	if err == nil {
		rcond, err = cutoff(rcond, size[0], size[1], dtype.Float64)
	}
	if m.Fail(err) {
		return out
	}
	t := complexResult(a, b)
	out = lstsq(m, realForm(m, a), m.Slice(realForm(m, b), "..., ::2"), rcond)
	out.X = joinParts(m, m.Slice(out.X, "..., ::2, :"), m.Slice(out.X, "..., 1::2, :"), t)
	out.Residuals = m.Cast(out.Residuals, realPart(t))
	out.S = m.Cast(m.Slice(out.S, "..., ::2"), realPart(t))
	out.Rank = m.Apply(kernel.FloorDivide, out.Rank, m.Number(2))
	return out
}
