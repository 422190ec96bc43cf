package shapes

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

func TestWithinFollowsCOrder(t *testing.T) {
	for _, chunk := range [][]int{{2048, 512}, {7, 5, 3}, {1, 1, 1024, 1021}, {3, 100_000}, {1}, {}} {
		block := grid.Auto(chunk, 1, plan.BlockElems)
		for _, elems := range []int{plan.BlockElems, 3*plan.BlockElems + 17, 1 << 20} {
			box := Within(chunk, elems, block)
			// Boxes follow each other in C order when only one axis is cut, those before it
			// have length one and those after it are whole.
			cut := false
			for i := len(chunk) - 1; i >= 0; i-- {
				if cut && box[i] != 1 {
					t.Errorf("within(%v, %d) = %v is not contiguous", chunk, elems, box)
				}
				cut = cut || box[i] < chunk[i]
			}
		}
	}
}
