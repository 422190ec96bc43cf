package regions_test

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/op/regions"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Along each axis the result is the least of all sums, and in every box the same.
func TestDistancesAreTheLeastSums(t *testing.T) {
	rng := testcases.Rand(t)
	shape := []int{7, 60, 5}
	for axis, n := range shape {
		f := make([]float64, 7*60*5)
		for i := range f {
			if f[i] = float64(rng.IntN(900)); rng.IntN(3) > 0 {
				f[i] = math.Inf(1)
			}
		}
		x := blockwisetest.Array{Shape: shape, DType: dtype.Float64, Data: dtype.Bytes(f)}
		got := dtype.Slice[float64](blockwisetest.Same(t, regions.Distances{Shape: shape, Axis: axis, By: 1}, shape, dtype.Float64, x))
		stride := []int{300, 5, 1}[axis]
		for i, v := range got {
			at, want := i/stride%n, math.Inf(1)
			for k := range n {
				want = min(want, f[i+(k-at)*stride]+float64((k-at)*(k-at)))
			}
			if v != want {
				t.Fatalf("axis %d, element %d: got %v, want %v", axis, i, v, want)
			}
		}
	}
}
