package linalg

import (
	"math"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
)

// lu is the factorization P·A = L·U of a matrix by blocks, with the largest
// element of each column as its pivot.
type lu struct {
	a     matrix    // L below the diagonal, which is ones, and U from it on
	pivot []float64 // the row that each was exchanged with
	minus []float64 // work: a panel, times -1
	gemm  []byte
	zero  int  // the first pivot that is zero; -1: none
	odd   bool // number of exchanges
}

// newLU takes the memory besides the matrix, for right-hand sides of so many columns.
func newLU(p *pool, n, cols int) *lu {
	return &lu{pivot: p.state(n), minus: p.floats(n * min(n, panel)), gemm: p.product(n, max(n, cols), n)}
}

// panels is how many steps a factorization of n columns has.
func panels(n int) int { return (n + panel - 1) / panel }

// factor puts the factors in the matrix's place: the state of its steps.
func (f *lu) factor(s *blockwise.Steps, a matrix) error {
	order := min(a.rows, a.cols)
	f.a = a
	for k := 0; k < order; k += panel {
		if s.Next() {
			f.eliminate(k, min(k+panel, order))
			if err := s.End(); err != nil {
				return err
			}
		}
	}
	f.zero, f.odd = -1, false
	for j := order - 1; j >= 0; j-- {
		if a.row(j)[j] == 0 {
			f.zero = j
		}
		f.odd = f.odd != (int(f.pivot[j]) != j)
	}
	return nil
}

// eliminate eliminates the columns of a panel.
func (f *lu) eliminate(k, end int) {
	a, rows, cols := f.a, f.a.rows, f.a.cols
	for j := k; j < end; j++ {
		f.column(j, end)
	}
	for j := k; j < end; j++ {
		for i := k; i < j; i++ {
			axpy(-a.row(j)[i], a.row(i)[end:], a.row(j)[end:])
		}
	}
	multiply(a.part(end, rows, end, cols), negative(f.minus, a.part(end, rows, k, end)), a.part(k, end, end, cols), f.gemm)
}

// negative is a matrix times -1, in other memory.
func negative(to []float64, a matrix) matrix {
	m := matrix{a: to, rows: a.rows, cols: a.cols, ld: a.cols}
	for i := range m.rows {
		row := m.row(i)
		for j, v := range a.row(i) {
			row[j] = -v
		}
	}
	return m
}

// column eliminates column j in the rows below, as far as the panel's end.
func (f *lu) column(j, end int) {
	most := j
	for i := j + 1; i < f.a.rows; i++ {
		if math.Abs(f.a.row(i)[j]) > math.Abs(f.a.row(most)[j]) {
			most = i
		}
	}
	f.pivot[j] = float64(most)
	if f.a.row(most)[j] == 0 {
		return
	}
	if most != j {
		exchange(f.a.row(j), f.a.row(most))
	}
	top := f.a.row(j)
	for i := j + 1; i < f.a.rows; i++ {
		row := f.a.row(i)
		row[j] /= top[j]
		axpy(-row[j], top[j+1:end], row[j+1:end])
	}
}

// solve replaces the columns of b, which are the state of its steps, by those of A⁻¹·b.
func (f *lu) solve(s *blockwise.Steps, b matrix) error {
	if s.Next() {
		for i := range f.a.rows {
			if k := int(f.pivot[i]); k != i {
				exchange(b.row(i), b.row(k))
			}
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	if err := forward(s, f.a, b, true, f.minus, f.gemm); err != nil {
		return err
	}
	return backward(s, f.a, b, f.minus, f.gemm)
}

// forward replaces the columns of b by those of L⁻¹·b, where L is the lower triangle
// of a, with ones on its diagonal where it is a unit one. minus has room for a panel
// of a.
func forward(s *blockwise.Steps, a, b matrix, unit bool, minus []float64, gemm []byte) error {
	n := a.rows
	for k := 0; k < n; k += panel {
		if !s.Next() {
			continue
		}
		end := min(k+panel, n)
		multiply(b.part(k, end, 0, b.cols), negative(minus, a.part(k, end, 0, k)), b.part(0, k, 0, b.cols), gemm)
		for i := k; i < end; i++ {
			row := b.row(i)
			for j := k; j < i; j++ {
				axpy(-a.row(i)[j], b.row(j), row)
			}
			if !unit {
				divide(row, a.row(i)[i])
			}
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	return nil
}

// backward is forward for the upper triangle.
func backward(s *blockwise.Steps, a, b matrix, minus []float64, gemm []byte) error {
	n := a.rows
	for k := (n - 1) / panel * panel; k >= 0; k -= panel {
		if !s.Next() {
			continue
		}
		end := min(k+panel, n)
		multiply(b.part(k, end, 0, b.cols), negative(minus, a.part(k, end, end, n)), b.part(end, n, 0, b.cols), gemm)
		for i := end - 1; i >= k; i-- {
			row := b.row(i)
			for j := i + 1; j < end; j++ {
				axpy(-a.row(i)[j], b.row(j), row)
			}
			divide(row, a.row(i)[i])
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	return nil
}

func divide(x []float64, d float64) {
	for i := range x {
		x[i] /= d
	}
}

// solveTransposed replaces x by A⁻ᵀ·x.
func (f *lu) solveTransposed(x []float64) {
	n := f.a.rows
	for i := range n {
		x[i] /= f.a.row(i)[i]
		axpy(-x[i], f.a.row(i)[i+1:], x[i+1:])
	}
	for i := n - 1; i >= 0; i-- {
		axpy(-x[i], f.a.row(i)[:i], x[:i])
	}
	for i := n - 1; i >= 0; i-- {
		if k := int(f.pivot[i]); k != i {
			x[i], x[k] = x[k], x[i]
		}
	}
}

// norm1 is the largest sum of a column's magnitudes. sums has a number for each.
func norm1(a matrix, sums []float64) float64 {
	clear(sums)
	for i := range a.rows {
		for j, v := range a.row(i) {
			sums[j] += math.Abs(v)
		}
	}
	var most float64
	for _, s := range sums {
		most = max(most, s)
	}
	return most
}

// inverseNorm estimates norm1 of the inverse from below, seldom by more than a factor
// of three (W. Hager, Condition estimates, SISSC 1984). x and z have n numbers each.
func (f *lu) inverseNorm(x, z []float64) float64 {
	n := len(x)
	for i := range x {
		x[i] = 1 / float64(n)
	}
	var estimate float64
	for range 5 {
		_ = f.solve(nil, matrix{a: x, rows: n, cols: 1, ld: 1}) // cannot fail without steps
		var sum float64
		for i, v := range x {
			sum += math.Abs(v)
			z[i] = math.Copysign(1, v)
		}
		if sum <= estimate {
			break
		}
		estimate = sum
		f.solveTransposed(z)
		most := 0
		for i, v := range z {
			if math.Abs(v) > math.Abs(z[most]) {
				most = i
			}
		}
		clear(x)
		x[most] = 1
	}
	return estimate
}
