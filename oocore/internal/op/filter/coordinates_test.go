package filter

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Places anywhere, in arrays of one tile and of several, read no more at once than is planned for. Coefficients that
// are all one make a spline that is one.
func TestCoordinatesReadWhatTheyRequire(t *testing.T) {
	rng := testcases.Rand(t)
	for _, shape := range [][]int{{1}, {2, 3}, {1, 7, 2}, {1500, 900}, {3, 400_000}, {90, 100, 110}} {
		size := 1
		for _, n := range shape {
			size *= n
		}
		ones := make([]float64, size)
		for i := range ones {
			ones[i] = 1
		}
		x := blockwisetest.Array{Shape: shape, DType: dtype.Float64, Data: dtype.Bytes(ones)}
		const points = 3000
		places := make([]float64, len(shape)*points)
		for i := range places {
			n := float64(shape[i/points])
			switch places[i] = rng.Float64()*(n+1) - 1; rng.IntN(8) {
			case 0:
				places[i] = math.Round(places[i])
			case 1:
				places[i] = n - 1
			case 2:
				places[i] = 0
			case 3:
				places[i] = math.NaN()
			}
		}
		p := blockwisetest.Array{Shape: []int{len(shape), points}, DType: dtype.Float64, Data: dtype.Bytes(places)}
		for order := range 6 {
			o := Coordinates{Shape: shape, Out: []int{points}, Order: order, Value: 7}
			for i, v := range dtype.Slice[float64](blockwisetest.Same(t, o, o.Out, dtype.Float64, x, p)) {
				want := 1.0
				for d, n := range shape {
					if c := places[d*points+i]; !(c >= 0 && c <= float64(n-1)) {
						want = 7
					}
				}
				if math.Abs(v-want) > 1e-12 {
					t.Fatalf("%v, order %d, point %d: got %v, want %v", shape, order, i, v, want)
				}
			}
		}
	}
}
