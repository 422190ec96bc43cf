package quantize

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The bytes are the same in boxes that cut blocks anywhere.
func TestBlocksInAnyBoxes(t *testing.T) {
	rng := testcases.Rand(t)
	for _, name := range []string{"Q8_0", "Q4_1", "Q4_K"} {
		floats, bytes, _ := codec.GGML(name)
		row := 512
		x := make([]float32, 3*2*row)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		blockwisetest.Same(t, Blocks{name}, []int{3, 2, row / floats * bytes}, dtype.Uint8, blockwisetest.Array{Shape: []int{3, 2, row}, DType: dtype.Float32, Data: dtype.Bytes(x)})
	}
}
