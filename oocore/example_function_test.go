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

// Integers of 4 bits are kept two in a byte, the first in the low half, and scales beside them.
func ExampleEval_int4() {
	x := oocore.FromSlice([]float32{0.7, -0.3, 0.1, -0.8, 14, 2, -6, 4}, 2, 4)
	scale := oocore.Eval(`max(abs(x), 1, "keepdims") / 7`, oocore.Names{"x": x})
	q := oocore.Eval(`astype(clip(rint(x / s), -8, 7), "int8")`, oocore.Names{"x": x, "s": scale})
	packed := oocore.Eval(`astype(bitwise_or(bitwise_and(slice(q, "..., ::2"), 15), left_shift(bitwise_and(slice(q, "..., 1::2"), 15), 4)), "uint8")`, oocore.Names{"q": q})
	low := oocore.Eval(`astype(bitwise_and(p, 15), "int8")`, oocore.Names{"p": packed})
	high := oocore.Eval(`astype(right_shift(p, 4), "int8")`, oocore.Names{"p": packed})
	again := oocore.Eval(`s * reshape(stack(l - 16*astype(l > 7, "int8"), h - 16*astype(h > 7, "int8"), -1), 2, 4)`, oocore.Names{"l": low, "h": high, "s": scale})
	for _, a := range []*oocore.Array{packed, q, again.Round(2)} {
		fmt.Println(a.DType(), a.Shape())
		values, err := oocore.Collect[float32](context.Background(), a.AsType(oocore.Float32))
		fmt.Println(values, err)
	}
	// Output:
	// uint8 [2 2]
	// [214 145 23 45] <nil>
	// int8 [2 4]
	// [6 -3 1 -7 7 1 -3 2] <nil>
	// float32 [2 4]
	// [0.69 -0.34 0.11 -0.8 14 2 -6 4] <nil>
}
