package linalg_test

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
)

// Work of large matrices grows with the third power of their length, and with their number: an
// operation that declares none is planned as if it moved its elements.
func TestEveryFunctionDeclaresWorkOfThirdPower(t *testing.T) {
	for _, name := range linalg.Functions() {
		work := func(n, count int) float64 {
			e := linalg.Batched{Function: name, Stack: []int{count}, In: [][2]int{{n, n}, {n, n}}, Out: []int{n, n}, Type: dtype.Float64}
			return float64(e.Requirements([]int{count, n, n}).Work)
		}
		if got := work(8192, 1) / work(4096, 1); got < 6 || got > 9.5 {
			t.Errorf("%s: twice as long matrices take %.3g times the work, want about 8", name, got)
		}
		if got := work(4096, 3) / work(4096, 1); got < 2.99 || got > 3.01 {
			t.Errorf("%s: three matrices take %.3g times the work of one", name, got)
		}
	}
}

// Golub and Van Loan count 2·n³/3 operations for an elimination, n³/3 for a root, 8·n³/3 for
// reflections, whose product with a square takes 2·n³ more, and the same for two substitutions.
func TestWorkOfBlockedFunctionsIsInTheRatioOfTheirOperations(t *testing.T) {
	work := func(name string) float64 {
		const n = 1 << 17
		e := linalg.Batched{Function: name, Stack: []int{}, In: [][2]int{{n, n}}, Out: []int{n, n}, Type: dtype.Float64}
		return float64(e.Requirements([]int{n, n}).Work)
	}
	lu := work("lu") / (2.0 / 3)
	for name, operations := range map[string]float64{"cholesky": 1.0 / 3, "qr_r": 4.0 / 3, "qr_q": 10.0 / 3, "inv": 8.0 / 3} {
		if got := work(name) / lu; math.Abs(got-operations) > 0.03*operations {
			t.Errorf("%s: %.4g n³, want %.4g", name, got, operations)
		}
	}
}
