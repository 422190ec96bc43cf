package window_test

import (
	"context"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

type line []float64

func (l line) Read(_ context.Context, box grid.Box, dst []byte) error {
	copy(dst, dtype.Bytes([]float64(l[box.Start[0]:][:box.Shape[0]])))
	return nil
}

// A device folds a window from its first element to its last, by the function of elements:
// the extremes of zeros of both signs and of several NaN have the bits of that.
func TestRollingExtremesHaveTheBitsOfTheFormula(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1, math.Float64frombits(0x7ff8000000000001), -1, math.Float64frombits(0xfff8000000000002)}
	in := make(line, 500)
	for i := range in {
		in[i] = values[i*i*7%31%len(values)]
		if i%50 < 25 {
			in[i] = values[i*i*7%31%3]
		}
	}
	for kind, op := range map[kernel.Reduction]kernel.Op{kernel.Min: kernel.Minimum, kernel.Max: kernel.Maximum} {
		f, _ := kernel.Lookup(op, dtype.Float64)
		for size := 1; size < 8; size++ {
			o := window.Rolling{Kind: kind, Type: dtype.Float64, Window: size}
			box := grid.Box{Start: []int{3}, Shape: []int{len(in) - 3 - size + 1}}
			got := make([]float64, box.Size())
			task := &blockwise.Task{Box: box, Dst: dtype.Bytes(got), In: []blockwise.Input{in}, Scratch: make([]byte, o.Requirements(box.Shape).Scratch), Do: func(f func() error) error { return f() }}
			if err := o.Fill(t.Context(), task); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				want := []float64{in[3+i]}
				for _, next := range in[4+i:][:size-1] {
					f(1, dtype.Bytes(want), dtype.Bytes(want), dtype.Bytes([]float64{next}), nil)
				}
				if math.Float64bits(v) != math.Float64bits(want[0]) {
					t.Fatalf("%v of %v is %x, not %x", kind, in[3+i:][:size], math.Float64bits(v), math.Float64bits(want[0]))
				}
			}
		}
	}
}
