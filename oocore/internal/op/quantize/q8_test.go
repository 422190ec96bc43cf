package quantize

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The bytes are the same in boxes that cut blocks anywhere.
func TestQ8InAnyBoxes(t *testing.T) {
	rng := testcases.Rand(t)
	x := make([]float32, 3*2*96)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	blockwisetest.Same(t, Q8{}, []int{3, 2, 102}, dtype.Uint8, blockwisetest.Array{Shape: []int{3, 2, 96}, DType: dtype.Float32, Data: dtype.Bytes(x)})
}
