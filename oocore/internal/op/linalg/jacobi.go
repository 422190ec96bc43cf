package linalg

import (
	"errors"
	"math"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
)

// rotations is the memory of jacobi, all of which is the state of its steps.
type rotations struct {
	c, v  matrix
	s     []float64
	scale []float64 // what c was multiplied by
	last  []float64 // the last sweep that has turned anything, from 1 on
}

func newRotations(p *pool, c, v matrix) *rotations {
	return &rotations{c, v, p.state(c.rows), p.state(1), p.state(1)}
}

// errNotConverged is returned for a matrix whose rows do not become orthogonal.
var errNotConverged = errors.New("its singular values did not converge")

// jacobi rotates the rows of c against each other until all are orthogonal, and those
// of v, n × n and the identity at first, or without rows, with them; s becomes their lengths, falling.
// If c held the columns of A, then A = U·diag(s)·Vᵀ where row j of v is the j-th right
// singular vector and row j of c is s[j] times the left one. (One-sided Jacobi: J.
// Demmel and K. Veselić, Jacobi's method is more accurate than QR, SIMAX 1992; ordered
// before each sweep, as P. de Rijk, SISC 1989.)
//
// The elements of c are of a size whose squares are in range. r.last is zero.
func (r *rotations) jacobi(s *blockwise.Steps) error {
	n := r.c.rows
	tol := math.Sqrt(float64(max(r.c.cols, 1))) * 0x1p-52
	const sweeps = 60
	for sweep := 1; sweep <= sweeps; sweep++ {
		if s.Next() {
			for i := range n {
				r.s[i] = dot(r.c.row(i), r.c.row(i))
			}
			order(r.c, r.v, r.s)
			if err := s.End(); err != nil {
				return err
			}
		}
		for i := range n {
			if !s.Next() {
				continue
			}
			for j := i + 1; j < n; j++ {
				if turn(r.c, r.v, r.s, i, j, tol) {
					r.last[0] = float64(sweep)
				}
			}
			if err := s.End(); err != nil {
				return err
			}
		}
		if r.last[0] >= float64(sweep) {
			continue
		}
		if s.Next() {
			for i := range n {
				r.s[i] = math.Sqrt(dot(r.c.row(i), r.c.row(i)))
			}
			order(r.c, r.v, r.s)
			return s.End()
		}
		return nil
	}
	return errNotConverged
}

// turn rotates two rows so that they are orthogonal; false where they were.
func turn(c, v matrix, s []float64, i, j int, tol float64) bool {
	a, b := s[i], s[j]
	if a == 0 || b == 0 {
		return false
	}
	x, y := c.row(i), c.row(j)
	g := dot(x, y)
	if math.Abs(g) <= tol*math.Sqrt(a)*math.Sqrt(b) {
		return false
	}
	zeta := (b - a) / (2 * g)
	t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Sqrt(1+zeta*zeta))
	if math.IsInf(zeta, 0) || math.Abs(zeta) > 1e150 {
		t = 1 / (2 * zeta)
	}
	cos := 1 / math.Sqrt(1+t*t)
	sin := cos * t
	rotate(x, y, cos, sin)
	if v.rows > 0 {
		rotate(v.row(i), v.row(j), cos, sin)
	}
	s[i], s[j] = a-t*g, b+t*g
	if s[i] < a/16 || s[j] < b/16 { // little is left of the difference
		s[i], s[j] = dot(x, x), dot(y, y)
	}
	return true
}

// order puts the rows in the order of falling s.
func order(c, v matrix, s []float64) {
	falling(s, func(i, j int) {
		exchange(c.row(i), c.row(j))
		if v.rows > 0 {
			exchange(v.row(i), v.row(j))
		}
	})
}

// falling puts s in falling order, and exchanges whatever else is ordered by it.
func falling(s []float64, exchange func(i, j int)) {
	for i := range s {
		most := i
		for j := i + 1; j < len(s); j++ {
			if s[j] > s[most] {
				most = j
			}
		}
		if most != i {
			s[i], s[most] = s[most], s[i]
			exchange(i, most)
		}
	}
}

func exchange[T any](x, y []T) {
	for k, a := range x {
		x[k], y[k] = y[k], a
	}
}

// complete makes the rows of c, which jacobi left s times as long as they should be,
// of length one, and fills in those without length: c then has orthonormal rows. The
// unit vector of which most lies outside of the others' span gives the direction of
// each. rest has a number for each element of a row. All three are the state of its steps.
func complete(steps *blockwise.Steps, c matrix, s, rest []float64) error {
	if steps.Next() {
		for i := range rest {
			rest[i] = 1
		}
		if err := steps.End(); err != nil {
			return err
		}
	}
	for j, f := range s {
		if !steps.Next() {
			continue
		}
		if row := c.row(j); f > 0 {
			for i := range row {
				row[i] /= f
			}
		} else {
			orthogonalize(c, j, rest)
		}
		for i, x := range c.row(j) {
			rest[i] -= x * x
		}
		if err := steps.End(); err != nil {
			return err
		}
	}
	return nil
}

// orthogonalize makes row j of c a unit vector that is orthogonal to those before.
func orthogonalize(c matrix, j int, rest []float64) {
	row := c.row(j)
	most := 0
	for i, r := range rest {
		if r > rest[most] {
			most = i
		}
	}
	clear(row)
	row[most] = 1
	for range 2 {
		for k := range j {
			axpy(-dot(row, c.row(k)), c.row(k), row)
		}
	}
	length := math.Sqrt(dot(row, row))
	for i := range row {
		row[i] /= length
	}
}

// values are the singular values of a matrix that c holds by its columns, n × m, m ≥ n,
// falling. c is spent.
func (r *rotations) values(s *blockwise.Steps, out []float64) error {
	if err := r.begin(s); err != nil {
		return err
	}
	err := r.jacobi(s)
	copy(out, r.s)
	times(out, 1/r.scale[0])
	return err
}

// begin brings c into range, and v to the identity.
func (r *rotations) begin(s *blockwise.Steps) error {
	if !s.Next() {
		return nil
	}
	r.scale[0], r.last[0] = scaling(r.c), 0
	for i := range r.c.rows {
		times(r.c.row(i), r.scale[0])
	}
	r.v.clear()
	for i := range r.v.rows {
		r.v.row(i)[i] = 1
	}
	return s.End()
}

// svd is the singular value decomposition of a matrix that c holds by its columns,
// n × m, m ≥ n: U by its columns in c, s falling, and Vᵀ in v, in each row of which the
// largest element is positive.
type svd struct {
	*rotations
	rest []float64
}

// newSVD takes the memory besides c.
func newSVD(p *pool, n, m int, c matrix) *svd {
	return &svd{newRotations(p, c, p.stateMatrix(n, n)), p.state(m)}
}

// of decomposes a matrix.
func (d *svd) of(s *blockwise.Steps, a matrix) error {
	if s.Next() {
		transpose(d.c, a)
		if err := s.End(); err != nil {
			return err
		}
	}
	return d.decompose(s)
}

// decompose decomposes the matrix that c holds.
func (d *svd) decompose(s *blockwise.Steps) error {
	if err := d.begin(s); err != nil {
		return err
	}
	if err := d.jacobi(s); err != nil {
		return err
	}
	if err := complete(s, d.c, d.s, d.rest); err != nil || !s.Next() {
		return err
	}
	for i := range d.s {
		d.s[i] /= d.scale[0]
		if row := d.v.row(i); leading(row) < 0 {
			times(row, -1)
			times(d.c.row(i), -1)
		}
	}
	return s.End()
}

// times multiplies in place.
func times(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// leading is the element of the largest magnitude, the first of them.
func leading(x []float64) float64 {
	var most float64
	for _, f := range x {
		if math.Abs(f) > math.Abs(most) {
			most = f
		}
	}
	return most
}

// scaling is a power of two that brings the largest element near one, where squares
// would else leave the range of numbers.
func scaling(c matrix) float64 {
	var most float64
	for i := range c.rows {
		most = max(most, math.Abs(leading(c.row(i))))
	}
	if most == 0 || most > 1e-100 && most < 1e100 {
		return 1
	}
	_, e := math.Frexp(most)
	return math.Ldexp(1, min(max(-e, -1000), 1000))
}

// divide divides each row by its singular value; those of values up to limit times the largest, which count as
// zero, become zero.
func (d *svd) divide(rows matrix, limit float64) {
	for j := range rows.rows {
		row := rows.row(j)
		if d.s[j] <= limit*d.s[0] {
			clear(row)
			continue
		}
		for i := range row {
			row[i] /= d.s[j]
		}
	}
}
