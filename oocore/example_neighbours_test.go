package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_RollAxis() {
	fmt.Println(oocore.Zeros(oocore.Bool, 2, 3, 4).RollAxis(2, 0).Shape())
	// Output: [4 2 3]
}

func ExampleArray_EDiff1D() {
	ctx := context.Background()
	x := oocore.FromSlice([]int32{1, 2, 4, 7, 0}, 5)
	fmt.Println(oocore.Collect[int32](ctx, x.EDiff1D(-99, oocore.FromSlice([]int32{88, 99}))))
	fmt.Println(oocore.Collect[int32](ctx, x.EDiff1D(nil, nil)))
	// Output:
	// [-99 1 2 3 -7 88 99] <nil>
	// [1 2 3 -7] <nil>
}

func ExampleArray_GradientAt() {
	ctx := context.Background()
	at := oocore.FromSlice([]float64{0, 1, 3, 7})
	fmt.Println(oocore.Collect[float64](ctx, at.Mul(at).GradientAt(at, 0))) // of x², 2x inside
	// Output: [1 2 6 10] <nil>
}

func ExampleArray_Coarsen() {
	ctx := context.Background()
	x := oocore.Arange(0, 10, 1).Reshape(2, 5) // 0 1 2 3 4 and 5 6 7 8 9
	fmt.Println(oocore.Collect[int64](ctx, x.Coarsen(oocore.ReduceSum, oocore.Trim, 2, 2)))
	// Output: [12 20] <nil>
}

func ExampleIndices() {
	ctx := context.Background()
	for _, along := range oocore.Indices(2, 3) {
		fmt.Println(oocore.Collect[int64](ctx, along))
	}
	// Output:
	// [0 0 0 1 1 1] <nil>
	// [0 1 2 0 1 2] <nil>
}

func ExampleArray_Gradient() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{0, 1, 4, 9, 16}) // squares
	fmt.Println(oocore.Collect[float64](ctx, x.Gradient(1, 0)))
	fmt.Println(oocore.Collect[float64](ctx, x.Gradient(1, 0, 2))) // exact at the ends, too
	// Output:
	// [1 2 4 6 7] <nil>
	// [0 2 4 6 8] <nil>
}

func ExampleTriangleIndices() {
	ctx := context.Background()
	row, column := oocore.TriangleIndices(3, 3, -1, oocore.Lower) // below the main diagonal
	fmt.Println(oocore.Collect[int64](ctx, row))
	fmt.Println(oocore.Collect[int64](ctx, column))
	// Output:
	// [1 2 2] <nil>
	// [0 0 1] <nil>
}

func ExampleArray_RandomBinomial() {
	ctx := context.Background()
	trials := oocore.FromSlice([]int64{0, 3, 100})
	fmt.Println(oocore.Collect[int64](ctx, trials.RandomBinomial(1, 1.0))) // each succeeds
	// Output: [0 3 100] <nil>
}

func ExampleArray_RandomHypergeometric() {
	ctx := context.Background()
	good := oocore.FromSlice([]int64{4, 30})
	fmt.Println(oocore.Collect[int64](ctx, good.RandomHypergeometric(1, 6, oocore.FromSlice([]int64{0, 36})))) // none and all are drawn
	// Output: [0 30] <nil>
}

func ExampleArray_RandomMultinomial() {
	ctx := context.Background()
	chances := oocore.FromSlice([]float64{0, 1, 0})
	fmt.Println(oocore.Collect[int64](ctx, oocore.Full(10).RandomMultinomial(1, chances))) // all trials fall into the second
	// Output: [0 10 0] <nil>
}

func ExampleArray_Spacing() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float32](ctx, oocore.FromSlice([]float32{1, 1e8}).Spacing()))
	// Output: [1.1920929e-07 8] <nil>
}

func ExampleArray_Piecewise() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{-2, -1, 0, 1, 2})
	y := x.Piecewise([]*oocore.Array{x.Less(0), x.Greater(1)}, []any{x.Neg(), 10, 0.5})
	fmt.Println(oocore.Collect[float64](ctx, y))
	// Output: [2 1 0.5 0.5 10] <nil>
}
