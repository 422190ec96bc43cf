package gonbext_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/oocore"
)

// In a cell nothing returns an error: a failure ends the cell.
func Example() {
	dir, err := os.MkdirTemp("", "gonbext")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	x := oocore.Arange(0, 6, 1).Reshape(2, 3)
	roots := gonbext.Save(x.Mul(x).Sqrt(), filepath.Join(dir, "roots.npy"))
	fmt.Println(gonbext.Collect[float64](roots))
	// Output: [0 1 2 3 4 5]
}

func ExampleShow() {
	gonbext.Show(oocore.Arange(0, 6, 1).Reshape(2, 3))
	// Output:
	// reshape(arange(6), 2, 3): 2 × 3 int64, 48 bytes
	//   0  1  2
	//   3  4  5
	// minimum 0, mean 2.5, maximum 5
}

// What several outputs share is computed once.
func ExampleSaveAll() {
	dir, err := os.MkdirTemp("", "gonbext")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	x := oocore.Arange(0, 6, 1).Reshape(2, 3)
	mean := x.Mean(0)
	saved := gonbext.SaveAll([]oocore.Output{
		{Array: mean, Path: filepath.Join(dir, "mean.npy")},
		{Array: x.Sub(mean), Path: filepath.Join(dir, "centred.zarr"), Options: []oocore.Option{oocore.Chunks(1, 3)}},
	})
	fmt.Println(gonbext.Collect[float64](saved[0]), gonbext.Collect[float64](saved[1]))
	// Output: [1.5 2.5 3.5] [-1.5 -1.5 -1.5 1.5 1.5 1.5]
}
