package oocore_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_Add() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	row := oocore.FromSlice([]float64{10, 20, 30})
	fmt.Println(oocore.Collect[float64](ctx, x.Add(row))) // along the last axis, as NumPy broadcasts
	fmt.Println(oocore.Collect[float64](ctx, x.Add(0.5)))
	// Output:
	// [11 22 33 14 25 36] <nil>
	// [1.5 2.5 3.5 4.5 5.5 6.5] <nil>
}

func ExampleArray_Sub() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Sub(x.Mean())))
	// Output: [-6.5 -3.5 1.5 8.5] <nil>
}

func ExampleArray_Mul() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Mul(x)))
	// Output: [1 16 81 256] <nil>
}

func ExampleArray_Div() {
	ctx := context.Background()
	x := oocore.Arange(-3, 4, 3) // int64: -3, 0, 3
	fmt.Println(oocore.Collect[float64](ctx, x.Div(2)))
	fmt.Println(oocore.Collect[int64](ctx, x.FloorDiv(2)))
	fmt.Println(oocore.Collect[int64](ctx, x.Mod(2)))
	// Output:
	// [-1.5 0 1.5] <nil>
	// [-2 0 1] <nil>
	// [1 0 1] <nil>
}

func ExampleArray_Pow() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Pow(0.5)))
	// Output: [1 2 3 4] <nil>
}

func ExampleArray_Sqrt() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Sqrt()))
	// Output: [1 2 3 4] <nil>
}

func ExampleArray_Exp() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.FromSlice([]float64{0, 1}).Log().Exp()))
	// Output: [0 1] <nil>
}

func ExampleArray_Abs() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.FromSlice([]complex128{3 + 4i, -2}).Abs()))
	// Output: [5 2] <nil>
}

func ExampleArray_Maximum() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Maximum(5)))
	// Output: [5 5 9 16] <nil>
}

func ExampleArray_Clip() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, x.Clip(2, 10)))
	// Output: [2 4 9 10] <nil>
}

func ExampleArray_Round() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.FromSlice([]float64{0.5, 1.5, 2.345}).Round(1)))
	// Output: [0.5 1.5 2.3] <nil>
}

func ExampleArray_AsType() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int8](ctx, oocore.FromSlice([]float32{1.9, -1.9}).AsType(oocore.Int8)))
	// Output: [1 -1] <nil>
}

func ExampleArray_Greater() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[bool](ctx, x.Greater(3).LogicalAnd(x.Less(10))))
	// Output: [false true true false] <nil>
}

func ExampleArray_IsNaN() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[bool](ctx, oocore.FromSlice([]float64{0, 1}).Div(0.0).IsNaN())) // 0/0, and infinity
	// Output: [true false] <nil>
}

func ExampleArray_NaNToNum() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{0, 1, -1}).Div(0.0)
	fmt.Println(oocore.Collect[float64](ctx, x.NaNToNum(0, 100, -100)))
	// Output: [0 100 -100] <nil>
}

func ExampleWhere() {
	ctx := context.Background()
	x := oocore.FromSlice([]float64{1, 4, 9, 16})
	fmt.Println(oocore.Collect[float64](ctx, oocore.Where(x.Greater(3), x, 0)))
	// Output: [0 4 9 16] <nil>
}

func ExampleEval() {
	x := oocore.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	centred := oocore.Eval("x - mean(x, 0)", oocore.Names{"x": x})
	v, err := oocore.Collect[float32](context.Background(), centred)
	fmt.Println(v, err)
	// Output: [-1.5 -1.5 -1.5 1.5 1.5 1.5] <nil>
}

func ExampleArray_Err() {
	a := oocore.Full(1.0, 3, 4)
	b := oocore.Full(1.0, 5, 6)
	err := a.MatMul(b).Sqrt().Sum().Err()
	text, _, _ := strings.Cut(err.Error(), " (example_") // then the file and the line of MatMul
	fmt.Println(text)
	// Output: matmul: shapes (3, 4) and (5, 6) do not align: 4 columns meet 5 rows
}
