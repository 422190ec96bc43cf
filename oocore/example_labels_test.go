package oocore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore"
)

func ExampleArray_Sel() {
	x := oocore.Arange(0, 12, 1).Reshape(3, 4)
	x = x.WithCoord("lat", oocore.FromSlice([]float64{60, 50, 40})).WithCoord("lon", oocore.FromSlice([]int64{0, 5, 10, 15}))
	fmt.Println(collected(x.Sel("lat", "60/45", "lon", 10)))
	fmt.Println(collected(x.Sel("lat", oocore.Near(41.5))))
	// Output:
	// [2 6]
	// [8 9 10 11]
}

func ExampleArray_Resample() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	days, err := oocore.Arange(0, 90, 1).Save(ctx, filepath.Join(dir, "days.zarr"), oocore.Attributes(map[string]any{"units": "days since 2001-01-01"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := oocore.Arange(0, 90, 1).WithCoord("time", days)
	fmt.Println(collected(x.Resample("time", "MS").Count()))
	fmt.Println(collected(x.GroupByLabel("time.month").Reduce("median", 0)))
	fmt.Println(collected(x.Sel("time", "2001-02").Coord("time").Month().Max()))
	// Output:
	// [31 28 31]
	// [15 44.5 74]
	// [2]
}

func collected(a *oocore.Array) []float64 {
	values, err := oocore.Collect[float64](context.Background(), a.AsType(oocore.Float64))
	if err != nil {
		panic(err)
	}
	return values
}
