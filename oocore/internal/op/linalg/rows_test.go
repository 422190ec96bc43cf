package linalg

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// The loops in vectors do what the plain ones do, at every length, and nothing else.
func TestRowsInVectors(t *testing.T) {
	rng := testcases.Rand(t)
	for n := range 140 {
		x, y := make([]float64, n+2), make([]float64, n+2)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		copies := func() ([]float64, []float64) { return append([]float64{}, x...), append([]float64{}, y...) }
		same := func(what string, a, b []float64) {
			t.Helper()
			for i := range a {
				inside := i >= 1 && i <= n
				if math.Abs(a[i]-b[i]) > 1e-14 || !inside && a[i] != b[i] {
					t.Fatalf("%s of %d elements: element %d is %g, want %g", what, n, i-1, a[i], b[i])
				}
			}
		}
		if got, want := dot(x[1:n+1], y[1:n+1]), dotPlain(x[1:n+1], y[1:n+1]); math.Abs(got-want) > 1e-13 {
			t.Fatalf("dot of %d elements is %g, want %g", n, got, want)
		}
		x1, y1 := copies()
		x2, y2 := copies()
		axpy(0.3, x1[1:n+1], y1[1:n+1])
		axpyPlain(0.3, x2[1:n+1], y2[1:n+1])
		same("axpy", y1, y2)
		rotate(x1[1:n+1], y1[1:n+1], 0.6, 0.8)
		rotatePlain(x2[1:n+1], y2[1:n+1], 0.6, 0.8)
		same("x rotated", x1, x2)
		same("y rotated", y1, y2)
	}
}
