package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// The functions of one complex matrix, whose rows have real and imaginary parts that alternate.

// complexRows is such a matrix: rows × cols complex numbers, row after row.
type complexRows struct {
	a          []complex128
	rows, cols int
}

func complexOf(a []float64, rows, cols int) complexRows {
	if len(a) == 0 {
		return complexRows{nil, rows, cols}
	}
	return complexRows{dtype.Slice[complex128](dtype.Bytes(a))[:rows*cols], rows, cols}
}

func (m complexRows) row(i int) []complex128 { return m.a[i*m.cols : (i+1)*m.cols] }

func sliceOf(from, to, cols int) string { return fmt.Sprintf("..., %d:%d, :%d", from, to, cols) }

// eliminate factorizes P·A = L·U in the matrix's place, with LAPACK's choice of pivots, the
// largest sum of the parts' magnitudes. pivot has the row that each was exchanged with.
func (m complexRows) eliminate(pivot []float64) (odd bool) {
	size := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	for j := range min(m.rows, m.cols) {
		most := j
		for i := j + 1; i < m.rows; i++ {
			if size(m.row(i)[j]) > size(m.row(most)[j]) {
				most = i
			}
		}
		pivot[j] = float64(most)
		top := m.row(most)
		if top[j] == 0 {
			continue
		}
		if most != j {
			odd = !odd
			for k, z := range m.row(j) {
				m.row(j)[k], top[k] = top[k], z
			}
			top = m.row(j)
		}
		for i := j + 1; i < m.rows; i++ {
			row := m.row(i)
			row[j] /= top[j]
			for k := j + 1; k < m.cols; k++ {
				row[k] -= row[j] * top[k]
			}
		}
	}
	return odd
}

func detComplex(e Batched, p *pool) function {
	n := e.In[0][0]
	pivot := p.floats(n)
	return func(in []matrix, out []float64) error {
		a := complexOf(in[0].a, n, n)
		det := complex(1, 0)
		if a.eliminate(pivot) {
			det = -1
		}
		for i := range n {
			det *= a.row(i)[i]
		}
		out[0], out[1] = real(det), imag(det)
		return nil
	}
}

func slogdetComplex(e Batched, p *pool) function {
	n := e.In[0][0]
	pivot := p.floats(n)
	return func(in []matrix, out []float64) error {
		a := complexOf(in[0].a, n, n)
		sign, logabs := complex(1, 0), 0.0
		if a.eliminate(pivot) {
			sign = -1
		}
		for i := range n {
			d := a.row(i)[i]
			size := cmplx.Abs(d)
			if logabs += kernel.NaturalLog(size); size == 0 {
				sign = 0
				continue
			}
			sign *= d / complex(size, 0)
		}
		out[0], out[1], out[2] = real(sign), imag(sign), logabs
		return nil
	}
}

// luComplex gives what factors does: L below the diagonal and U from it on, and after each row
// which row of the matrix it was.
func luComplex(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]/2
	pivot := p.floats(m)
	return func(in []matrix, out []float64) error {
		complexOf(in[0].a, m, n).eliminate(pivot)
		wide := 2*n + 1
		for i := range m {
			copy(out[i*wide:], in[0].row(i))
			out[i*wide+2*n] = float64(i)
		}
		for j := range min(m, n) {
			k := int(pivot[j])
			out[j*wide+2*n], out[k*wide+2*n] = out[k*wide+2*n], out[j*wide+2*n]
		}
		return nil
	}
}

// jacobiComplex rotates the rows of c, the columns of a matrix A, until all are orthogonal, and
// those of v with them, as jacobi does: A·V = U·diag(s), where row j of v is column j of V. The
// largest element of each column of V is then positive.
func jacobiComplex(c, v complexRows, s []float64) error {
	v.clear()
	for i := range v.rows {
		v.row(i)[i] = 1
	}
	tol := math.Sqrt(float64(max(c.cols, 1))) * 0x1p-52
	const sweeps = 60
	for sweep := 0; ; sweep++ {
		turned := false
		for i := range c.rows {
			for j := i + 1; j < c.rows; j++ {
				turned = turnComplex(c, v, i, j, tol) || turned
			}
		}
		if !turned {
			break
		}
		if sweep == sweeps {
			return errors.New("its singular values did not converge")
		}
	}
	for i := range c.rows {
		s[i] = math.Sqrt(squares(c.row(i)))
	}
	falling(s, func(i, j int) {
		exchange(c.row(i), c.row(j))
		exchange(v.row(i), v.row(j))
	})
	for i := range s {
		var large complex128
		for _, z := range v.row(i) {
			if cmplx.Abs(z) > cmplx.Abs(large)*(1+0x1p-40) {
				large = z
			}
		}
		if large != 0 {
			phase := cmplx.Conj(large) / complex(cmplx.Abs(large), 0)
			turnPhase(c.row(i), phase)
			turnPhase(v.row(i), phase)
		}
	}
	return nil
}

func (m complexRows) clear() { clear(m.a) }

func turnPhase(x []complex128, phase complex128) {
	for i := range x {
		x[i] *= phase
	}
}

func squares(x []complex128) (sum float64) {
	for _, z := range x {
		sum += real(z)*real(z) + imag(z)*imag(z)
	}
	return sum
}

// turnComplex rotates two rows so that they are orthogonal; false where they were.
func turnComplex(c, v complexRows, i, j int, tol float64) bool {
	x, y := c.row(i), c.row(j)
	a, b := squares(x), squares(y)
	var g complex128
	for k := range x {
		g += cmplx.Conj(x[k]) * y[k]
	}
	size := cmplx.Abs(g)
	if a == 0 || b == 0 || size <= tol*math.Sqrt(a)*math.Sqrt(b) {
		return false
	}
	phase := cmplx.Conj(g) / complex(size, 0)
	zeta := (b - a) / (2 * size)
	t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Hypot(1, zeta))
	cos := 1 / math.Hypot(1, t)
	for _, m := range []complexRows{c, v} {
		x, y := m.row(i), m.row(j)
		for k := range x {
			p, q := x[k], y[k]*phase
			x[k], y[k] = complex(cos, 0)*(p-complex(t, 0)*q), complex(cos, 0)*(complex(t, 0)*p+q)
		}
	}
	return true
}

// decomposeComplex gives U, s and Vᴴ below one another, of m × n elements with m ≥ n.
func decomposeComplex(e Batched, p *pool) function { return complexVectors(e, p, e.In[0][1]/2) }

// decomposeComplexFully is decomposeComplex with all m columns of U.
func decomposeComplexFully(e Batched, p *pool) function { return complexVectors(e, p, e.In[0][0]) }

func complexVectors(e Batched, p *pool, columns int) function {
	m, n := e.In[0][0], e.In[0][1]/2
	left, right, s := p.floats(2*columns*m), p.floats(2*n*n), p.floats(columns)
	return func(in []matrix, out []float64) error {
		a, c, v := complexOf(in[0].a, m, n), complexOf(left, columns, m), complexOf(right, n, n)
		scale := scaling(in[0])
		for i := range m {
			for j := range n {
				c.row(j)[i] = a.row(i)[j] * complex(scale, 0)
			}
		}
		if err := jacobiComplex(complexRows{c.a[:n*m], n, m}, v, s[:n]); err != nil {
			return err
		}
		c.unit(s, n)
		clear(out)
		to := complexOf(out, m+1+n, columns)
		for j := range columns {
			for i := range m {
				to.row(i)[j] = c.row(j)[i]
			}
		}
		for j := range n {
			to.row(m)[j] = complex(s[j]/scale, 0)
			for i, z := range v.row(j) {
				to.row(m + 1 + j)[i] = cmplx.Conj(z)
			}
		}
		return nil
	}
}

// unit makes rows of length one that are orthogonal: of the first n, whose lengths are s, those
// that are too short to have a direction, and of all after them, the unit vectors' part that is
// orthogonal to the others.
func (m complexRows) unit(s []float64, n int) {
	most := 0.0
	if n > 0 {
		most = s[0]
	}
	done := 0
	for i := range m.rows {
		if i < n && s[i] > most*0x1p-52*float64(m.cols) {
			turnPhase(m.row(i), complex(1/s[i], 0))
			done = i + 1
		}
	}
	next := 0
	for i := done; i < m.rows; i++ {
		for ; ; next++ {
			row := m.row(i)
			clear(row)
			row[next] = 1
			for range 2 {
				for k := range i {
					var along complex128
					for l, z := range m.row(k) {
						along += cmplx.Conj(z) * row[l]
					}
					for l, z := range m.row(k) {
						row[l] -= along * z
					}
				}
			}
			if length := math.Sqrt(squares(row)); length > 0.5/math.Sqrt(float64(m.cols)) {
				turnPhase(row, complex(1/length, 0))
				next++
				break
			}
		}
	}
}

// eigenComplex is eigen of Hermitian matrices, of which the lower triangle is read.
func eigenComplex(e Batched, p *pool) function {
	n := e.In[0][0]
	left, right, s := p.floats(2*n*n), p.floats(2*n*n), p.floats(n)
	return func(in []matrix, out []float64) error {
		a, c, v := complexOf(in[0].a, n, n), complexOf(left, n, n), complexOf(right, n, n)
		shift, scale := 0.0, scaling(in[0])
		for i := range n {
			for j := range i + 1 {
				z := a.row(i)[j] * complex(scale, 0)
				if i == j {
					z = complex(real(z), 0)
				}
				c.row(j)[i], c.row(i)[j] = z, cmplx.Conj(z) // rows are columns here
			}
		}
		for i := range n {
			var sum float64
			for _, z := range c.row(i) {
				sum += cmplx.Abs(z)
			}
			shift = max(shift, sum)
		}
		for i := range n {
			c.row(i)[i] += complex(shift, 0)
		}
		if err := jacobiComplex(c, v, s); err != nil {
			return errors.New("its eigenvalues did not converge")
		}
		to := complexOf(out, n+1, n)
		for j := range n {
			to.row(0)[j] = complex((s[n-1-j]-shift)/scale, 0)
			for i, z := range v.row(n - 1 - j) {
				to.row(1 + i)[j] = z
			}
		}
		return nil
	}
}
