package oocore_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

func TestGroupByReducesEachGroup(t *testing.T) {
	x := oocore.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 3, 2)
	g := x.GroupBy(t.Context(), oocore.FromSlice([]int64{2, 0, 2}), oocore.GroupOptions{}, oocore.Memory(small))
	nan := math.NaN()
	for name, c := range map[string]struct {
		got  *oocore.Array
		want []float64
	}{
		"sum": {g.Sum(), []float64{3, 4, 0, 0, 6, 8}}, "mean": {g.Mean(), []float64{3, 4, nan, nan, 3, 4}},
		"var": {g.Var(1), []float64{nan, nan, nan, nan, 8, 8}}, "min": {g.Min(), []float64{3, 4, nan, nan, 1, 2}}, "max": {g.Max(), []float64{3, 4, nan, nan, 5, 6}},
		"count": {g.Count(), []float64{1, 0, 2}}, "first": {g.First(), []float64{3, 4, nan, nan, 1, 2}}, "last": {g.Last(), []float64{3, 4, nan, nan, 5, 6}},
	} {
		if got := floats(t, c.got); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s is %v, want %v", name, got, c.want)
		}
	}
}

func TestGroupByRejectsLabels(t *testing.T) {
	x := oocore.Arange(0, 3, 1)
	for want, labels := range map[string]*oocore.Array{
		"labels of shape (2,) are not one for each of the 3 places along axis 0": oocore.FromSlice([]int64{0, 1}),
		"labels are integers, not float64":                                       oocore.FromSlice([]float64{0, 1, 2}),
		"label 5 at position 1 is out of bounds for 3 groups":                    oocore.FromSlice([]int64{0, 5, 1}),
		"label -1 at position 2 is out of bounds for 3 groups":                   oocore.FromSlice([]int64{0, 2, -1}),
		"label 9223372036854775808 at position 1 is out of bounds for 3 groups":  oocore.FromSlice([]uint64{0, 1 << 63, 1}),
	} {
		g := x.GroupBy(t.Context(), labels, oocore.GroupOptions{Groups: 3})
		if _, err := oocore.Collect[int64](t.Context(), g.Sum(), oocore.Memory(small)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
	if err := x.GroupBy(t.Context(), oocore.FromSlice([]uint64{0, 1 << 63, 1}), oocore.GroupOptions{}).Sum().Err(); err == nil || !strings.Contains(err.Error(), "label 9223372036854775808 would make too many groups") {
		t.Errorf("labels whose largest is 1<<63: %v", err)
	}
	g := x.GroupBy(t.Context(), oocore.FromSlice([]int64{0, 0, 2}), oocore.GroupOptions{Groups: 3})
	if _, err := oocore.Collect[int64](t.Context(), g.Min(), oocore.Memory(small)); err == nil || !strings.Contains(err.Error(), "a group has no elements") {
		t.Errorf("the smallest of no integers: %v", err)
	}
}

// Groups, windows and random numbers have the same bits whatever chunks and workers.
func TestGroupsWindowsAndDrawsDoNotDependOnChunks(t *testing.T) {
	const n = 300_000
	x := oocore.RandomNormal(oocore.Float64, 3, n)
	labels := oocore.RandomIntegers(oocore.Int32, 4, 0, 50, n)
	all := func(x, labels *oocore.Array) []*oocore.Array {
		g := x.GroupBy(context.Background(), labels, oocore.GroupOptions{Groups: 50})
		return []*oocore.Array{g.Sum(), g.Var(0), x.Rolling(oocore.ReduceMean, oocore.RollingOptions{Window: 1000}), x.Rolling(oocore.ReduceVar, oocore.RollingOptions{Window: 77})}
	}
	var want [][]float64
	for _, a := range all(x, labels) {
		want = append(want, floats(t, a, oocore.Workers(1)))
	}
	dir := t.TempDir()
	save := func(a *oocore.Array, name string, chunk int) *oocore.Array {
		stored := saved(t, a, filepath.Join(dir, name), oocore.Chunks(chunk), oocore.Memory(small))
		return stored
	}
	stored := all(save(x, "x.zarr", 70_001), save(labels, "l.zarr", 9_999))
	for i, a := range stored {
		if got := floats(t, a, oocore.Workers(3)); !slices.Equal(got, want[i]) {
			t.Errorf("result %d differs", i)
		}
	}
}

// Groups of an array whose chunks lie beside each other across the axis are accumulated chunk by
// chunk, with the bits of those of an array that lies open.
func TestGroupsAlongColumnsOfChunksHaveTheSameBits(t *testing.T) {
	shape := []int{1500, 62, 70} // of float64 several parts of an axis
	x := oocore.RandomNormal(oocore.Float32, 5, shape...)
	stored := saved(t, x, filepath.Join(t.TempDir(), "x.zarr"), oocore.Chunks(100, 20, 30), oocore.Memory(small))
	views := map[string]func(x *oocore.Array) *oocore.Array{
		"as it is":   func(x *oocore.Array) *oocore.Array { return x },
		"transposed": func(x *oocore.Array) *oocore.Array { return x.Transpose(2, 0, 1) },
		"a slice":    func(x *oocore.Array) *oocore.Array { return x.Slice("3:, 7:, 30:") },
		"scaled":     func(x *oocore.Array) *oocore.Array { return x.Mul(3).Add(1) },
	}
	for name, view := range views {
		for axis := range shape {
			if name != "as it is" && axis > 0 {
				continue
			}
			all := func(x *oocore.Array) []*oocore.Array {
				labels := oocore.RandomIntegers(oocore.Int32, 4, 0, 12, x.Shape()[axis])
				g := x.GroupBy(t.Context(), labels, oocore.GroupOptions{Groups: 13, Axis: axis})
				return []*oocore.Array{g.Sum(), g.Var(1), g.Max()}
			}
			of := all(view(stored))
			for i, a := range all(view(x)) {
				if want, got := fmt.Sprint(floats(t, a)), fmt.Sprint(floats(t, of[i], oocore.Memory(small), oocore.Workers(3))); got != want {
					t.Errorf("%s, axis %d: reduction %d differs", name, axis, i)
				}
			}
		}
	}
	g := stored.GroupBy(t.Context(), oocore.Full(int64(12), 1500), oocore.GroupOptions{Groups: 12})
	if _, err := oocore.Collect[float32](t.Context(), g.Sum(), oocore.Memory(small)); err == nil || !strings.Contains(err.Error(), "label 12 at position 0 is out of bounds for 12 groups") {
		t.Errorf("a label that is out of bounds: %v", err)
	}
}

// A reduction of windows along the first axis reads an array in small chunks hardly more than once
// whatever the budget, with the same bits.
func TestReductionsOfWindowsReadChunksOnce(t *testing.T) {
	const rows, window = 900, 31
	x := oocore.RandomNormal(oocore.Float32, 3, rows, 3, 80, 100)
	stored := saved(t, x, filepath.Join(t.TempDir(), "x.zarr"), oocore.Chunks(1, 1, 80, 100), oocore.Codec("none"), oocore.Memory(small))
	mean := stored.Rolling(oocore.ReduceMean, oocore.RollingOptions{Window: window})
	var want []float64
	for _, memory := range []string{"64MiB", "128MiB", "512MiB"} {
		out := filepath.Join(t.TempDir(), "o.npy")
		var report oocore.RunReport
		o := saved(t, mean.Sum(0).AsType(oocore.Float64), out, oocore.Memory(memory), oocore.Workers(2), oocore.Report(&report))
		if bytes := int64(rows * 3 * 80 * 100 * 4); report.Read > bytes*5/4 {
			t.Errorf("%s: %d bytes are read of %d", memory, report.Read, bytes)
		}
		got := floats(t, o)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other bits", memory)
		}
	}
	first := floats(t, stored.Slice(":, 0, 0, 0"))
	sum := 0.0
	for i := range rows - window + 1 {
		one := 0.0
		for _, v := range first[i : i+window] {
			one += v
		}
		sum += one / window
	}
	if math.Abs(want[0]-sum) > 1e-4*math.Max(1, math.Abs(sum)) {
		t.Errorf("the first sum is %v, want %v", want[0], sum)
	}
}

func TestRandomNumbersFollowTheirDistribution(t *testing.T) {
	const n = 100_000
	z := floats(t, oocore.RandomNormal(oocore.Float32, 11, n))
	var sum, squares float64
	for _, v := range z {
		sum += v
		squares += v * v
	}
	if mean, variance := sum/n, squares/n; math.Abs(mean) > 5/math.Sqrt(n) || math.Abs(variance-1) > 5*math.Sqrt(2./n) {
		t.Errorf("mean %g, variance %g", mean, variance)
	}
	order := collect[int64](t, oocore.RandomPermutation(12, 1000))
	slices.Sort(order)
	if !slices.Equal(order, collect[int64](t, oocore.Arange(0, 1000, 1))) {
		t.Error("a permutation does not have each number once")
	}
	if err := oocore.RandomIntegers(oocore.Int8, 1, 0, 200, 3).Err(); err == nil || !strings.Contains(err.Error(), "int8 does not have all integers from 0 to 199") {
		t.Errorf("%v", err)
	}
}

func TestDDofThatIsNoNumberIsRejected(t *testing.T) {
	x := oocore.FromSlice([]float64{1, 2, 3, 4})
	for _, ddof := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, y := range map[string]*oocore.Array{
			"reduce":  x.Reduce(oocore.ReduceVar, oocore.ReduceOptions{DDof: ddof}),
			"rolling": x.Rolling(oocore.ReduceStd, oocore.RollingOptions{Window: 2, DDof: ddof}),
			"groups":  x.GroupBy(t.Context(), oocore.FromSlice([]int64{0, 0, 1, 1}), oocore.GroupOptions{Groups: 2}).Var(ddof),
		} {
			if err := y.Err(); err == nil || !strings.Contains(err.Error(), "ddof") {
				t.Errorf("%s with a ddof of %v: %v", name, ddof, err)
			}
		}
	}
}
