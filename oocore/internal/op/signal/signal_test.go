package signal

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Elements have the same bits in whatever boxes they are computed, within what the operations say that they need.
func TestBoxesOfSignalsHaveTheBitsOfTheWhole(t *testing.T) {
	rng := testcases.Rand(t)
	for range 60 {
		shape := [][]int{{300}, {90, 7}, {5, 130}, {3, 60, 4}}[rng.IntN(4)]
		axis := rng.IntN(len(shape))
		x := blockwisetest.Random(rng, shape, []dtype.Type{dtype.Float64, dtype.Complex128}[rng.IntN(2)])
		in, err := graph.FromBytes(graph.Site{}, x.Data, x.DType, shape...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ResamplePoly(graph.Site{}, ResampleArgs{X: in, Up: 1 + rng.IntN(5), Down: 6 + rng.IntN(3), Axis: axis, Window: "hann", PadType: []string{"constant", "edge", "symmetric", "wrap"}[rng.IntN(4)]})
		if err != nil {
			t.Fatal(err)
		}
		taps := blockwisetest.Array{Shape: r.In[1].Shape, DType: dtype.Float64, Data: make([]byte, 8*grid.Size(r.In[1].Shape))}
		for i := range dtype.Slice[float64](taps.Data) {
			dtype.Slice[float64](taps.Data)[i] = rng.NormFloat64()
		}
		blockwisetest.Same(t, r.Blocks.Op, r.Shape, r.DType, x, taps)
		length := 1 + rng.IntN(min(shape[axis], 40))
		z, err := STFT(graph.Site{}, STFTArgs{X: in, Axis: axis, Boundary: "none", Unpadded: true, Scaling: "psd", Detrend: []string{"linear", "constant", "false"}[rng.IntN(3)],
			Segments: Segments{FS: 2, Window: "boxcar", NPerSeg: length, NOverlap: rng.IntN(length), NFFT: length + rng.IntN(3), TwoSided: rng.IntN(2) == 0}})
		if err != nil {
			t.Fatal(err)
		}
		o, weights := z.Blocks.Op.(fft.Segments), blockwisetest.Random(rng, []int{length}, dtype.Float64)
		if rng.IntN(2) == 0 {
			o.To, o.PerSum = dtype.Float64, 1+rng.IntN(9)
			o.Out[len(shape)] = (o.Count() + o.PerSum - 1) / o.PerSum
		}
		blockwisetest.Same(t, o, o.Out, o.To, x, weights)
	}
}
