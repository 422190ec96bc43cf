package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleFromSlice() {
	ctx := context.Background()
	x := oocore.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(x)
	fmt.Println(oocore.Collect[float32](ctx, x.T()))
	// Output:
	// array(2, 2): 2 × 2 float32, 16 bytes
	// [1 3 2 4] <nil>
}

func ExampleFull() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float32](ctx, oocore.Full(float32(2.5), 2, 2)))
	// Output: [2.5 2.5 2.5 2.5] <nil>
}

func ExampleArange() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[int64](ctx, oocore.Arange(2, 11, 3)))
	// Output: [2 5 8] <nil>
}

func ExampleLinspace() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.Linspace(0, 1, 5)))
	// Output: [0 0.25 0.5 0.75 1] <nil>
}

func ExampleEye() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.Eye(2, 3, 1)))
	// Output: [0 1 0 0 0 1] <nil>
}

func ExampleTri() {
	ctx := context.Background()
	fmt.Println(oocore.Collect[float64](ctx, oocore.Tri(2, 3, 0)))
	// Output: [1 0 0 1 1 0] <nil>
}

func ExampleRandom() {
	ctx := context.Background()
	x := oocore.Random(oocore.Float32, 7, 1_000_000, 1_000) // nothing is computed yet
	a, err := oocore.Collect[float32](ctx, x.Slice("999999, :2"))
	b, _ := oocore.Collect[float32](ctx, x.Slice("999999, 0:2")) // each element follows from the seed and its place
	fmt.Println(x, err, a[0] == b[0], a[1] == b[1])
	// Output: random(1000000, 1000): 1,000,000 × 1,000 float32, 3.73 GiB <nil> true true
}

func ExampleArray_String() {
	x := oocore.Random(oocore.Float32, 1, 3075200, 512)
	fmt.Println(x.Sqrt().Mean(0))
	fmt.Println(x)
	// Output:
	// mean(sqrt(random(3075200, 512)), 0): 512 float32, 2 KiB
	// random(3075200, 512): 3,075,200 × 512 float32, 5.87 GiB
}
