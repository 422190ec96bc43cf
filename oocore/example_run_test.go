package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore"
)

// folder is a new one for the files of an example.
func folder() (path string, remove func()) {
	path, err := os.MkdirTemp("", "oocore")
	if err != nil {
		panic(err)
	}
	return path, func() { os.RemoveAll(path) }
}

func ExampleCollect() {
	x := oocore.Random(oocore.Float64, 1, 4000, 1000)
	v, err := oocore.Collect[float64](context.Background(), x.Greater(0.5).AsType(oocore.Float64).Mean(), oocore.Memory("64MiB"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", v[0])
	// Output: 0.50
}

func ExampleArray_Save() {
	dir, remove := folder()
	defer remove()
	x := oocore.Arange(0, 6, 1).Reshape(2, 3)
	saved, err := x.Sqrt().Save(context.Background(), filepath.Join(dir, "roots.npy"), oocore.Memory("64MiB"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(saved.Shape(), saved.DType())
	// Output: [2 3] float64
}

func ExampleOpen() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "x.zarr")
	ctx := context.Background()
	if _, err := oocore.Arange(0, 12, 1).Reshape(3, 4).Save(ctx, path, oocore.Chunks(2, 2), oocore.Codec("zstd:3")); err != nil {
		fmt.Println(err)
		return
	}
	x := oocore.Open(path) // reads the header only
	fmt.Println(x.Shape(), x.DType(), x.Chunks())
	fmt.Println(oocore.Collect[int64](ctx, x.Sum(0)))
	// Output:
	// [3 4] int64 [2 2]
	// [12 15 18 21] <nil>
}

func ExampleRegion() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "x.npy")
	ctx := context.Background()
	if _, err := oocore.Full(0.0, 6).Save(ctx, path); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := oocore.Full(7.0, 2).Save(ctx, path, oocore.Region("2:4")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(oocore.Collect[float64](ctx, oocore.Open(path)))
	// Output: [0 0 7 7 0 0] <nil>
}

func ExampleMemory() {
	x := oocore.Random(oocore.Float32, 1, 100_000, 1_000) // 400 MB
	_, err := oocore.Collect[float32](context.Background(), x, oocore.Memory("64MiB"))
	var small *oocore.MemoryError
	if errors.As(err, &small) { // before anything is computed, with what would do
		fmt.Println(small.Limit, small.Need > 400e6)
	}
	// Output: 67108864 true
}
