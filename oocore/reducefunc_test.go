package oocore_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// span is a state with parts of different sizes, and padding.
type span struct {
	least, most float32
	count       [3]int64
	seen        bool
}

func spanOf(a *oocore.Array, axes ...int) *oocore.Array {
	return oocore.ReduceFunc(
		func() span { return span{least: float32(math.Inf(1)), most: float32(math.Inf(-1))} },
		func(s *span, x float32) {
			s.count[int(x)%3]++
			s.least, s.most, s.seen = min(s.least, x), max(s.most, x), true
		},
		func(s, t *span) {
			for i, n := range t.count {
				s.count[i] += n
			}
			s.least, s.most, s.seen = min(s.least, t.least), max(s.most, t.most), s.seen || t.seen
		},
		func(s *span) float64 {
			if !s.seen {
				return -1
			}
			return float64(s.most-s.least) + float64(s.count[1]+10*s.count[2])/1e9
		}, a, axes...)
}

// A reduction by functions is that of arrays' own operations, along any axes, in any chunks.
func TestReduceFuncIsReductionsOfItsParts(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	for i, c := range []struct {
		shape, chunks []int
		axes          [][]int
	}{
		{[]int{7}, nil, [][]int{nil, {0}}},
		{[]int{}, nil, [][]int{nil}},
		{[]int{40, 30, 20}, []int{7, 11, 13}, [][]int{nil, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {-1, 0}}},
		{[]int{2, 1_100_000}, nil, [][]int{nil, {0}, {1}}},           // more than a chunk along an axis
		{[]int{130_000, 3}, []int{5_000, 3}, [][]int{nil, {0}, {1}}}, // in many chunks
		{[]int{0, 4}, nil, [][]int{nil, {0}, {1}}},                   // of nothing
	} {
		x := oocore.RandomIntegers(oocore.Int32, uint64(i), 0, 1000, c.shape...).AsType(oocore.Float32)
		if c.chunks != nil {
			shards := slices.Clone(c.chunks) // one file
			for d, n := range c.shape {
				shards[d] *= (n + shards[d] - 1) / shards[d]
			}
			stored := saved(t, x, filepath.Join(dir, fmt.Sprint(i)+".zarr"), oocore.Chunks(c.chunks...), oocore.Codec("none"), oocore.Shards(shards...))
			x = stored
		}
		for _, axes := range c.axes {
			got, err := oocore.Collect[float64](t.Context(), spanOf(x, axes...), oocore.Memory("128MiB"))
			if err != nil {
				t.Errorf("%v along %v: %v", c.shape, axes, err)
				continue
			}
			if slices.Contains(c.shape, 0) {
				if want := make([]float64, len(got)); slices.Contains(got, 0) || len(want) != spanOf(x, axes...).Size() {
					t.Errorf("%v along %v is %v, want -1", c.shape, axes, got)
				}
				continue
			}
			n := x.Mod(3)
			count := func(v int) *oocore.Array { return n.Equal(v).AsType(oocore.Float64).Sum(axes...) }
			want, err := oocore.Collect[float64](t.Context(), x.Max(axes...).Sub(x.Min(axes...)).Add(count(1).Add(count(2).Mul(10.0)).Div(1e9)), oocore.Memory("128MiB"))
			if err != nil || len(got) != len(want) {
				t.Fatalf("%v along %v: %v", c.shape, axes, err)
			}
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-9 {
					t.Errorf("%v along %v: element %d is %v, want %v", c.shape, axes, i, got[i], want[i])
					break
				}
			}
		}
	}
}

func TestReduceFuncRejects(t *testing.T) {
	x := oocore.FromSlice([]float32{1, 2})
	of := func(a *oocore.Array, axes ...int) *oocore.Array { return spanOf(a, axes...) }
	for words, a := range map[string]*oocore.Array{
		"the function takes float32 elements, the array has int64": of(oocore.FromSlice([]int64{1})),
		"axis 1 is out of bounds":                                  of(x, 1),
		"axis 0 is named twice":                                    of(x, 0, 0),
		"the function is nil": oocore.ReduceFunc[int](nil, func(*int, float32) {},
			func(_, _ *int) {}, func(s *int) int64 { return int64(*s) }, x),
		"has parts that do not lie in it": oocore.ReduceFunc(func() []int { return nil }, func(*[]int, float32) {},
			func(_, _ *[]int) {}, func(*[]int) int64 { return 0 }, x),
	} {
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "reducefunc_test.go") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// The order in which parts are merged, and with it the last bits, do not depend on the budget.
func TestReduceFuncHasOneResultForEveryBudget(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.Random(oocore.Float32, 1, 3000, 1000)
	var first []float32
	for _, budget := range []string{"64MiB", "512MiB"} {
		sum := oocore.ReduceFunc(func() float32 { return 0 }, func(s *float32, x float32) { *s += x },
			func(s, t *float32) { *s += *t }, func(s *float32) float32 { return *s }, x, 0)
		got := collect[float32](t, sum, oocore.Memory(budget))
		if first == nil {
			first = got
		} else if !slices.Equal(got, first) {
			t.Errorf("with %s the sums are others", budget)
		}
	}
}

// Many parts with large states are merged in several steps.
func TestReduceFuncMergesLargeStatesOfManyParts(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	const n = 12_000_000 // 46 parts, of which 32 are merged at a time
	sum := oocore.ReduceFunc(func() (s [1 << 13]int64) { return },
		func(s *[1 << 13]int64, x int64) { s[x%(1<<13)]++ },
		func(s, t *[1 << 13]int64) {
			for i, n := range t {
				s[i] += n
			}
		},
		func(s *[1 << 13]int64) (sum int64) {
			for i, n := range s {
				sum += int64(i) * n
			}
			return sum
		}, oocore.Arange(0, n, 1))
	got, err := oocore.Item[int64](t.Context(), sum, oocore.Memory("128MiB"))
	whole, rest := int64(n>>13), int64(n%(1<<13))
	if want := whole*(1<<13)*(1<<13-1)/2 + rest*(rest-1)/2; err != nil || got != want {
		t.Errorf("%d, want %d: %v", got, want, err)
	}
}
