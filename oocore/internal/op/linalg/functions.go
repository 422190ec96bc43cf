package linalg

import (
	"errors"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// The functions of one matrix. What an input is called here follows NumPy's names.

func cholesky(e Batched, p *pool) function {
	n := e.In[0][0]
	f := newChol(p, n)
	return function{do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if s.Next() {
			copy(out, in[0].a)
			if err := s.End(); err != nil {
				return err
			}
		}
		return f.factor(s, matrix{a: out, rows: n, cols: n, ld: n}, 0)
	}}
}

func det(e Batched, p *pool) function {
	f := newLU(p, e.In[0][0], 0)
	return function{in: true, out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := f.factor(s, in[0]); err != nil {
			return err
		}
		out[0] = 1
		if f.odd {
			out[0] = -1
		}
		for i := range f.a.rows {
			out[0] *= f.a.row(i)[i]
		}
		return nil
	}}
}

func slogdet(e Batched, p *pool) function {
	f := newLU(p, e.In[0][0], 0)
	return function{in: true, out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := f.factor(s, in[0]); err != nil {
			return err
		}
		out[0], out[1] = 1, 0
		if f.odd {
			out[0] = -1
		}
		for i := range f.a.rows {
			d := f.a.row(i)[i]
			switch {
			case d == 0:
				out[0] = 0
			case d < 0:
				out[0] = -out[0]
			}
			out[1] += kernel.NaturalLog(math.Abs(d))
		}
		return nil
	}}
}

// singular is the error of a matrix that cannot be solved with: a pivot is zero, or
// rounding errors are as large as the results.
func (f *lu) singular(norm float64, x, z []float64) error {
	if f.zero >= 0 {
		return fmt.Errorf("the matrix is singular: pivot %d is zero", f.zero)
	}
	if r := 1 / norm / f.inverseNorm(x, z); !(r > 0x1p-53) {
		return fmt.Errorf("the matrix is singular to working precision: its reciprocal condition is about %.2g", r)
	}
	return nil
}

// solver factorizes matrices that are not singular.
type solver struct {
	*lu
	norm []float64 // of the matrix
	x, z []float64
}

func newSolver(p *pool, n, cols int) *solver {
	return &solver{newLU(p, n, cols), p.state(1), p.floats(n), p.floats(n)}
}

// solverSteps is how many steps factor takes of n columns.
func solverSteps(n int) int { return panels(n) + 2 }

// factor is that of an lu, or the error of a matrix that cannot be solved with.
func (f *solver) factor(s *blockwise.Steps, a matrix) error {
	if s.Next() {
		f.norm[0] = norm1(a, f.x)
		if err := s.End(); err != nil {
			return err
		}
	}
	if err := f.lu.factor(s, a); err != nil {
		return err
	}
	if s.Next() {
		if err := f.singular(f.norm[0], f.x, f.z); err != nil {
			return err
		}
		return s.End()
	}
	return nil
}

func inverse(e Batched, p *pool) function {
	n := e.In[0][0]
	f := newSolver(p, n, n)
	return function{in: true, out: solverSteps(n) + 1, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := f.factor(s, in[0]); err != nil {
			return err
		}
		if s.Next() {
			clear(out)
			for i := range n {
				out[i*n+i] = 1
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		return f.solve(s, matrix{a: out, rows: n, cols: n, ld: n})
	}}
}

func solve(e Batched, p *pool) function {
	n, k := e.In[1][0], e.In[1][1]
	f := newSolver(p, n, k)
	return function{in: true, out: solverSteps(n) + 1, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := f.factor(s, in[0]); err != nil {
			return err
		}
		if s.Next() {
			copy(out, in[1].a)
			if err := s.End(); err != nil {
				return err
			}
		}
		return f.solve(s, matrix{a: out, rows: n, cols: k, ld: k})
	}}
}

// factors gives L below the diagonal and U from it on, and after each row which row of the
// matrix it was.
func factors(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	f := newLU(p, max(m, n), 0)
	return function{in: true, out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := f.factor(s, in[0]); err != nil {
			return err
		}
		for i := range m {
			copy(out[i*(n+1):], in[0].row(i))
			out[i*(n+1)+n] = float64(i)
		}
		for j := range min(m, n) {
			k := int(f.pivot[j])
			out[j*(n+1)+n], out[k*(n+1)+n] = out[k*(n+1)+n], out[j*(n+1)+n]
		}
		return nil
	}}
}

// decomposeFully is decompose with all m columns of U: m + 1 + n rows of m.
func decomposeFully(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	c, unit := p.stateMatrix(m, m), p.state(m)
	d := newSVD(p, n, m, matrix{a: c.a, rows: n, cols: m, ld: m})
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if s.Next() {
			c.clear()
			transpose(d.c, in[0])
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := d.decompose(s); err != nil {
			return err
		}
		if s.Next() { // the columns that are there are unit vectors
			for i := range unit {
				unit[i] = 0
				if i < n {
					unit[i] = 1
				}
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := complete(s, c, unit, d.rest); err != nil {
			return err
		}
		transpose(matrix{a: out, rows: m, cols: m, ld: m}, c)
		copy(out[m*m:], d.s)
		clear(out[m*m+n : (m+1)*m])
		for i := range n {
			row := out[(m+1+i)*m:][:m]
			clear(row[copy(row, d.v.row(i)):])
		}
		return nil
	}}
}

// decompose gives U, s and Vᵀ below one another: m + 1 + n rows of n, m ≥ n.
func decompose(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	d := newSVD(p, n, m, p.stateMatrix(n, m))
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := d.of(s, in[0]); err != nil {
			return err
		}
		transpose(matrix{a: out, rows: m, cols: n, ld: n}, d.c)
		copy(out[m*n:], d.s)
		copy(out[(m+1)*n:], d.v.a)
		return nil
	}}
}

func values(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	r := newRotations(p, p.stateMatrix(n, m), matrix{})
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if s.Next() {
			transpose(r.c, in[0])
			if err := s.End(); err != nil {
				return err
			}
		}
		return r.values(s, out)
	}}
}

// eigen gives the eigenvalues of a symmetric matrix, of which the lower triangle is
// looked at, rising, and below them the eigenvectors as columns. They are those of the
// matrix with its norm added to each, all of which are then positive and so the
// singular values.
func eigen(e Batched, p *pool) function {
	n := e.In[0][0]
	d, scale, shift := newSVD(p, n, n, p.stateMatrix(n, n)), p.state(1), p.state(1)
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if s.Next() {
			c := d.c
			for i := range n {
				for j := range i + 1 {
					c.row(i)[j], c.row(j)[i] = in[0].row(i)[j], in[0].row(i)[j]
				}
			}
			scale[0] = scaling(c)
			for i := range c.a {
				c.a[i] *= scale[0]
			}
			shift[0] = norm1(c, d.rest)
			for i := range n {
				c.row(i)[i] += shift[0]
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := d.decompose(s); errors.Is(err, errNotConverged) {
			return errors.New("its eigenvalues did not converge")
		} else if err != nil {
			return err
		}
		for j := range n {
			out[j] = (d.s[n-1-j] - shift[0]) / scale[0]
			for i, f := range d.v.row(n - 1 - j) {
				out[(1+i)*n+j] = f
			}
		}
		return nil
	}}
}

// orthogonal is Q of any m × n matrix: m × min(m, n).
func orthogonal(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	k := min(m, n)
	h, d := newHouse(p, n, m, k), p.stateMatrix(k, m)
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := h.of(s, in[0]); err != nil {
			return err
		}
		if s.Next() {
			d.clear()
			for i := range k {
				d.row(i)[i] = 1
				if math.Signbit(h.c.row(i)[i]) {
					d.row(i)[i] = -1
				}
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := h.unfold(s, d); err != nil {
			return err
		}
		transpose(matrix{a: out, rows: m, cols: k, ld: k}, d)
		return nil
	}}
}

// triangle is R of any m × n matrix: min(m, n) × n.
func triangle(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	h := newHouse(p, n, m, 0)
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := h.of(s, in[0]); err != nil {
			return err
		}
		clear(out)
		for i := range min(m, n) {
			sign := 1.0
			if math.Signbit(h.c.row(i)[i]) {
				sign = -1
			}
			for j := i; j < n; j++ {
				out[i*n+j] = sign * h.c.row(j)[i]
			}
		}
		return nil
	}}
}

// leastSquares solves R·x = c by least squares, where the input is the R of a matrix
// with its right-hand sides appended as columns: R and c, above the residuals. Singular
// values up to the limit times the largest count as zero; x is then the shortest solution.
func leastSquares(e Batched, p *pool) function {
	n, k := e.Out[0], e.Out[1]
	d := newSVD(p, n, n, p.stateMatrix(n, n))
	y := p.matrix(n, k)
	gemm := p.product(n, k, n)
	return function{in: true, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		r, b := in[0].part(0, n, 0, n), in[0].part(0, n, n, n+k)
		if err := d.of(s, r); err != nil || !s.Next() {
			return err
		}
		y.clear()
		multiply(y, d.c, b, gemm)
		d.divide(y, e.Limit)
		transpose(d.c, d.v)
		x := matrix{a: out, rows: n, cols: k, ld: k}
		x.clear()
		multiply(x, d.c, y, gemm)
		return s.End()
	}}
}

// residuals are the sums of squares of what the second input, the least squares
// solution, leaves of each right-hand side.
func residuals(e Batched, p *pool) function {
	n, k := e.In[1][0], e.In[1][1]
	gemm := p.product(n, k, n)
	return function{out: never, do: func(_ *blockwise.Steps, in []matrix, out []float64) error {
		r, b, x := in[0].part(0, n, 0, n), in[0].part(0, n+k, n, n+k), in[1]
		for i := range x.a {
			x.a[i] = -x.a[i]
		}
		multiply(b.part(0, n, 0, k), r, x, gemm)
		clear(out)
		for i := range b.rows {
			for j, f := range b.row(i) {
				out[j] += f * f
			}
		}
		return nil
	}}
}

// pseudoinverse is that of an m × n matrix, m ≥ n: V·diag(1/s)·Uᵀ. Of a triangular factor R it is, transposed, what Q is
// multiplied by to give the pseudoinverse of Q·R, transposed.
func pseudoinverse(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	d := newSVD(p, n, m, p.stateMatrix(n, m))
	gemm := p.product(n, m, n)
	return function{do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if err := d.of(s, in[0]); err != nil || !s.Next() {
			return err
		}
		d.divide(d.c, e.Limit)
		v := matrix{a: in[0].a[:n*n], rows: n, cols: n, ld: n}
		transpose(v, d.v)
		clear(out)
		multiply(matrix{a: out, rows: n, cols: m, ld: m}, v, d.c, gemm)
		return s.End()
	}}
}
