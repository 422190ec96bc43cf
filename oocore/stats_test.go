package oocore_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func floats(t *testing.T, a *oocore.Array, opts ...oocore.Option) []float64 {
	t.Helper()
	v := collect[float64](t, a.AsType(oocore.Float64), append(opts, oocore.Memory(small))...)
	return v
}

// Counts of two arrays together are the sums of those of each, and in finer bins they
// add up to those of coarser ones.
func TestHistogramsAddUp(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-2, 2), 1, 200)
		one, other := values.Draw(r, "one"), values.Draw(r, "other")
		x, y := oocore.FromSlice(one, len(one)), oocore.FromSlice(other, len(other))
		n := rapid.IntRange(1, 20).Draw(r, "bins")
		bins := oocore.Bins{Count: 2 * n, Range: []float64{-1, 1.5}}
		count := func(a *oocore.Array, b oocore.Bins) *oocore.Array {
			counts, _ := a.Histogram(b, oocore.HistogramOptions{})
			return counts
		}
		together := collect[int64](t, count(oocore.Concatenate(0, x, y), bins))
		if sum := collect[int64](t, count(x, bins).Add(count(y, bins))); !slices.Equal(sum, together) {
			r.Fatalf("%v of each, %v together", sum, together)
		}
		_, edges := x.Histogram(bins, oocore.HistogramOptions{})
		coarse := collect[int64](t, count(x, oocore.Bins{Edges: edges.Slice("::2")}))
		if sum := collect[int64](t, count(x, bins).Reshape(n, 2).Sum(1)); !slices.Equal(sum, coarse) {
			r.Fatalf("%v of pairs of bins, %v of bins twice as wide", sum, coarse)
		}
		if even := collect[int64](t, count(x, oocore.Bins{Edges: edges})); !slices.Equal(even, collect[int64](t, count(x, bins))) {
			r.Fatalf("%v of the edges, %v of their number", even, collect[int64](t, count(x, bins)))
		}
	})
}

// Histograms do not depend on how an array is stored, on the budget or on the workers:
// sums of weights have the same bits.
func TestHistogramsOfChunks(t *testing.T) {
	dir := t.TempDir()
	x := oocore.Random(oocore.Float32, 3, 3000, 1100)
	w := oocore.Random(oocore.Float64, 4, 3000, 1100)
	bins := oocore.Bins{Count: 37}
	counts, edges := x.Histogram(bins, oocore.HistogramOptions{})
	weighed, _ := x.Histogram(bins, oocore.HistogramOptions{Weights: w})
	want, sums, ends := collect[int64](t, counts), floats(t, weighed), floats(t, edges)
	if total := int64(3000 * 1100); sumOf(want) != total {
		t.Errorf("%d of %d elements are in bins", sumOf(want), total)
	}
	for i, chunks := range [][]int{{3000, 7}, {11, 1100}, {500, 300}} {
		stored := saved(t, x, filepath.Join(dir, fmt.Sprint(i, ".zarr")), oocore.Chunks(chunks...), oocore.Memory(small))
		counts, edges := stored.Histogram(bins, oocore.HistogramOptions{})
		weighed, _ := stored.Histogram(bins, oocore.HistogramOptions{Weights: w})
		if !slices.Equal(collect[int64](t, counts), want) || !slices.Equal(floats(t, edges), ends) {
			t.Errorf("chunks of %v change the counts", chunks)
		}
		if !slices.Equal(floats(t, weighed, oocore.Workers(1+i)), sums) {
			t.Errorf("chunks of %v change the weights", chunks)
		}
		if transposed, _ := stored.T().Histogram(bins, oocore.HistogramOptions{}); !slices.Equal(collect[int64](t, transposed), want) {
			t.Errorf("chunks of %v, transposed, change the counts", chunks)
		}
	}
}

func sumOf(v []int64) (sum int64) {
	for _, n := range v {
		sum += n
	}
	return sum
}

// Points by two coordinates, added up along one, are those by the other; their density
// has a volume of one; and integers are counted alike as numbers and in bins.
func TestHistogramsAgree(t *testing.T) {
	x, y := oocore.Random(oocore.Float64, 5, 90_000), oocore.Random(oocore.Float32, 6, 90_000)
	bx, by := oocore.Bins{Count: 12}, oocore.Bins{Count: 5, Range: []float64{0, 1}}
	both, edgesX, edgesY := x.Histogram2D(y, bx, by, oocore.HistogramOptions{})
	alone, edges := x.Histogram(bx, oocore.HistogramOptions{})
	if !slices.Equal(floats(t, both.Sum(1)), floats(t, alone)) || !slices.Equal(floats(t, edges), floats(t, edgesX)) {
		t.Error("one coordinate of two is counted otherwise than alone")
	}
	density, _, _ := x.Histogram2D(y, bx, by, oocore.HistogramOptions{Density: true})
	volume := floats(t, density.Mul(edgesX.Diff(1, 0).Reshape(-1, 1)).Mul(edgesY.Diff(1, 0)).Sum())
	if math.Abs(volume[0]-1) > 1e-12 {
		t.Errorf("the density has a volume of %v", volume)
	}
	i := x.Mul(100).Floor().AsType(oocore.Int16)
	counts, _ := i.Histogram(oocore.Bins{Edges: oocore.Arange(0, 121, 1)}, oocore.HistogramOptions{Weights: y})
	numbers := i.Bincount(t.Context(), oocore.BincountOptions{Weights: y, MinLength: 120}, oocore.Memory(small))
	for k, v := range floats(t, counts.AsType(oocore.Float64).Sub(numbers)) {
		if math.Abs(v) > 1e-4 { // float32 against float64
			t.Errorf("number %d weighs %v more in bins", k, v)
		}
	}
}

// A budget that the bins do not fit into is rejected before anything is read, and the
// one that is named does.
func TestBinsBeyondTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of edges, each computed alone, take the race detector 20 s")
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	saved(t, oocore.Random(oocore.Float64, 1, 4<<20), path, oocore.Memory(small))
	counts, _ := oocore.Open(path).Histogram(oocore.Bins{Count: 8 << 20, Range: []float64{0, 1}}, oocore.HistogramOptions{})
	_, err := counts.Max().Save(t.Context(), path+".max.npy", oocore.Memory("96MiB"))
	var short *oocore.MemoryError
	if !errors.As(err, &short) || short.Need < 128<<20 { // bins and edges
		t.Fatalf("within 96 MiB: %v", err)
	}
	if _, err := counts.Sum().Save(t.Context(), path+".sum.npy", oocore.Memory(fmt.Sprint(short.Need+32<<20))); err != nil {
		t.Errorf("within %d bytes and what this process has grown by: %v", short.Need, err)
	}
	if n := collect[int64](t, oocore.Open(path+".sum.npy")); n[0] != 4<<20 {
		t.Errorf("%d elements are in bins", n)
	}
}

// Reductions that leave NaN out are those of what is left, and of an array without NaN
// the same as any.
func TestSkippedNaN(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-9, 9), 1, 50).Draw(r, "values")
		holes := rapid.SliceOfN(rapid.Bool(), len(values), len(values)).Draw(r, "holes")
		var left []float64
		holed := slices.Clone(values)
		for i, hole := range holes {
			if hole {
				holed[i] = math.NaN()
			} else {
				left = append(left, values[i])
			}
		}
		x, mask := oocore.FromSlice(holed, len(holed)), oocore.FromSlice(holes, len(holes)).LogicalNot()
		for _, kind := range []oocore.Reduction{oocore.ReduceSum, oocore.ReduceProd, oocore.ReduceMean, oocore.ReduceVar, oocore.ReduceStd, oocore.ReduceMin, oocore.ReduceMax} {
			got := floats(t, x.Reduce(kind, oocore.ReduceOptions{SkipNaN: true}))[0]
			want := math.NaN()
			switch {
			case len(left) > 0:
				want = floats(t, oocore.FromSlice(left, len(left)).Reduce(kind, oocore.ReduceOptions{}))[0]
			case kind == oocore.ReduceSum:
				want = 0
			case kind == oocore.ReduceProd:
				want = 1
			}
			if same := got != got && want != want || math.Abs(got-want) <= 1e-12*math.Abs(want)+1e-15; !same {
				r.Fatalf("%s of %v without NaN: %v, want %v", kind, holed, got, want)
			}
			if len(left) == 0 {
				continue
			}
			// A mask leaves out the same.
			whole := oocore.FromSlice(values, len(values))
			if masked := floats(t, whole.Reduce(kind, oocore.ReduceOptions{Where: mask}))[0]; masked != got {
				r.Fatalf("%s of %v where %v: %v, want %v", kind, values, holes, masked, got)
			}
			if masked := floats(t, whole.Reduce(kind, oocore.ReduceOptions{Where: mask, SkipNaN: true}))[0]; masked != got {
				r.Fatalf("%s of %v where %v and not NaN: %v, want %v", kind, values, holes, masked, got)
			}
		}
	})
	_, err := oocore.Collect[int64](t.Context(), oocore.Full(math.NaN(), 3).Reduce(oocore.ReduceArgMin, oocore.ReduceOptions{SkipNaN: true}), oocore.Memory(small))
	if err == nil || !strings.Contains(err.Error(), "there are only NaN") {
		t.Errorf("the place of the smallest of three NaN: %v", err)
	}
	for _, kind := range []oocore.Reduction{oocore.ReduceAny, oocore.ReduceAll, oocore.ReduceCountNonzero} {
		if oocore.Full(1.0, 3).Reduce(kind, oocore.ReduceOptions{SkipNaN: true}).Err() == nil {
			t.Errorf("%s leaves out NaN, which are true", kind)
		}
	}
}

// Covariances move with the variables: not by what is added to them, and by the product
// of what they are multiplied by. Correlations do neither.
func TestCovariancesMove(t *testing.T) {
	x := oocore.Random(oocore.Float64, 9, 400, 6)
	y := x.Mul(oocore.FromSlice([]float64{1, 2, 3, -4, 5, 6}, 6)).Add(1e6)
	scale := oocore.FromSlice([]float64{1, 2, 3, -4, 5, 6}, 6)
	options := oocore.CovOptions{Columns: true}
	want := floats(t, x.Cov(nil, options).Mul(scale).Mul(scale.Reshape(6, 1)))
	for i, v := range floats(t, y.Cov(nil, options)) {
		if math.Abs(v-want[i]) > 1e-8 {
			t.Errorf("covariance %d is %v, want %v", i, v, want[i])
		}
	}
	variances := floats(t, x.Reduce(oocore.ReduceVar, oocore.ReduceOptions{Axes: []int{0}, DDof: 1}))
	for i, v := range floats(t, x.Cov(nil, options).Diagonal(0, 0, 1)) {
		if math.Abs(v-variances[i]) > 1e-15 {
			t.Errorf("the covariance of variable %d with itself is %v, its variance %v", i, v, variances[i])
		}
	}
	same := floats(t, x.Corrcoef(nil, true).Sub(y.Corrcoef(nil, true).Mul(oocore.FromSlice([]float64{1, 1, 1, -1, 1, 1}, 6)).Mul(oocore.FromSlice([]float64{1, 1, 1, -1, 1, 1}, 6, 1))))
	for i, v := range same {
		if math.Abs(v) > 1e-9 {
			t.Errorf("correlation %d changes by %v", i, v)
		}
	}
	// Of two operands it is that of both together.
	parts := floats(t, x.Slice(":, :2").Cov(x.Slice(":, 2:"), options).Sub(x.Cov(nil, options)))
	for i, v := range parts {
		if v != 0 {
			t.Errorf("covariance %d of two operands is off by %v", i, v)
		}
	}
	// Equal weights do not matter.
	equal := floats(t, x.Average(oocore.Full(2.5, 400), 0).Sub(x.Mean(0)))
	for i, v := range equal {
		if math.Abs(v) > 1e-15 {
			t.Errorf("average %d with equal weights is off by %v", i, v)
		}
	}
}
