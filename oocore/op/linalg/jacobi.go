package linalg

import (
	"errors"
	"math"
)

// jacobi rotates the rows of c against each other until all are orthogonal, and those
// of v, n × n and the identity at first, or without rows, with them; s becomes their lengths, falling.
// If c held the columns of A, then A = U·diag(s)·Vᵀ where row j of v is the j-th right
// singular vector and row j of c is s[j] times the left one. (One-sided Jacobi: J.
// Demmel and K. Veselić, Jacobi's method is more accurate than QR, SIMAX 1992; ordered
// before each sweep, as P. de Rijk, SISC 1989.)
//
// The elements of c are of a size whose squares are in range.
func jacobi(c, v matrix, s []float64) error {
	n := c.rows
	tol := math.Sqrt(float64(max(c.cols, 1))) * 0x1p-52
	const sweeps = 60
	for range sweeps {
		for i := range n {
			s[i] = dot(c.row(i), c.row(i))
		}
		order(c, v, s)
		turned := false
		for i := range n {
			for j := i + 1; j < n; j++ {
				if turn(c, v, s, i, j, tol) {
					turned = true
				}
			}
		}
		if !turned {
			for i := range n {
				s[i] = math.Sqrt(dot(c.row(i), c.row(i)))
			}
			order(c, v, s)
			return nil
		}
	}
	return errors.New("its singular values did not converge")
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
// each. rest has a number for each element of a row.
func complete(c matrix, s, rest []float64) {
	for i := range rest {
		rest[i] = 1
	}
	done := 0
	for j, f := range s {
		row := c.row(j)
		if f > 0 {
			for i := range row {
				row[i] /= f
				rest[i] -= row[i] * row[i]
			}
			done++
			continue
		}
		most := 0
		for i, r := range rest {
			if r > rest[most] {
				most = i
			}
		}
		clear(row)
		row[most] = 1
		for range 2 {
			for k := range done {
				axpy(-dot(row, c.row(k)), c.row(k), row)
			}
		}
		length := math.Sqrt(dot(row, row))
		for i := range row {
			row[i] /= length
			rest[i] -= row[i] * row[i]
		}
		done++
	}
}

// singularValues are those of a matrix that c holds by its columns, n × m, m ≥ n,
// falling. c is spent.
func singularValues(c matrix, s []float64) error {
	scale := scaling(c)
	for i := range c.rows {
		times(c.row(i), scale)
	}
	err := jacobi(c, matrix{}, s)
	times(s, 1/scale)
	return err
}

// svd is the singular value decomposition of a matrix that c holds by its columns,
// n × m, m ≥ n: U by its columns in c, s falling, and Vᵀ in v, in each row of which the
// largest element is positive.
func svd(c, v matrix, s, rest []float64) error {
	scale := scaling(c)
	for i := range c.rows {
		clear(v.row(i))
		v.row(i)[i] = 1
		times(c.row(i), scale)
	}
	if err := jacobi(c, v, s); err != nil {
		return err
	}
	complete(c, s, rest)
	for i := range s {
		s[i] /= scale
		if row := v.row(i); leading(row) < 0 {
			times(row, -1)
			times(c.row(i), -1)
		}
	}
	return nil
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
