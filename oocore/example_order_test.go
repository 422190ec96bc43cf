package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_Sort() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{3, 1, 2, 1})
	fmt.Println(oocore.Collect[float64](ctx, x.Sort(0)))
	// Output: [1 1 2 3] <nil>
}

func ExampleArray_Argsort() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{3, 1, 2, 1})
	fmt.Println(oocore.Collect[int64](ctx, x.Argsort(0))) // equal elements stay in order
	// Output: [1 3 2 0] <nil>
}

func ExampleArray_TopK() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{3, 1, 2, 1})
	fmt.Println(oocore.Collect[float64](ctx, x.TopK(2, 0)))
	// Output: [3 2] <nil>
}

func ExampleArray_Median() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{3, 1, 2, 1})
	fmt.Println(oocore.Collect[float64](ctx, x.Median()))
	// Output: [1.5] <nil>
}

func ExampleArray_Quantile() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.Arange(0, 101, 1).Quantile(0.25)))
	// Output: [25] <nil>
}

func ExampleArray_Quantiles() {
	ctx := context.Background()
	x := oocore.Arange(0, 10, 1)
	fmt.Println(oocore.Collect[int64](ctx, x.Quantiles([]float64{0.1, 0.5}, oocore.QuantileOptions{Method: "lower"})))
	// Output: [0 4] <nil>
}

func ExampleArray_SearchSorted() {
	ctx := context.Background()
	edges := oocore.FromSlice([]float64{1, 2, 4, 8})
	fmt.Println(oocore.Collect[int64](ctx, edges.SearchSorted(oocore.FromSlice([]float64{2, 5, 9}), oocore.Left)))
	// Output: [1 3 4] <nil>
}

func ExampleArray_IsIn() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{3, 1, 2, 1})
	fmt.Println(oocore.Collect[bool](ctx, x.IsIn(oocore.FromSlice([]float64{1, 3}))))
	// Output: [true true false true] <nil>
}

func ExampleArray_UniqueCounts() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{3, 1, 2, 1})
	values, counts := x.UniqueCounts(ctx)
	fmt.Println(oocore.Collect[float64](ctx, values))
	fmt.Println(oocore.Collect[int64](ctx, counts))
	// Output:
	// [1 2 3] <nil>
	// [2 1 1] <nil>
}

func ExampleArray_Union1D() {
	ctx := context.Background()
	x := oocore.FromSlice([]int32{3, 1, 3})
	fmt.Println(oocore.Collect[int32](ctx, x.Union1D(ctx, oocore.FromSlice([]int32{2, 1}))))
	// Output: [1 2 3] <nil>
}
