package order

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// methods are all of NumPy's, and the median.
func methods() []Method {
	all := append([]Method{middle}, otherMethods...)
	for m := range continuous {
		all = append(all, m)
	}
	return all
}

// counted runs the stages of the search for quantiles.
func counted(t *testing.T, s Quantiles, digit int, in blockwisetest.Array) []byte {
	t.Helper()
	v := newSearch(s)
	v.Digit = digit
	state := blockwisetest.Array{Shape: append(v.keptShape(), v.ranks(), stateWords), DType: dtype.Uint64}
	for ; v.Level < v.levels(); v.Level++ {
		shape := append(append([]int{v.groups()}, v.keptShape()...), v.rows(), v.digits())
		inputs := []blockwisetest.Array{in}
		if v.Level > 0 {
			inputs = append(inputs, state)
		}
		counts := dtype.Slice[uint32](blockwisetest.Fill(t, RadixHistogram{v}, shape, dtype.Uint32, nil, inputs...))
		sum := make([]uint64, grid.Size(shape[1:]))
		for i, c := range counts {
			sum[i%len(sum)] += uint64(c)
		}
		inputs[0] = blockwisetest.Array{Shape: shape[1:], DType: dtype.Uint64, Data: dtype.Bytes(sum)}
		state.Data = blockwisetest.Fill(t, SelectBucket{v}, state.Shape, dtype.Uint64, nil, inputs...)
	}
	return blockwisetest.Fill(t, Interpolate{s}, s.shape(), s.Out, nil, state)
}

// What is found by counting digits is what is found by sorting, to the bit.
func TestCountingIsSorting(t *testing.T) {
	rng := testcases.Rand(t)
	turn, every := 0, 15
	if testcases.Full() {
		every = 4
	}
	for _, dt := range []dtype.Type{dtype.Int8, dtype.Uint16, dtype.Float16, dtype.Int32, dtype.Float32, dtype.Uint64, dtype.Float64} {
		for _, c := range []struct{ shape, axes []int }{
			{[]int{333}, []int{0}}, {[]int{40, 9}, []int{0}}, {[]int{9, 40}, []int{1}}, {[]int{7, 8, 9}, []int{0, 2}},
			{[]int{7, 8, 9}, []int{1}}, {[]int{3, 5, 2, 6}, []int{0, 1, 2, 3}},
		} {
			for _, skip := range []bool{false, true} {
				for i, m := range methods() {
					if turn++; turn%every != 0 {
						continue // the others have other turns
					}
					data := elements(rng, dt, grid.Size(c.shape), i%2 == 0)
					in := blockwisetest.Array{Shape: c.shape, DType: dt, Data: data}
					s := Quantiles{Shape: c.shape, Axes: c.axes, Type: dt, Q: []float64{0.5, 0, 0.31, 1}, Method: m, SkipNaN: skip, Out: m.result(dt, false)}
					if m == middle {
						s.Q = s.Q[:1]
					}
					want := blockwisetest.Same(t, s, s.shape(), s.Out, in)
					for _, digit := range []int{8, 5} {
						if got := counted(t, s, digit, in); !bytes.Equal(got, want) {
							t.Fatalf("%s of %s %+v by digits of %d bits, NaN skipped %v: differs", m, dt, c, digit, skip)
						}
					}
				}
			}
		}
	}
}

// Ranks of quantiles lie within the elements, the second at most one after the first.
func TestRanks(t *testing.T) {
	for _, m := range methods() {
		for n := int64(1); n < 40; n++ {
			for _, q := range []float64{0, 1e-9, 0.1, 0.25, 1.0 / 3, 0.5, 0.7, 0.999, 1} {
				low, high, part := m.at(n, q)
				if low < 0 || high >= n || high < low || high > low+1 || part < 0 || part > 1 {
					t.Errorf("%s of %d at %g: from %d to %d by %g", m, n, q, low, high, part)
				}
			}
		}
	}
}

func TestSearchesStaySmall(t *testing.T) {
	for _, c := range []struct{ shape, axes []int }{
		{[]int{1e9}, []int{0}}, {[]int{3075200, 512}, []int{0, 1}}, {[]int{1e8, 512}, []int{0}}, {[]int{512, 1e8}, []int{1}}, {[]int{10, 1e9, 2000}, []int{1}},
	} {
		for _, dt := range []dtype.Type{dtype.Uint8, dtype.Float32, dtype.Float64} {
			for _, n := range []int{1, 20} {
				s := newSearch(Quantiles{Shape: c.shape, Axes: c.axes, Type: dt, Q: make([]float64, n), Method: "linear", Out: dtype.Float64})
				for ; s.Level < s.levels(); s.Level++ {
					name := fmt.Sprintf("%v along %v of %s, %d quantiles, digit %d of %d", c.shape, c.axes, dt, n, s.Level, s.Digit)
					if b := grid.Size(RadixHistogram{s}.Chunks()) * 4; b > 32<<20 {
						t.Errorf("%s: counts of %d bytes", name, b)
					}
					if b := (RadixHistogram{s}).Requirements(RadixHistogram{s}.Chunks()).Scratch; b > 8<<20 {
						t.Errorf("%s: counting takes %d bytes", name, b)
					}
					if b := (SelectBucket{s}).Requirements(SelectBucket{s}.Chunks()).Scratch; b > 32<<20 {
						t.Errorf("%s: picking takes %d bytes", name, b)
					}
				}
			}
		}
	}
}
