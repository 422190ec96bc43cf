package oocore_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleMapChunks() {
	x := oocore.FromSlice([]float32{1, 4, 9})
	halves := oocore.MapChunks(func(dst []float64, src []float32, _ oocore.Block) error {
		for i, v := range src {
			dst[i] = float64(v) / 2
		}
		return nil
	}, x, oocore.MapOptions{})
	v, err := oocore.Collect[float64](context.Background(), halves)
	fmt.Println(v, err)
	// Output: [0.5 2 4.5] <nil>
}

func ExampleOverlap() {
	x := oocore.FromSlice([]float64{1, 2, 4, 8, 16, 32})
	// Differences of neighbours: the function sees two more elements than it is to compute.
	slopes := oocore.Overlap(func(dst, src []float64, _ oocore.Block) error {
		for i := 1; i < len(src)-1; i++ {
			dst[i] = (src[i+1] - src[i-1]) / 2
		}
		return nil
	}, x, oocore.OverlapOptions{Depth: []int{1}, Boundary: oocore.BoundaryNearest, Chunks: []int{2}})
	v, err := oocore.Collect[float64](context.Background(), slopes)
	fmt.Println(v, err)
	// Output: [0.5 1.5 3 6 12 8] <nil>
}

func ExampleApplyAlong() {
	x := oocore.FromSlice([]float64{3, 1, 2, 9, 8, 7}, 2, 3)
	sorted := oocore.ApplyAlong(func(dst, line []float64) error {
		copy(dst, line)
		slices.Sort(dst)
		return nil
	}, x, 1, -1)
	v, err := oocore.Collect[float64](context.Background(), sorted)
	fmt.Println(v, err)
	// Output: [1 2 3 7 8 9] <nil>
}

func ExampleBatches() {
	x := oocore.Arange(0, 10, 1).Reshape(5, 2)
	for batch, err := range oocore.Batches[int64](context.Background(), x, 0, 2) {
		fmt.Println(batch.Index, batch.At.Shape, batch.Data, err)
	}
	// Output:
	// 0 [2 2] [0 1 2 3] <nil>
	// 1 [2 2] [4 5 6 7] <nil>
	// 2 [1 2] [8 9] <nil>
}
