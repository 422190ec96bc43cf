package stats

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func listed[T dtype.Element](v []T, shape ...int) blockwisetest.Array {
	if len(shape) == 0 {
		shape = []int{len(v)}
	}
	return blockwisetest.Array{Shape: shape, DType: dtype.Of[T](), Data: dtype.Bytes(v)}
}

// summed are the counts of all parts.
func summed[T int64 | float64](s Count, groups []byte) []T {
	out := make([]T, s.bins())
	for i, v := range dtype.Slice[T](groups) {
		out[i%len(out)] += v
	}
	return out
}

// binOf is the bin of an element, looked for one by one.
func binOf(x float64, edges []float64) int {
	for i := range len(edges) - 1 {
		if last := i == len(edges)-2; x >= edges[i] && (x < edges[i+1] || last && x == edges[i+1]) {
			return i
		}
	}
	return -1
}

// Elements at edges and right beside them are in the bins that NumPy says, whether the
// edges are looked for by halves or by distance.
func TestElementsNearEdges(t *testing.T) {
	rng := testcases.Rand(t)
	for range 200 {
		low, bins := rng.NormFloat64()*100, 1+rng.IntN(50)
		width := max(math.Exp(rng.NormFloat64()*8), 1e-9) // narrower ones have not as many floats as bins
		between := EvenEdges{Bins: bins, Type: dtype.Float64, Range: []float64{low, low + width}}
		edges := dtype.Slice[float64](blockwisetest.Same(t, between, []int{bins + 1}, dtype.Float64))
		x := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -math.MaxFloat64, math.MaxFloat64}
		for _, e := range edges {
			x = append(x, e, math.Nextafter(e, math.Inf(1)), math.Nextafter(e, math.Inf(-1)))
		}
		want := make([]int64, bins)
		for _, v := range x {
			if b := binOf(v, edges); b >= 0 {
				want[b]++
			}
		}
		for _, even := range []bool{true, false} {
			s := Count{Shape: []int{len(x)}, Type: dtype.Float64, Bins: []int{bins}, Even: []bool{even}}
			got := dtype.Slice[int64](blockwisetest.Same(t, s, []int{1, bins}, dtype.Int64, listed(x), listed(edges)))
			if !slices.Equal(got, want) {
				t.Fatalf("%d bins from %v, %v wide, even %v: %v, want %v", bins, low, width, even, got, want)
			}
		}
	}
}

// Distances beyond the range of floats do not lead astray.
func TestEdgesFarApart(t *testing.T) {
	for _, edges := range [][]float64{{-math.MaxFloat64, 0, math.MaxFloat64}, {0, 5e-324, 1e-323}, {math.Inf(-1), 0, math.Inf(1)}} {
		x := append(slices.Clone(edges), -1, 1)
		want := make([]int64, 2)
		for _, v := range x {
			if b := binOf(v, edges); b >= 0 {
				want[b]++
			}
		}
		s := Count{Shape: []int{5}, Type: dtype.Float64, Bins: []int{2}, Even: []bool{true}}
		if got := dtype.Slice[int64](blockwisetest.Fill(t, s, []int{1, 2}, dtype.Int64, nil, listed(x), listed(edges))); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", edges, got, want)
		}
	}
}

// Parts of the elements are cut from the longest axis, and have all elements between
// them.
func TestPartsHaveAllElements(t *testing.T) {
	rng := testcases.Rand(t)
	for _, shape := range [][]int{{3 << 20}, {5, 1 << 19}, {1 << 19, 5}, {1, 1}, {200, 100, 101}} {
		n := grid.Size(shape)
		x := make([]int64, n)
		want := make([]int64, 1000)
		for i := range x {
			x[i] = int64(rng.IntN(1000))
			want[x[i]]++
		}
		s := Count{Shape: shape, Type: dtype.Int64, Bins: []int{1000}, Numbers: true}
		if big := n > 2<<20; big && s.groups() < 2 || s.groups() > groupsMost {
			t.Errorf("%v has %d parts", shape, s.groups())
		}
		got := summed[int64](s, blockwisetest.Fill(t, s, []int{s.groups(), 1000}, dtype.Int64, nil, listed(x, shape...)))
		if !slices.Equal(got, want) {
			t.Errorf("%v: %d parts count otherwise", shape, s.groups())
		}
	}
}

// Sums of weights that lose most of their digits are as if added in many more.
func TestWeightsAreCompensated(t *testing.T) {
	rng := testcases.Rand(t)
	const n, bins = 20_000, 7
	x, w := make([]int64, n), make([]float64, n)
	want := make([]*big.Float, bins)
	for b := range want {
		want[b] = new(big.Float).SetPrec(400)
	}
	for i := range x {
		x[i], w[i] = int64(rng.IntN(bins)), math.Ldexp(rng.Float64()-0.5, rng.IntN(100)-50)
		want[x[i]].Add(want[x[i]], new(big.Float).SetFloat64(w[i]))
	}
	s := Count{Shape: []int{n}, Type: dtype.Int64, Bins: []int{bins}, Numbers: true, Weights: dtype.Float64}
	for b, got := range summed[float64](s, blockwisetest.Fill(t, s, []int{s.groups(), bins}, dtype.Float64, nil, listed(x), listed(w))) {
		if f, _ := want[b].Float64(); math.Abs(got-f) > math.Abs(f)*1e-15 {
			t.Errorf("bin %d weighs %v, want %v", b, got, f)
		}
	}
	w[5] = math.Inf(1)
	got := summed[float64](s, blockwisetest.Fill(t, s, []int{s.groups(), bins}, dtype.Float64, nil, listed(x), listed(w)))
	if !math.IsInf(got[x[5]], 1) {
		t.Errorf("with an infinite weight it is %v", got[x[5]])
	}
}

// Points are counted where both of their coordinates are.
func TestPointsOfTwoCoordinates(t *testing.T) {
	x, y := []float32{0.5, 1.5, 1.5, 9, 2, 0}, []float32{10, 10, 30, 10, 30, -1}
	s := Count{Shape: []int{6}, Type: dtype.Float32, Bins: []int{2, 2}, Even: []bool{false, true}}
	got := blockwisetest.Same(t, s, []int{1, 4}, dtype.Int64, listed(x), listed(y), listed([]float32{0, 1, 2}), listed([]float32{0, 20, 40}))
	if want := []int64{1, 0, 1, 2}; !slices.Equal(dtype.Slice[int64](got), want) {
		t.Errorf("%v, want %v", dtype.Slice[int64](got), want)
	}
}

// What is held besides the elements is the bins and the edges.
func TestNeedIsTheBins(t *testing.T) {
	s := Count{Shape: []int{1e9, 512}, Type: dtype.Float64, Bins: []int{1e6}, Even: []bool{true}}
	if got, most := s.Requirements(nil).Scratch, int64(8e6+2*tileBytes); got > most {
		t.Errorf("edges and elements take %d bytes, more than %d", got, most)
	}
	if got := grid.Size(s.Chunks()); got != 1e6 {
		t.Errorf("a part has %d counts", got)
	}
	s.Weights = dtype.Float64
	if got, most := s.Requirements(nil).Scratch, int64(16e6+3*tileBytes); got > most {
		t.Errorf("with weights they take %d bytes, more than %d", got, most)
	}
	// What parts write is little compared with the elements.
	if written := s.groups() * s.bins() * 8; written > grid.Size(s.Shape)*8/4 {
		t.Errorf("%d parts write %d bytes", s.groups(), written)
	}
}

// memory is an input that is read as a whole.
type memory []byte

func (m memory) Read(_ context.Context, _ grid.Box, dst []byte) error {
	copy(dst, m)
	return nil
}

// failed is the error of a box, of elements of 8 bytes.
func failed(t *testing.T, op blockwise.Op, shape []int, in ...blockwisetest.Array) error {
	t.Helper()
	task := &blockwise.Task{Box: grid.Entire(shape), Dst: make([]byte, grid.Size(shape)*8), Scratch: make([]byte, op.Requirements(shape).Scratch), Do: func(f func() error) error { return f() }}
	for _, a := range in {
		task.In = append(task.In, memory(a.Data))
	}
	return op.Fill(t.Context(), task)
}

func TestWhatValuesSay(t *testing.T) {
	count := Count{Shape: []int{3}, Type: dtype.Int64, Bins: []int{2}}
	numbers := count
	numbers.Numbers = true
	count.Even = []bool{false}
	three := listed([]int64{0, 1, 2})
	number := func(v float64) blockwisetest.Array {
		return blockwisetest.Array{Shape: []int{}, DType: dtype.Float64, Data: dtype.Bytes([]float64{v})}
	}
	for want, err := range map[string]error{
		"rise all along":                  failed(t, count, []int{1, 2}, three, listed([]int64{0, 2, 1})),
		"not the number of one of 2 bins": failed(t, numbers, []int{1, 2}, three),
		"is not finite: give a range":     failed(t, EvenEdges{Bins: 3, Type: dtype.Float64}, []int{4}, number(0), number(math.Inf(1))),
		"3 bins are too many":             failed(t, EvenEdges{Bins: 3, Type: dtype.Float64}, []int{4}, number(1), number(math.Nextafter(1, 2))),
		"not this":                        failed(t, graph.FailIf{Type: dtype.Int64, Reason: "not this"}, []int{2}, listed([]bool{false, true}), listed([]int64{1, 2})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
	if err := failed(t, graph.FailIf{Type: dtype.Int64, Reason: "not this"}, []int{2}, listed([]bool{false, false}), listed([]int64{1, 2})); err != nil {
		t.Error(err)
	}
}

// What shapes and types say is rejected at once, with what to do.
func TestRejections(t *testing.T) {
	x := of(t, dtype.Float32, 3, 4)
	z := of(t, dtype.Complex64, 4)
	list := of(t, dtype.Int32, 5)
	for want, f := range map[string]func() (*graph.Node, error){
		"histogram: takes one bin or more, not 0": func() (*graph.Node, error) { return first(Histogram(graph.Site{}, x, Bins{}, HistogramOptions{})) },
		"histogram: a range is two numbers, not 1": func() (*graph.Node, error) {
			return first(Histogram(graph.Site{}, x, Bins{Count: 3, Range: []float64{1}}, HistogramOptions{}))
		},
		"histogram: takes a number of bins or their edges, not both": func() (*graph.Node, error) {
			return first(Histogram(graph.Site{}, x, Bins{Count: 3, Edges: list}, HistogramOptions{}))
		},
		"histogram: edges of shape (3, 4) are no list": func() (*graph.Node, error) {
			return first(Histogram(graph.Site{}, x, Bins{Edges: x}, HistogramOptions{}))
		},
		"histogram: weights of shape (5,) are not those of elements of shape (3, 4)": func() (*graph.Node, error) {
			return first(Histogram(graph.Site{}, x, Bins{Count: 3}, HistogramOptions{Weights: list}))
		},
		"histogram: takes real numbers, not complex64": func() (*graph.Node, error) {
			return first(Histogram(graph.Site{}, z, Bins{Count: 3}, HistogramOptions{}))
		},
		"bincount: takes a list, not an array of shape (3, 4): Reshape(-1) first": func() (*graph.Node, error) {
			return Bincount(graph.Site{}, BincountArgs{Run: func(*graph.Node) ([]int64, error) { return nil, nil }, X: x, MinLength: 0})
		},
		"bincount: counts numbers from zero on, and there is a -3": func() (*graph.Node, error) {
			return Bincount(graph.Site{}, BincountArgs{Run: func(*graph.Node) ([]int64, error) { return []int64{-3, 5}, nil }, X: list, MinLength: 0})
		},
		"bincount: no": func() (*graph.Node, error) {
			return Bincount(graph.Site{}, BincountArgs{Run: func(*graph.Node) ([]int64, error) { return nil, errors.New("no") }, X: list, MinLength: 0})
		},
		"average: weights of shape (5,) are not those of elements of shape (3, 4): give the axes that they are along": func() (*graph.Node, error) { return Average(graph.Site{}, AverageArgs{X: x, Weights: list}) },
		"average: weights of shape (5,) are not those of axes of lengths (4,)": func() (*graph.Node, error) {
			return Average(graph.Site{}, AverageArgs{X: x, Weights: list, Axes: []int{1}})
		},
		"cov: 4 observations meet 5": func() (*graph.Node, error) { return Cov(graph.Site{}, x, list, CovOptions{}) },
	} {
		if _, err := f(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func first(n, _ *graph.Node, err error) (*graph.Node, error) { return n, err }

func of(t *testing.T, dt dtype.Type, shape ...int) *graph.Node {
	t.Helper()
	n, err := graph.FromBytes(graph.Site{}, make([]byte, grid.Size(shape)*dt.Size()), dt, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
