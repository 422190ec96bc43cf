package linalg

import (
	"math"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
)

// householder is the QR factorization of a block of m rows and n columns by Householder's
// reflections, in panels that are applied as products (R. Schreiber and C. Van Loan, A
// storage-efficient WY representation for products of Householder transformations,
// SISC 1989), each panel by halves (E. Elmroth and F. Gustavson, Applying recursion to
// serial and parallel QR factorization leads to better performance, IBM J. Res. Dev.
// 2000).
//
// The block is held by its columns: row j of c is column j, and position i along it
// row i of the block. Afterwards it holds R up to position j, and the reflection behind.
type householder struct {
	c      matrix // n × m
	t      matrix // n × panel: the triangle T of each panel, whose reflections are I - V·T·Vᵀ
	scale  []float64
	vt, v  matrix // a panel's V with its ones and zeros: panel × m, m × panel
	w, w2  matrix // of what is reflected: rows × panel
	turned matrix // panel × panel: T as it is applied
	gemm   []byte
}

const (
	panel = 64 // columns whose reflections are applied at once
	few   = 8  // columns that are reflected one by one
)

// newHouse takes memory for blocks of up to n columns and m rows, whose reflections
// are also applied to up to others columns.
func newHouse(p *pool, n, m, others int) *householder {
	w := min(panel, n, m)
	rows := max(n, others)
	return &householder{
		c: p.stateMatrix(n, m), t: p.stateMatrix(n, w), scale: p.state(1),
		vt: p.matrix(w, m), v: p.matrix(m, w), w: p.matrix(rows, w), w2: p.matrix(rows, w), turned: p.matrix(w, w),
		gemm: p.product(max(rows, w), max(m, w), max(m, w)),
	}
}

// resize is the same memory for a block of fewer rows.
func (h *householder) resize(m int) {
	h.c.cols, h.c.ld = m, m
}

// order is the number of reflections.
func (h *householder) order() int { return min(h.c.rows, h.c.cols) }

// of makes the reflections of a matrix.
func (h *householder) of(s *blockwise.Steps, a matrix) error {
	if s.Next() {
		transpose(h.c, a)
		if err := s.End(); err != nil {
			return err
		}
	}
	return h.factor(s)
}

// factor makes the reflections. Where squares would leave the range of numbers, they
// are made of the block times a power of two. c, t and scale are the state of its steps.
func (h *householder) factor(s *blockwise.Steps) error {
	if s.Next() {
		h.scale[0] = scaling(h.c)
		for j := 0; h.scale[0] != 1 && j < h.c.rows; j++ {
			times(h.c.row(j), h.scale[0])
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	for at := 0; at < h.order(); at += panel {
		if !s.Next() {
			continue
		}
		end := min(at+panel, h.order())
		h.reduce(at, at, end)
		h.apply(h.c.part(end, h.c.rows, 0, h.c.cols), at, at, end, false)
		if err := s.End(); err != nil {
			return err
		}
	}
	if !s.Next() {
		return nil
	}
	for j := 0; h.scale[0] != 1 && j < h.c.rows; j++ {
		times(h.c.row(j)[:min(j+1, h.c.cols)], 1/h.scale[0])
	}
	return s.End()
}

// reduce reflects columns lo to hi of the panel that begins at a column.
func (h *householder) reduce(begin, lo, hi int) {
	if hi-lo <= few {
		for j := lo; j < hi; j++ {
			h.column(begin, lo, hi, j)
		}
		return
	}
	mid := lo + ((hi-lo)/2+few-1)/few*few
	h.reduce(begin, lo, mid)
	h.apply(h.c.part(mid, hi, 0, h.c.cols), begin, lo, mid, false)
	h.reduce(begin, mid, hi)
	h.join(begin, lo, mid, hi)
}

// column reflects column j so that it ends at its position j, applies that to those
// up to hi, and adds a column to the triangle.
func (h *householder) column(begin, lo, hi, j int) {
	x := h.c.row(j)[j:]
	alpha, tail := x[0], x[1:]
	norm := math.Sqrt(dot(tail, tail))
	var tau float64
	if norm > 0 {
		beta := -math.Copysign(math.Hypot(alpha, norm), alpha)
		tau = (beta - alpha) / beta
		scale := 1 / (alpha - beta)
		for i := range tail {
			tail[i] *= scale
		}
		x[0] = beta
		for k := j + 1; k < hi; k++ {
			y := h.c.row(k)[j:]
			s := tau * (y[0] + dot(tail, y[1:]))
			y[0] -= s
			axpy(-s, tail, y[1:])
		}
	} else {
		clear(tail) // too small to tell from nothing
	}
	// T's new column is -τ·T·Vᵀv.
	t := h.t
	z := h.turned.row(0)[:j-lo]
	for k := range z {
		v := h.c.row(lo + k)[j:]
		z[k] = v[0] + dot(v[1:], tail)
	}
	for i := range z {
		t.row(lo + i)[j-begin] = -tau * dot(t.row(lo + i)[lo+i-begin:j-begin], z[i:])
	}
	row := t.row(j)
	clear(row[lo-begin:])
	row[j-begin] = tau
}

// join adds the part of the triangle that takes columns lo to mid to mid to hi:
// -T₁·V₁ᵀV₂·T₂.
func (h *householder) join(begin, lo, mid, hi int) {
	m := h.c.cols
	vt, v := h.rows(lo, mid, mid), h.cols(mid, hi)
	s := h.w.part(0, mid-lo, 0, hi-mid)
	s.clear()
	multiply(s, vt.part(0, mid-lo, mid-lo, m-lo), v, h.gemm)
	t1 := h.t.part(lo, mid, lo-begin, mid-begin)
	t2 := h.t.part(mid, hi, mid-begin, hi-begin)
	for i := range t1.rows {
		half := h.w2.row(0)[:s.cols]
		clear(half)
		for k := i; k < t1.cols; k++ {
			axpy(-t1.row(i)[k], s.row(k), half)
		}
		to := h.t.row(lo + i)[mid-begin : hi-begin]
		clear(to)
		for k, f := range half {
			axpy(f, t2.row(k)[k:], to[k:])
		}
	}
}

// rows is the reflections of columns lo to hi as rows, from position lo: those from
// position from on have to be right.
func (h *householder) rows(lo, hi, from int) matrix {
	vt := matrix{a: h.vt.a, rows: hi - lo, cols: h.c.cols - lo, ld: h.c.cols - lo}
	for j := lo; j < hi; j++ {
		row := vt.row(j - lo)
		if from <= j {
			clear(row[:j-lo])
			row[j-lo] = 1
		}
		first := max(j+1, from)
		copy(row[first-lo:], h.c.row(j)[first:])
	}
	return vt
}

// cols is the reflections of columns lo to hi as columns, from position lo.
func (h *householder) cols(lo, hi int) matrix {
	m, w := h.c.cols-lo, hi-lo
	v := matrix{a: h.v.a, rows: m, cols: w, ld: w}
	transpose(v, h.c.part(lo, hi, lo, h.c.cols))
	for i := range min(w, m) {
		row := v.row(i)
		row[i] = 1
		clear(row[i+1:])
	}
	return v
}

// apply reflects the columns that d holds as its rows by those of columns lo to hi of
// a panel: (I - V·Tᵀ·Vᵀ)·x, which takes the block to R, or with T for T's transpose,
// back.
func (h *householder) apply(d matrix, begin, lo, hi int, back bool) {
	if d.rows == 0 {
		return
	}
	k := hi - lo
	v, vt := h.cols(lo, hi), h.rows(lo, hi, lo)
	d = d.part(0, d.rows, lo, d.cols)
	w := matrix{a: h.w.a, rows: d.rows, cols: k, ld: k}
	w2 := matrix{a: h.w2.a, rows: d.rows, cols: k, ld: k}
	w.clear()
	w2.clear()
	multiply(w, d, v, h.gemm)
	t := matrix{a: h.turned.a, rows: k, cols: k, ld: k}
	for i := range k {
		for j := range k {
			var f float64
			switch {
			case !back && i <= j:
				f = h.t.row(lo + i)[lo+j-begin]
			case back && j <= i:
				f = h.t.row(lo + j)[lo+i-begin]
			}
			t.row(i)[j] = -f
		}
	}
	multiply(w2, w, t, h.gemm)
	multiply(d, w2, vt, h.gemm)
}

// unfold multiplies Q with the columns that d holds as its rows, the state of its steps.
func (h *householder) unfold(s *blockwise.Steps, d matrix) error {
	last := (h.order() - 1) / panel * panel
	for at := last; at >= 0; at -= panel {
		if !s.Next() {
			continue
		}
		h.apply(d, at, at, min(at+panel, h.order()), true)
		if err := s.End(); err != nil {
			return err
		}
	}
	return nil
}
