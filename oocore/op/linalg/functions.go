package linalg

import (
	"errors"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/kernel"
)

// The functions of one matrix. What an input is called here follows NumPy's names.

func cholesky(e Batched, p *pool) function {
	f := newChol(p, e.In[0][0])
	return func(in []matrix, out []float64) error {
		copy(out, in[0].a)
		return f.factor(matrix{a: out, rows: in[0].rows, cols: in[0].cols, ld: in[0].cols}, 0)
	}
}

func det(e Batched, p *pool) function {
	f := newLU(p, e.In[0][0], 0)
	return func(in []matrix, out []float64) error {
		f.factor(in[0])
		out[0] = 1
		if f.odd {
			out[0] = -1
		}
		for i := range f.a.rows {
			out[0] *= f.a.row(i)[i]
		}
		return nil
	}
}

func slogdet(e Batched, p *pool) function {
	f := newLU(p, e.In[0][0], 0)
	return func(in []matrix, out []float64) error {
		f.factor(in[0])
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
	}
}

// singular is the error of a matrix that cannot be solved with: a pivot is zero, or
// rounding alone changes results by as much as they are.
func (f *lu) singular(norm float64, x, z []float64) error {
	if f.zero >= 0 {
		return fmt.Errorf("the matrix is singular: pivot %d is zero", f.zero)
	}
	if r := 1 / norm / f.inverseNorm(x, z); !(r > 0x1p-53) {
		return fmt.Errorf("the matrix is singular to working precision: its reciprocal condition is about %.2g", r)
	}
	return nil
}

func inverse(e Batched, p *pool) function {
	n := e.In[0][0]
	f, x, z := newLU(p, n, n), p.floats(n), p.floats(n)
	return func(in []matrix, out []float64) error {
		norm := norm1(in[0], x)
		f.factor(in[0])
		if err := f.singular(norm, x, z); err != nil {
			return err
		}
		clear(out)
		for i := range n {
			out[i*n+i] = 1
		}
		f.solve(matrix{a: out, rows: n, cols: n, ld: n})
		return nil
	}
}

func solve(e Batched, p *pool) function {
	n := e.In[0][0]
	f, x, z := newLU(p, n, e.In[1][1]), p.floats(n), p.floats(n)
	return func(in []matrix, out []float64) error {
		norm := norm1(in[0], x)
		f.factor(in[0])
		if err := f.singular(norm, x, z); err != nil {
			return err
		}
		copy(out, in[1].a)
		f.solve(matrix{a: out, rows: n, cols: in[1].cols, ld: in[1].cols})
		return nil
	}
}

// factors gives L below the diagonal and U from it on, and after each row which row of the
// matrix it was.
func factors(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	f := newLU(p, max(m, n), 0)
	return func(in []matrix, out []float64) error {
		f.factor(in[0])
		for i := range m {
			copy(out[i*(n+1):], in[0].row(i))
			out[i*(n+1)+n] = float64(i)
		}
		for j := range min(m, n) {
			k := int(f.pivot[j])
			out[j*(n+1)+n], out[k*(n+1)+n] = out[k*(n+1)+n], out[j*(n+1)+n]
		}
		return nil
	}
}

// decomposeFully is decompose with all m columns of U: m + 1 + n rows of m.
func decomposeFully(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	c, v, s, rest := p.matrix(m, m), p.matrix(n, n), p.floats(m), p.floats(m)
	return func(in []matrix, out []float64) error {
		c.clear()
		transpose(c.part(0, n, 0, m), in[0])
		if err := svd(c.part(0, n, 0, m), v, s[:n], rest); err != nil {
			return err
		}
		copy(out[m*m:], s[:n])
		clear(out[m*m+n : (m+1)*m])
		for i := range n {
			row := out[(m+1+i)*m:][:m]
			clear(row[copy(row, v.row(i)):])
		}
		for i := range s { // the columns that are there are unit vectors
			s[i] = 0
			if i < n {
				s[i] = 1
			}
		}
		complete(c, s, rest)
		transpose(matrix{a: out, rows: m, cols: m, ld: m}, c)
		return nil
	}
}

// decompose gives U, s and Vᵀ below one another: m + 1 + n rows of n, m ≥ n.
func decompose(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	c, v, s, rest := p.matrix(n, m), p.matrix(n, n), p.floats(n), p.floats(m)
	return func(in []matrix, out []float64) error {
		transpose(c, in[0])
		if err := svd(c, v, s, rest); err != nil {
			return err
		}
		transpose(matrix{a: out, rows: m, cols: n, ld: n}, c)
		copy(out[m*n:], s)
		copy(out[(m+1)*n:], v.a)
		return nil
	}
}

func values(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	c := p.matrix(n, m)
	return func(in []matrix, out []float64) error {
		transpose(c, in[0])
		return singularValues(c, out)
	}
}

// eigen gives the eigenvalues of a symmetric matrix, of which the lower triangle is
// looked at, rising, and below them the eigenvectors as columns. They are those of the
// matrix with its norm added to each, all of which are then positive and so the
// singular values.
func eigen(e Batched, p *pool) function {
	n := e.In[0][0]
	c, v, s, rest := p.matrix(n, n), p.matrix(n, n), p.floats(n), p.floats(n)
	return func(in []matrix, out []float64) error {
		for i := range n {
			for j := range i + 1 {
				c.row(i)[j], c.row(j)[i] = in[0].row(i)[j], in[0].row(i)[j]
			}
		}
		scale := scaling(c)
		for i := range c.a {
			c.a[i] *= scale
		}
		shift := norm1(c, rest)
		for i := range n {
			c.row(i)[i] += shift
		}
		if err := svd(c, v, s, rest); err != nil {
			return errors.New("its eigenvalues did not converge")
		}
		for j := range n {
			out[j] = (s[n-1-j] - shift) / scale
			for i, f := range v.row(n - 1 - j) {
				out[(1+i)*n+j] = f
			}
		}
		return nil
	}
}

// orthogonal is Q of any m × n matrix: m × min(m, n).
func orthogonal(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	k := min(m, n)
	h, d := newHouse(p, n, m, k), p.matrix(k, m)
	return func(in []matrix, out []float64) error {
		transpose(h.c, in[0])
		h.factor()
		d.clear()
		for i := range k {
			d.row(i)[i] = 1
			if math.Signbit(h.c.row(i)[i]) {
				d.row(i)[i] = -1
			}
		}
		h.unfold(d)
		transpose(matrix{a: out, rows: m, cols: k, ld: k}, d)
		return nil
	}
}

// triangle is R of any m × n matrix: min(m, n) × n.
func triangle(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]
	h := newHouse(p, n, m, 0)
	return func(in []matrix, out []float64) error {
		transpose(h.c, in[0])
		h.factor()
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
	}
}

// leastSquares solves R·x = c by least squares, where the input is the R of a matrix
// with right-hand sides beside it: R and c above what no x reaches. Singular values up
// to the limit, by the largest, count as zero, and x is then the shortest.
func leastSquares(e Batched, p *pool) function {
	n, k := e.Out[0], e.Out[1]
	c, v, s, rest := p.matrix(n, n), p.matrix(n, n), p.floats(n), p.floats(n)
	y := p.matrix(n, k)
	gemm := p.product(n, k, n)
	return func(in []matrix, out []float64) error {
		r, b := in[0].part(0, n, 0, n), in[0].part(0, n, n, n+k)
		transpose(c, r)
		if err := svd(c, v, s, rest); err != nil {
			return err
		}
		y.clear()
		multiply(y, c, b, gemm)
		for j := range n {
			row := y.row(j)
			if s[j] <= e.Limit*s[0] {
				clear(row)
				continue
			}
			for i := range row {
				row[i] /= s[j]
			}
		}
		transpose(c, v)
		x := matrix{a: out, rows: n, cols: k, ld: k}
		x.clear()
		multiply(x, c, y, gemm)
		return nil
	}
}

// residuals are the sums of squares of what the second input, the least squares
// solution, leaves of each right-hand side.
func residuals(e Batched, p *pool) function {
	n, k := e.In[1][0], e.In[1][1]
	gemm := p.product(n, k, n)
	return func(in []matrix, out []float64) error {
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
	}
}

// pseudoinverse of an m × n matrix, m ≥ n, gives the factor whose product with Q, where
// the input is R, is the transposed pseudoinverse: U·diag(1/s)·Vᵀ, transposed.
func pseudoinverse(e Batched, p *pool) function {
	n := e.In[0][0]
	c, v, s, rest := p.matrix(n, n), p.matrix(n, n), p.floats(n), p.floats(n)
	gemm := p.product(n, n, n)
	return func(in []matrix, out []float64) error {
		transpose(c, in[0])
		if err := svd(c, v, s, rest); err != nil {
			return err
		}
		for j := range n {
			row := c.row(j)
			if s[j] <= e.Limit*s[0] {
				clear(row)
				continue
			}
			for i := range row {
				row[i] /= s[j]
			}
		}
		vt := in[0]
		transpose(vt, v)
		clear(out)
		multiply(matrix{a: out, rows: n, cols: n, ld: n}, vt, c, gemm)
		return nil
	}
}
