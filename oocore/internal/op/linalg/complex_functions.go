package linalg

import (
	"errors"
	"math"
	"math/cmplx"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
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

// eliminate factorizes P·A = L·U in the matrix's place, with LAPACK's choice of pivots, the
// largest sum of the parts' magnitudes. pivot has the row that each was exchanged with: both
// are the state of its steps. odd is the number of exchanges.
func (m complexRows) eliminate(s *blockwise.Steps, pivot []float64) (odd bool, err error) {
	for j := range min(m.rows, m.cols) {
		if s.Next() {
			m.column(j, pivot)
			if err := s.End(); err != nil {
				return false, err
			}
		}
		odd = odd != (int(pivot[j]) != j)
	}
	return odd, nil
}

// column eliminates column j in the rows below.
func (m complexRows) column(j int, pivot []float64) {
	size := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	most := j
	for i := j + 1; i < m.rows; i++ {
		if size(m.row(i)[j]) > size(m.row(most)[j]) {
			most = i
		}
	}
	pivot[j] = float64(most)
	top := m.row(most)
	if top[j] == 0 {
		return
	}
	if most != j {
		exchange(m.row(j), top)
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

func detComplex(e Batched, p *pool) function {
	n := e.In[0][0]
	pivot := p.state(n)
	return function{in: true, out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		a := complexOf(in[0].a, n, n)
		odd, err := a.eliminate(s, pivot)
		if err != nil {
			return err
		}
		det := complex(1, 0)
		if odd {
			det = -1
		}
		for i := range n {
			det *= a.row(i)[i]
		}
		out[0], out[1] = real(det), imag(det)
		return nil
	}}
}

func slogdetComplex(e Batched, p *pool) function {
	n := e.In[0][0]
	pivot := p.state(n)
	return function{in: true, out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		a := complexOf(in[0].a, n, n)
		odd, err := a.eliminate(s, pivot)
		if err != nil {
			return err
		}
		sign, logabs := complex(1, 0), 0.0
		if odd {
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
	}}
}

// luComplex gives what factors does: L below the diagonal and U from it on, and after each row
// which row of the matrix it was.
func luComplex(e Batched, p *pool) function {
	m, n := e.In[0][0], e.In[0][1]/2
	pivot := p.state(m)
	return function{in: true, out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if _, err := complexOf(in[0].a, m, n).eliminate(s, pivot); err != nil {
			return err
		}
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
	}}
}

// complexRotations is the memory of its jacobi, all of which is the state of its steps.
type complexRotations struct {
	c, v  complexRows
	s     []float64
	scale []float64 // what c was multiplied by
	last  []float64 // the last sweep that has turned anything, from 1 on
	next  []float64 // of unit
}

// newComplexRotations takes memory for an m × n matrix and so many left vectors.
func newComplexRotations(p *pool, m, n, vectors int) *complexRotations {
	left, right := p.state(2*vectors*m), p.state(2*n*n)
	return &complexRotations{complexOf(left, vectors, m), complexOf(right, n, n), p.state(vectors), p.state(1), p.state(1), p.state(1)}
}

// jacobi rotates the first n rows of c, the columns of a matrix A, until all are orthogonal, and
// those of v with them, as that of real ones does: A·V = U·diag(s), where row j of v is column j
// of V. The largest element of each column of V is then positive. r.last is zero.
func (r *complexRotations) jacobi(steps *blockwise.Steps) error {
	c, v, s := complexRows{r.c.a, r.v.rows, r.c.cols}, r.v, r.s[:r.v.rows]
	if steps.Next() {
		v.clear()
		for i := range v.rows {
			v.row(i)[i] = 1
		}
		if err := steps.End(); err != nil {
			return err
		}
	}
	tol := math.Sqrt(float64(max(c.cols, 1))) * 0x1p-52
	const sweeps = 60
	for sweep := 1; ; sweep++ {
		for i := range c.rows {
			if !steps.Next() {
				continue
			}
			for j := i + 1; j < c.rows; j++ {
				if turnComplex(c, v, i, j, tol) {
					r.last[0] = float64(sweep)
				}
			}
			if err := steps.End(); err != nil {
				return err
			}
		}
		if r.last[0] < float64(sweep) {
			break
		}
		if sweep > sweeps {
			return errNotConverged
		}
	}
	if !steps.Next() {
		return nil
	}
	for i := range c.rows {
		s[i] = math.Sqrt(squares(c.row(i)))
	}
	falling(s, func(i, j int) {
		exchange(c.row(i), c.row(j))
		exchange(v.row(i), v.row(j))
	})
	for i := range s {
		if large := leadingComplex(v.row(i)); large != 0 {
			phase := cmplx.Conj(large) / complex(cmplx.Abs(large), 0)
			turnPhase(c.row(i), phase)
			turnPhase(v.row(i), phase)
		}
	}
	return steps.End()
}

// leadingComplex is the element of the largest magnitude, the first of those that rounding alone tells apart.
func leadingComplex(x []complex128) (large complex128) {
	for _, z := range x {
		if cmplx.Abs(z) > cmplx.Abs(large)*(1+0x1p-40) {
			large = z
		}
	}
	return large
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
	r := newComplexRotations(p, m, n, columns)
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if s.Next() {
			a := complexOf(in[0].a, m, n)
			r.scale[0], r.last[0] = scaling(in[0]), 0
			for i := range m {
				for j := range n {
					r.c.row(j)[i] = a.row(i)[j] * complex(r.scale[0], 0)
				}
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := r.jacobi(s); err != nil {
			return err
		}
		if err := r.c.unit(s, r.s, r.next, n); err != nil {
			return err
		}
		clear(out)
		to := complexOf(out, m+1+n, columns)
		for j := range columns {
			for i := range m {
				to.row(i)[j] = r.c.row(j)[i]
			}
		}
		for j := range n {
			to.row(m)[j] = complex(r.s[j]/r.scale[0], 0)
			for i, z := range r.v.row(j) {
				to.row(m + 1 + j)[i] = cmplx.Conj(z)
			}
		}
		return nil
	}}
}

// unit makes rows of length one that are orthogonal: of the first n, whose lengths are s, those
// that are too short to have a direction, and of all after them, the unit vectors' part that is
// orthogonal to the others. next[0], the unit vector to be tried next, is part of the state of
// its steps.
func (m complexRows) unit(steps *blockwise.Steps, s, next []float64, n int) error {
	done := 0
	for done < n && s[done] > s[0]*0x1p-52*float64(m.cols) {
		done++
	}
	if steps.Next() {
		next[0] = 0
		for i := range done {
			turnPhase(m.row(i), complex(1/s[i], 0))
		}
		if err := steps.End(); err != nil {
			return err
		}
	}
	for i := done; i < m.rows; i++ {
		if !steps.Next() {
			continue
		}
		for at := int(next[0]); ; at++ {
			if m.orthogonal(i, at) {
				next[0] = float64(at + 1)
				break
			}
		}
		if err := steps.End(); err != nil {
			return err
		}
	}
	return nil
}

// orthogonal makes row i the part of a unit vector that is orthogonal to the rows before, of
// length one, where enough of it is left.
func (m complexRows) orthogonal(i, vector int) bool {
	row := m.row(i)
	clear(row)
	row[vector] = 1
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
	length := math.Sqrt(squares(row))
	if length <= 0.5/math.Sqrt(float64(m.cols)) {
		return false
	}
	turnPhase(row, complex(1/length, 0))
	return true
}

// eigenComplex is eigen of Hermitian matrices, of which the lower triangle is read.
func eigenComplex(e Batched, p *pool) function {
	n := e.In[0][0]
	r, shift := newComplexRotations(p, n, n, n), p.state(1)
	return function{out: never, do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		if s.Next() {
			r.last[0], r.scale[0] = 0, scaling(in[0])
			shift[0] = r.shift(complexOf(in[0].a, n, n))
			if err := s.End(); err != nil {
				return err
			}
		}
		if err := r.jacobi(s); errors.Is(err, errNotConverged) {
			return errors.New("its eigenvalues did not converge")
		} else if err != nil {
			return err
		}
		to := complexOf(out, n+1, n)
		for j := range n {
			to.row(0)[j] = complex((r.s[n-1-j]-shift[0])/r.scale[0], 0)
			for i, z := range r.v.row(n - 1 - j) {
				to.row(1 + i)[j] = z
			}
		}
		return nil
	}}
}

// shift sets c to a Hermitian matrix times the scale, of which the lower triangle is read, with
// its norm added to each eigenvalue, and returns that.
func (r *complexRotations) shift(a complexRows) (shift float64) {
	c, n := r.c, r.c.rows
	for i := range n {
		for j := range i + 1 {
			z := a.row(i)[j] * complex(r.scale[0], 0)
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
	return shift
}
