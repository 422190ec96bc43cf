package filter

import (
	"context"
	"fmt"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// memory1 is an array in memory as an input.
type memory1 struct{ blockwisetest.Array }

func (m memory1) Read(_ context.Context, box grid.Box, dst []byte) error {
	at := 0
	for d, stride := range grid.Strides(m.Shape) {
		at += box.Start[d] * stride
	}
	kernel.Copy(m.DType.Size(), box.Shape, dst, 0, grid.Strides(box.Shape), m.Data, at, grid.Strides(m.Shape))
	return nil
}

// BenchmarkFilters is on one core, of a float32 box of 1000×1000 in memory.
func BenchmarkFilters(b *testing.B) {
	rng := testcases.Rand(b)
	shape := []int{1000, 1000}
	x := random(rng, dtype.Float32, shape...)
	of := func(rows, columns int) window.Window {
		w, err := window.New(shape, dtype.Float32, []int{rows, columns}, window.Border{})
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	run := func(name string, op blockwise.Op, in ...blockwisetest.Array) {
		b.Run(name, func(b *testing.B) {
			box := grid.Entire(shape)
			if chunks := blockwise.ChunksOf(op); chunks != nil {
				box.Shape = []int{min(chunks[0], 1000), min(chunks[1], 1000)}
			}
			t := &blockwise.Task{Box: box, Dst: make([]byte, 4*box.Size()), Scratch: make([]byte, op.Requirements(box.Shape).Scratch),
				Do: func(f func() error) error { return f() }}
			for _, a := range in {
				t.In = append(t.In, memory1{a})
			}
			for b.Loop() {
				if err := op.Fill(b.Context(), t); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*box.Size()), "ns/element")
		})
	}
	for _, n := range []int{3, 5, 9, 15, 31} {
		run(fmt.Sprintf("median%d", n), Median{Window: of(n, n)}, x)
	}
	for _, n := range []int{5, 17, 31, 65} {
		run(fmt.Sprintf("sums%d", n), DirectConv{Window: of(n, n)}, x, random(rng, dtype.Float64, n, n))
		run(fmt.Sprintf("transforms%d", n), transformed(of(n, n)), x, random(rng, dtype.Float64, n, n))
	}
	run("sums17x1", DirectConv{Window: of(17, 1)}, x, random(rng, dtype.Float64, 17, 1))
	run("sums1x17", DirectConv{Window: of(1, 17)}, x, random(rng, dtype.Float64, 1, 17))
	run("mean15x1", Running{Window: of(15, 1), Axis: 0, Op: kernel.Add}, x)
	run("mean1x15", Running{Window: of(1, 15), Axis: 1, Op: kernel.Add}, x)
	run("maximum15x1", Running{Window: of(15, 1), Axis: 0, Op: kernel.Maximum}, x)
}
