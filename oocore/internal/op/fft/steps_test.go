package fft_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A long line gives the same bits when its transform is cut off after any pass and resumes
// there: of small factors, of a large prime, and of real elements.
func TestLongLinesResumeAfterAnyPassWithTheSameBits(t *testing.T) {
	rng := testcases.Rand(t)
	for name, c := range map[string]struct {
		kind  fft.Kind
		from  dtype.Type
		to    dtype.Type
		n     int
		least int // steps
	}{
		"small factors": {fft.Forward, dtype.Complex128, dtype.Complex128, 3 << 15, 9},
		"prime":         {fft.Inverse, dtype.Complex64, dtype.Complex64, 65537, 30},
		"real":          {fft.RealForward, dtype.Float64, dtype.Complex128, 5 << 15, 9},
		"odd and real":  {fft.RealInverse, dtype.Complex128, dtype.Float64, 81 * 81 * 13, 10},
	} {
		t.Run(name, func(t *testing.T) {
			shape, out := []int{c.n}, []int{c.n}
			switch c.kind {
			case fft.RealForward:
				out = []int{c.n/2 + 1}
			case fft.RealInverse:
				shape = []int{c.n/2 + 1}
			}
			o, _ := op(t, c.kind, c.from, shape, c.n, 0, "")
			data := make([]byte, shape[0]*c.from.Size())
			if c.from == dtype.Complex64 {
				for i := range dtype.Slice[float32](data) {
					dtype.Slice[float32](data)[i] = rng.Float32()
				}
			} else {
				for i := range dtype.Slice[float64](data) {
					dtype.Slice[float64](data)[i] = rng.NormFloat64()
				}
			}
			in := blockwisetest.Array{Shape: shape, DType: c.from, Data: data}
			if steps := blockwisetest.Interrupted(t, rng, o, out, c.to, in); steps < c.least {
				t.Errorf("it has %d steps, fewer than %d", steps, c.least)
			}
		})
	}
}
