package linalg

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
)

// chol is the factorization A = L·Lᵀ of a positive definite matrix by blocks, in its
// lower triangle: what is above is not looked at.
type chol struct {
	minus []float64 // work: a panel, transposed, times -1
	gemm  []byte
}

func newChol(p *pool, n int) *chol {
	return &chol{minus: p.floats(n * min(n, panel)), gemm: p.product(n, panel, n)}
}

// factor puts L in the matrix's place, the state of its steps, with zeros above. first is
// what the errors add to a pivot's place.
func (f *chol) factor(s *blockwise.Steps, a matrix, first int) error {
	for k := 0; k < a.rows; k += panel {
		if !s.Next() {
			continue
		}
		if err := f.panel(a, k, first); err != nil {
			return err
		}
		if err := s.End(); err != nil {
			return err
		}
	}
	return nil
}

// panel makes the columns of L from k on, with the zeros above.
func (f *chol) panel(a matrix, k, first int) error {
	n := a.rows
	end := min(k+panel, n)
	if k > 0 {
		minus := matrix{a: f.minus, rows: k, cols: end - k, ld: end - k}
		transpose(minus, a.part(k, end, 0, k))
		for i, v := range minus.a[:k*(end-k)] {
			minus.a[i] = -v
		}
		multiply(a.part(k, n, k, end), a.part(k, n, 0, k), minus, f.gemm)
	}
	for i := k; i < n; i++ {
		row := a.row(i)
		for j := k; j < min(i, end); j++ {
			other := a.row(j)
			row[j] = (row[j] - dot(row[k:j], other[k:j])) / other[j]
		}
		if i < end {
			d := row[i] - dot(row[k:i], row[k:i])
			if !(d > 0) {
				return notDefinite(first+i, d)
			}
			row[i] = math.Sqrt(d)
			clear(row[i+1:])
		}
	}
	return nil
}

func notDefinite(pivot int, d float64) error {
	return fmt.Errorf("the matrix is not positive definite: pivot %d is %.3g", pivot, d)
}
