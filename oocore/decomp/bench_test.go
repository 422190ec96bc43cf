package decomp_test

import (
	"cmp"
	"os"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
)

// The tensor is 700 × 600 × 500 float32, uniform random: GONBEXT_CUBE names its file,
// GONBEXT_CUBE_MEMORY the budget.
func cube(b *testing.B) *oocore.Array {
	path := os.Getenv("GONBEXT_CUBE")
	if path == "" {
		b.Skip("GONBEXT_CUBE names no tensor")
	}
	b.Setenv("GONBEXT_RUNS", b.TempDir())
	return oocore.Open(path)
}

func BenchmarkCP(b *testing.B) {
	x := cube(b)
	for b.Loop() {
		p, err := decomp.CP(b.Context(), x, 8, decomp.CPOptions{Iterations: 10, Tolerance: -1}, oocore.Memory(cmp.Or(os.Getenv("GONBEXT_CUBE_MEMORY"), "450MiB")))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(p.Errors[9], "error")
	}
}

func BenchmarkTucker(b *testing.B) {
	x := cube(b)
	for b.Loop() {
		k, err := decomp.Tucker(b.Context(), x, []int{8, 8, 8}, decomp.TuckerOptions{Iterations: 5, Tolerance: -1}, oocore.Memory(cmp.Or(os.Getenv("GONBEXT_CUBE_MEMORY"), "450MiB")))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(k.Errors[5], "error")
	}
}
