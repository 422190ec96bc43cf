package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_MatMul() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	fmt.Println(oocore.Collect[float64](ctx, x.MatMul(x)))
	// Output: [7 10 15 22] <nil>
}

func ExampleArray_Dot() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 3})
	fmt.Println(oocore.Collect[float64](ctx, x.Dot(x)))
	// Output: [14] <nil>
}

func ExampleArray_Outer() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2})
	fmt.Println(oocore.Collect[float64](ctx, x.Outer(x)))
	// Output: [1 2 2 4] <nil>
}

func ExampleArray_Tensordot() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	fmt.Println(oocore.Collect[float64](ctx, x.Tensordot(x, []int{0, 1}, []int{0, 1})))
	// Output: [30] <nil>
}

func ExampleEinsum() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	fmt.Println(oocore.Collect[float64](ctx, oocore.Einsum("ij,ij->i", x, x)))
	fmt.Println(oocore.Collect[float64](ctx, oocore.Einsum("ii", x)))
	// Output:
	// [5 25] <nil>
	// [5] <nil>
}
