package order

import (
	"bytes"
	"math/cmplx"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// An element of the weight k is k elements: quantiles with whole weights are those of
// elements that are repeated, whether lines are sorted or counted by digits.
func TestWeightedQuantilesAreThoseOfRepeatedElements(t *testing.T) {
	rng := testcases.Rand(t)
	turn := 0
	for _, dt := range []dtype.Type{dtype.Bool, dtype.Int8, dtype.Uint16, dtype.Float16, dtype.Int32, dtype.Float32, dtype.Uint64, dtype.Float64} {
		for _, c := range []struct{ shape, axes []int }{
			{[]int{333}, []int{0}}, {[]int{40, 9}, []int{0}}, {[]int{9, 40}, []int{1}}, {[]int{7, 8, 9}, []int{0, 2}},
			{[]int{7, 8, 9}, []int{1}}, {[]int{3, 5, 2, 6}, []int{0, 1, 2, 3}},
		} {
			for _, skip := range []bool{false, true} {
				turn++
				n := grid.Size(c.shape)
				data := elements(rng, dt, n, turn%2 == 0)
				weights := make([]float64, n)
				for i := range weights {
					weights[i] = float64(1 + rng.IntN(3))
					if rng.IntN(10) == 0 {
						weights[i] = 0
					}
				}
				s := Quantiles{Shape: c.shape, Axes: c.axes, Type: dt, Q: []float64{0.5, 0, 0.31, 1, 0.77}, Method: "inverted_cdf", SkipNaN: skip, Out: dt, Shares: dtype.Float64}
				in := []blockwisetest.Array{{Shape: c.shape, DType: dt, Data: data}, {Shape: c.shape, DType: dtype.Float64, Data: dtype.Bytes(weights)}}
				want := repeatedQuantiles(t, s, data, weights)
				if got := blockwisetest.Same(t, WeightedQuantiles{s}, s.shape(), dt, in...); !bytes.Equal(got, want) {
					t.Fatalf("%s of %v along %v, NaN skipped %v: the sorted lines' quantiles are not those of repeated elements", dt, c.shape, c.axes, skip)
				}
				for _, digit := range []int{8, 5} {
					if got := countedWeights(t, s, digit, in...); !bytes.Equal(got, want) {
						t.Fatalf("%s of %v along %v by digits of %d bits, NaN skipped %v: differs", dt, c.shape, c.axes, digit, skip)
					}
				}
			}
		}
	}
}

// repeatedQuantiles are the quantiles without weights of each line, in which elements are
// repeated as often as their weights say.
func repeatedQuantiles(t *testing.T, s Quantiles, data []byte, weights []float64) []byte {
	t.Helper()
	size := s.Type.Size()
	out := make([]byte, grid.Size(s.shape())*size)
	strides := grid.Strides(s.Shape)
	r, results := 0, grid.Size(s.keptShape())
	for at := range s.starts(s.keptShape(), strides) {
		var line []byte
		along := make([]int, len(s.Axes))
		for i, a := range s.Axes {
			along[i] = s.Shape[a]
		}
		for one := range grid.Entire(along).Split(ones(len(along))) {
			from := at
			for i, a := range s.Axes {
				from += one.Start[i] * strides[a]
			}
			times := int(weights[from])
			if z, _ := value(s.Type, data, from); cmplx.IsNaN(z) { // counts whatever it weighs
				times = max(times, 1)
			}
			line = append(line, bytes.Repeat(data[from*size:][:size], times)...)
		}
		plain := Quantiles{Shape: []int{len(line) / size}, Axes: []int{0}, Type: s.Type, Q: s.Q, Method: s.Method, SkipNaN: s.SkipNaN, Out: s.Out}
		got := blockwisetest.Fill(t, plain, plain.shape(), s.Out, nil, blockwisetest.Array{Shape: plain.Shape, DType: s.Type, Data: line})
		for k := range s.Q {
			copy(out[(k*results+r)*size:], got[k*size:][:size])
		}
		r++
	}
	return out
}

// countedWeights runs the stages of the search for quantiles with weights.
func countedWeights(t *testing.T, s Quantiles, digit int, in ...blockwisetest.Array) []byte {
	t.Helper()
	v := newSearch(s)
	v.Digit = digit
	state := blockwisetest.Array{Shape: append(v.keptShape(), v.ranks(), stateWords), DType: dtype.Uint64}
	for ; v.Level < v.levels(); v.Level++ {
		shape := append(append([]int{v.groups()}, v.keptShape()...), v.rows(), v.digits())
		of := in
		if v.Level > 0 {
			of = append(of[:2:2], state)
		}
		weights := dtype.Slice[float64](blockwisetest.Fill(t, WeightedHistogram{RadixHistogram{v}}, shape, dtype.Float64, nil, of...))
		sums := make([]float64, grid.Size(shape[1:]))
		for i, w := range weights {
			sums[i%len(sums)] += w
		}
		of = append([]blockwisetest.Array{{Shape: shape[1:], DType: dtype.Float64, Data: dtype.Bytes(sums)}}, of[2:]...)
		state.Data = blockwisetest.Fill(t, WeightedBucket{SelectBucket{v}}, state.Shape, dtype.Uint64, nil, of...)
	}
	return blockwisetest.Fill(t, WeightedElement{Interpolate{s}}, s.shape(), s.Out, nil, state)
}
