package gonbext_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

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

// Dates, a band of quantiles and a line. In a notebook it is a picture.
func ExampleFigure_Show() {
	dates := []time.Time{time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2001, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2001, 3, 1, 0, 0, 0, 0, time.UTC)}
	x := oocore.FromSlice([]float64{1, 2, 3, 2, 4, 6, 3, 6, 9}, 3, 3)
	gonbext.Figure{Title: "Rain", Y: "mm", Series: []gonbext.Series{
		{Name: "quartiles", X: dates, Low: x.Quantile(0.25, 1), High: x.Quantile(0.75, 1)},
		{Name: "mean", X: dates, Y: x.Mean(1)},
	}}.Show()
	// Output:
	// Rain
	// quartiles
	// ▁▅█
	// 3 elements from 1.5 to 7.5
	// mean
	// ▁▅█
	// 3 elements from 2 to 6
}

// A matrix with places on both axes.
func ExampleFigure_HeatMap() {
	gonbext.Figure{Coords: []any{[]float64{60, 50}, []string{"Jan", "Feb", "Mar"}}, Label: "K"}.HeatMap(oocore.Arange(0, 6, 1).Reshape(2, 3))
	// Output:
	// reshape(arange(6), 2, 3)
	// ░░▒
	// ▓██
	// values from 0 to 5
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
