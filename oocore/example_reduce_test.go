package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_Sum() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Sum()))
	fmt.Println(oocore.Collect[int64](ctx, x.Sum(0)))
	fmt.Println(oocore.Collect[int64](ctx, x.Sum(-1)))
	// Output:
	// [15] <nil>
	// [3 5 7] <nil>
	// [3 12] <nil>
}

func ExampleArray_Prod() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Prod()))
	// Output: [576] <nil>
}

func ExampleArray_Mean() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[float64](ctx, x.Mean(1)))
	// Output: [1 4] <nil>
}

func ExampleArray_Std() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 3, 1, 7}, 2, 2)
	fmt.Println(oocore.Collect[float64](ctx, x.Std(1)))
	// Output: [1 3] <nil>
}

func ExampleArray_Var() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 3, 1, 7}, 2, 2)
	fmt.Println(oocore.Collect[float64](ctx, x.Var(1)))
	// Output: [1 9] <nil>
}

func ExampleArray_Min() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Min(1)))
	// Output: [0 3] <nil>
}

func ExampleArray_Max() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Max(0)))
	// Output: [3 4 5] <nil>
}

func ExampleArray_ArgMax() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{2, 9, 4, 9})
	fmt.Println(oocore.Collect[int64](ctx, x.ArgMax()))
	// Output: [1] <nil>
}

func ExampleArray_Any() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[bool](ctx, x.Greater(3).Any(0)))
	// Output: [false true true] <nil>
}

func ExampleArray_All() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[bool](ctx, x.Less(3).All(1)))
	// Output: [true false] <nil>
}

func ExampleArray_CountNonzero() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.CountNonzero()))
	// Output: [5] <nil>
}

func ExampleArray_Cumsum() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Cumsum(1)))
	// Output: [0 1 3 3 7 12] <nil>
}

func ExampleArray_Diff() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Diff(1, 0)))
	// Output: [3 5 7] <nil>
}

func ExampleArray_Average() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	weights := oocore.FromSlice([]float64{3, 1, 0, 0})
	fmt.Println(oocore.Collect[float64](ctx, x.Average(weights)))
	// Output: [1.75] <nil>
}

func ExampleArray_Histogram() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 2, 3, 9})
	counts, edges := x.Histogram(oocore.Bins{Count: 2}, oocore.HistogramOptions{})
	fmt.Println(oocore.Collect[int64](ctx, counts))
	fmt.Println(oocore.Collect[float64](ctx, edges))
	// Output:
	// [4 1] <nil>
	// [1 5 9] <nil>
}

func ExampleArray_Bincount() {
	ctx := context.Background()
	x := oocore.FromSlice([]int64{0, 2, 2, 3})
	fmt.Println(oocore.Collect[int64](ctx, x.Bincount(ctx, oocore.BincountOptions{})))
	// Output: [1 0 2 1] <nil>
}

func ExampleArray_Cov() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 3, 2, 4, 6}, 2, 3) // two variables of three observations
	fmt.Println(oocore.Collect[float64](ctx, x.Cov(nil, oocore.CovOptions{})))
	// Output: [1 2 2 4] <nil>
}

func ExampleArray_Reduce() {
	x := oocore.FromSlice([]float64{1, 2, 3, 4})
	sample := x.Reduce(oocore.ReduceVar, oocore.ReduceOptions{DDof: 1})
	most := x.Reduce(oocore.ReduceMean, oocore.ReduceOptions{Where: x.Less(3.5)})
	fmt.Println(oocore.Collect[float64](context.Background(), sample))
	fmt.Println(oocore.Collect[float64](context.Background(), most))
	// Output:
	// [1.6666666666666667] <nil>
	// [2] <nil>
}
