package quantize

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The result is the same in boxes that cut blocks anywhere.
func TestBlocksInAnyBoxes(t *testing.T) {
	rng := testcases.Rand(t)
	for _, name := range []string{"Q8_0", "Q4_1", "Q4_K", "mxfp4", "mxfp4 scale", "nvfp4", "nvfp4 scale"} {
		o, of := Blocks{name}, dtype.Uint8
		floats, elements, size := o.layout()
		if size == 4 {
			of = dtype.Float32
		}
		row := 512
		x := make([]float32, 3*2*row)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		blockwisetest.Same(t, o, []int{3, 2, row / floats * elements}, of, blockwisetest.Array{Shape: []int{3, 2, row}, DType: dtype.Float32, Data: dtype.Bytes(x)})
	}
}
