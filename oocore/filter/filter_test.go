package filter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/filter"
)

func Example() {
	x := oocore.FromSlice([]float32{1, 2, 9, 4, 5})
	for _, y := range []*oocore.Array{
		filter.Median(x, []int{3}, filter.Options{}),
		filter.Maximum(x, []int{3}, filter.Options{}),
		filter.Convolve(x, oocore.FromSlice([]float32{1, 0, -1}), filter.Options{Mode: filter.Nearest}),
		filter.Downsample(x, []int{2}),
	} {
		v, err := oocore.Collect[float32](context.Background(), y)
		fmt.Println(v, err)
	}
	// Output:
	// [1 2 4 5 5] <nil>
	// [2 9 9 9 5] <nil>
	// [1 8 2 -4 1] <nil>
	// [1.5 6.5 5] <nil>
}

// Filters of a file, of each other and of expressions give the same bits in the least
// memory with one worker as in plenty with three.
func TestFiltersWithinBudgets(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ctx := t.Context()
	dir := t.TempDir()
	x, err := oocore.Random(oocore.Float32, 1, 1500, 1100).Save(ctx, filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	chunked, err := x.Save(ctx, filepath.Join(dir, "x.zarr"), oocore.Chunks(300, 170))
	if err != nil {
		t.Fatal(err)
	}
	weights := oocore.Random(oocore.Float32, 2, 9, 7)
	large := oocore.Random(oocore.Float32, 3, 40, 50)
	o := filter.Options{Mode: filter.Wrap}
	of := func(x *oocore.Array) map[string]*oocore.Array {
		smooth := filter.Gaussian(x, []float64{2}, filter.GaussianOptions{})
		return map[string]*oocore.Array{
			"median":      filter.Median(x, []int{5}, o),
			"gaussian":    smooth,
			"difference":  x.Sub(smooth).Abs(),
			"convolve":    filter.Convolve(x, weights, o),
			"transforms":  filter.Correlate(x, large, o),
			"nested":      filter.Uniform(filter.Maximum(x.Mul(2), []int{3, 8}, filter.Options{}), []int{4}, o),
			"background":  filter.Minimum(smooth, []int{31}, o),
			"downsampled": filter.Downsample(smooth, []int{7, 3}),
			"mean":        smooth.Mean(0),
		}
	}
	stored := of(chunked)
	for name, y := range of(x) {
		var all [][]float32
		for _, how := range [][]oocore.Option{
			{oocore.Memory("1GiB"), oocore.Workers(3)},
			nil,
		} {
			if how == nil {
				_, err := y.Plan("", oocore.Memory("1MiB"))
				short, ok := errors.AsType[*oocore.MemoryError](err)
				if !ok {
					t.Fatalf("%s in 1 MiB: %v", name, err)
				}
				// Collect's result counts, and what other tests left of the heap.
				how = []oocore.Option{oocore.Memory(fmt.Sprint(short.Need + 16<<20)), oocore.Workers(1)}
			}
			v, err := oocore.Collect[float32](ctx, y, how...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, v)
		}
		v, err := oocore.Collect[float32](ctx, stored[name], oocore.Memory("512MiB"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, v)
		for i, v := range all[1:] {
			if name == "mean" && i == 1 { // a reduction adds in the order of its chunks
				for k := range v {
					if math.Abs(float64(v[k]-all[0][k])) > 1e-6 {
						t.Fatalf("%s: element %d differs in chunks: %v, %v", name, k, v[k], all[0][k])
					}
				}
				continue
			}
			if !slices.Equal(v, all[0]) {
				t.Errorf("%s: result %d is another", name, i+1)
			}
		}
	}
}

// What is invalid is rejected in one line that names the operation and the program's line.
func TestRejections(t *testing.T) {
	x := oocore.Full(float32(1), 20, 30)
	one := oocore.Full(1.0, 3, 3)
	for want, y := range map[string]*oocore.Array{
		"median_filter: the size 0 along axis 1 is below one":        filter.Median(x, []int{3, 0}, filter.Options{}),
		"median_filter: 3 sizes are given for 2 dimensions":          filter.Median(x, []int{3, 3, 3}, filter.Options{}),
		"uniform_filter: the origin 2 along axis 0 moves the window": filter.Uniform(x, []int{3}, filter.Options{Origin: []int{2, 0}}),
		`minimum_filter: mode "none" is not one of`:                  filter.Minimum(x, []int{3}, filter.Options{Mode: "none"}),
		"maximum_filter: compares numbers, and complex ones have no": filter.Maximum(x.AsType(oocore.Complex64), []int{3}, filter.Options{}),
		"maximum_filter: the constant 0.5 is not a value of int32":   filter.Maximum(x.AsType(oocore.Int32), []int{3}, filter.Options{Mode: filter.Constant, Value: 0.5}),
		"gaussian_filter: a sigma of -1 out to 4":                    filter.Gaussian(x, []float64{-1}, filter.GaussianOptions{}),
		"gaussian_filter: a sigma of NaN out to 4":                   filter.Gaussian(x, []float64{math.NaN()}, filter.GaussianOptions{}),
		"gaussian_filter: the order -1 along axis 0 is negative":     filter.Gaussian(x, []float64{1}, filter.GaussianOptions{Order: []int{-1}}),
		"gaussian_filter: a sigma of 1e+06 along axis 0 has weights": filter.Gaussian(x, []float64{1e6}, filter.GaussianOptions{}),
		"gaussian_filter: takes numbers, not bools":                  filter.Gaussian(x.AsType(oocore.Bool), []float64{1}, filter.GaussianOptions{}),
		"convolve: weights of shape (3,) have other dimensions":      filter.Convolve(x, one.Slice("0"), filter.Options{}),
		"correlate: weights of shape (0, 3) have no elements":        filter.Correlate(x, one.Slice("0:0"), filter.Options{}),
		"correlate: takes weights of real numbers":                   filter.Correlate(x, one.AsType(oocore.Complex128), filter.Options{}),
		"downsample: the factor 0 along axis 0 is below one":         filter.Downsample(x, []int{0}),
	} {
		err := y.Err()
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "(filter_test.go:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
