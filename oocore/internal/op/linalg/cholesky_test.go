package linalg_test

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Panels of any width give the factor, of which the upper triangle of the matrix is no
// part, and name the pivot that is not positive.
func TestPanels(t *testing.T) {
	rng := testcases.Rand(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	const n = 61
	b := random(rng, n, n+5)
	a := b.times(b.t())
	read := append([]float64{}, a.a...)
	for i := range n {
		for j := i + 1; j < n; j++ {
			read[i*n+j] = 1e9
		}
	}
	for _, tile := range []int{1, 7, 16, 30, 60, 61, 100} {
		factor := func(data []float64) ([]float64, error) {
			l := door.Build[oocore.Array]("cholesky", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
				return linalg.CholeskyPanels(site, in[0], tile)
			}, oocore.FromSlice(data, n, n))
			return oocore.Collect[float64](t.Context(), l, oocore.Memory("256MiB"))
		}
		got, err := factor(read)
		if err != nil {
			t.Fatal(err)
		}
		l := dense{got, n, n}
		if e := l.times(l.t()).off(a); e > 1e-11 {
			t.Errorf("panels of %d: L·Lᵀ is off by %g", tile, e)
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if got[i*n+j] != 0 {
					t.Fatalf("panels of %d: element (%d, %d) is %g", tile, i, j, got[i*n+j])
				}
			}
		}
		wrong := append([]float64{}, read...)
		wrong[44*n+44] = -1
		if _, err := factor(wrong); err == nil || !strings.Contains(err.Error(), "the matrix is not positive definite: pivot 44 is ") {
			t.Errorf("panels of %d, with a negative pivot: %v", tile, err)
		}
	}
}
