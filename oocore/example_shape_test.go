package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_Slice() {
	x := oocore.Arange(0, 12, 1).Reshape(3, 4)
	v, err := oocore.Collect[int64](context.Background(), x.Slice("::-1, 1:3"))
	fmt.Println(v, err)
	// Output: [9 10 5 6 1 2] <nil>
}

func ExampleArray_Reshape() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, -1)
	fmt.Println(x.Shape())
	fmt.Println(oocore.Collect[int64](ctx, x.Slice("1")))
	// Output:
	// [2 3]
	// [3 4 5] <nil>
}

func ExampleArray_Transpose() {
	ctx := context.Background()
	x := oocore.Random(oocore.Float64, 1, 2, 3, 4).Transpose(2, 0, 1)
	fmt.Println(x.Shape())
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(0, 6, 1).Reshape(2, 3).Transpose()))
	// Output:
	// [4 2 3]
	// [0 3 1 4 2 5] <nil>
}

func ExampleArray_BroadcastTo() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(0, 3, 1).BroadcastTo(2, 3)))
	// Output: [0 1 2 0 1 2] <nil>
}

func ExampleArray_ExpandDims() {
	ctx := context.Background()
	x := oocore.Arange(0, 3, 1)
	fmt.Println(x.ExpandDims(0).Shape(), x.ExpandDims(-1).Shape())
	fmt.Println(oocore.Collect[int64](ctx, x.ExpandDims(-1).Mul(x)))
	// Output:
	// [1 3] [3 1]
	// [0 0 0 0 1 2 0 2 4] <nil>
}

func ExampleArray_Squeeze() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(0, 3, 1).Reshape(1, 3, 1).Squeeze()))
	// Output: [0 1 2] <nil>
}

func ExampleArray_Flip() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Flip(1)))
	// Output: [2 1 0 5 4 3] <nil>
}

func ExampleArray_Roll() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Roll(1, 1)))
	// Output: [2 0 1 5 3 4] <nil>
}

func ExampleArray_Pad() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(1, 4, 1).Pad([][2]int{{2, 1}}, oocore.PadOptions{Mode: "edge"})))
	// Output: [1 1 1 2 3 3] <nil>
}

func ExampleArray_Tile() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(0, 2, 1).Tile(3)))
	// Output: [0 1 0 1 0 1] <nil>
}

func ExampleArray_Repeat() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(0, 2, 1).Repeat(3, 0)))
	// Output: [0 0 0 1 1 1] <nil>
}

func ExampleConcatenate() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, oocore.Concatenate(0, x, x.Slice(":1"))))
	// Output: [0 1 2 3 4 5 0 1 2] <nil>
}

func ExampleStack() {
	ctx := context.Background()
	x := oocore.Arange(0, 3, 1)
	fmt.Println(oocore.Collect[int64](ctx, oocore.Stack(1, x, x.Mul(10))))
	// Output: [0 0 1 10 2 20] <nil>
}

func ExampleArray_Split() {
	ctx := context.Background()
	for _, part := range oocore.Arange(0, 6, 1).Split(3, 0) {
		fmt.Println(oocore.Collect[int64](ctx, part))
	}
	// Output:
	// [0 1] <nil>
	// [2 3] <nil>
	// [4 5] <nil>
}

func ExampleArray_Take() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Take(oocore.FromSlice([]int64{2, 0}), 1)))
	// Output: [2 0 5 3] <nil>
}

func ExampleArray_Mask() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3)                          // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Mask(ctx, x.Greater(2)))) // a pass over the data counts first
	// Output: [3 4 5] <nil>
}

func ExampleArray_Nonzero() {
	ctx := context.Background()
	x := oocore.FromSlice([]int64{0, 7, 8, 0}, 2, 2)
	for _, index := range x.Nonzero(ctx) {
		fmt.Println(oocore.Collect[int64](ctx, index))
	}
	// Output:
	// [0 1] <nil>
	// [1 0] <nil>
}

func ExampleArray_Set() {
	ctx := context.Background()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3) // 0 1 2 and 3 4 5
	fmt.Println(oocore.Collect[int64](ctx, x.Set("1, ::2", -1)))
	// Output: [0 1 2 -1 4 -1] <nil>
}
