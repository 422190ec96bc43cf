package order

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A value's place is the number of elements before it, counted one by one.
func TestSearching(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range dtype.All() {
		for _, n := range []int{1, 7, 300} {
			list := elements(rng, dt, n, n == 300)
			sorted := blockwisetest.Fill(t, Lines{Sorting: Sorting{Type: dt}, Shape: []int{n}}, []int{n}, dt, nil, blockwisetest.Array{Shape: []int{n}, DType: dt, Data: list})
			values := elements(rng, dt, 60, rng.IntN(2) == 0)
			copy(values, list[:min(len(list), len(values)/2)])
			for _, right := range []bool{false, true} {
				s := Searched{Type: dt, N: n, Right: right}
				in := []blockwisetest.Array{{Shape: []int{n}, DType: dt, Data: sorted}, {Shape: []int{6, 10}, DType: dt, Data: values}}
				short := dtype.Slice[int64](blockwisetest.Same(t, s, []int{6, 10}, dtype.Int64, in...))
				long := dtype.Slice[int64](blockwisetest.Same(t, SearchedLong{s, []int{6, 10}}, []int{6, 10}, dtype.Int64, in...))
				for i := range short {
					want := int64(0)
					both := append(slices.Clone(sorted), values[i*dt.Size():(i+1)*dt.Size()]...)
					for k := range n {
						if c := compare(dt, both, k, n); c < 0 || c == 0 && right {
							want++
						}
					}
					if short[i] != want || long[i] != want {
						t.Fatalf("%s in %d, right %v: %d and %d, want %d", dt, n, right, short[i], long[i], want)
					}
				}
			}
		}
	}
}

// A list of many pieces, with values near and far from each other, rising and falling.
func TestSearchingFar(t *testing.T) {
	rng := testcases.Rand(t)
	const n = 5*listTile + 77
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i / 3 * 2)
	}
	values := make([]int32, 300)
	for i := range values {
		values[i] = rng.Int32N(n)
		if i%2 == 0 {
			values[i] = rng.Int32N(50) + n/2
		}
	}
	fall := slices.Clone(list)
	slices.Reverse(fall)
	for _, right := range []bool{false, true} {
		for _, l := range [][]int32{list, fall} {
			s := SearchedLong{Searched{Type: dtype.Int32, N: n, Right: !right, Edges: true}, []int{300}}
			got := dtype.Slice[int64](blockwisetest.Fill(t, s, []int{300}, dtype.Int64, nil,
				blockwisetest.Array{Shape: []int{n}, DType: dtype.Int32, Data: dtype.Bytes(l)}, blockwisetest.Array{Shape: []int{300}, DType: dtype.Int32, Data: dtype.Bytes(values)}))
			for i, v := range values {
				want := int64(0) // np.digitize: edges below or at the value, or above or at it
				for _, e := range l {
					rises := l[0] < l[n-1]
					if rises && (e < v || e == v && !right) || !rises && (e > v || e == v && right) {
						want++
					}
				}
				if got[i] != want {
					t.Fatalf("right %v, falling %v: %d is in bin %d, want %d", right, l[0] > l[1], v, got[i], want)
				}
			}
		}
	}
}

func TestEdgesThatTurnAreRejected(t *testing.T) {
	edges := []float64{1, 2, 4, 3, 5}
	op := Searched{Type: dtype.Float64, N: 5, Edges: true}
	scratch := make([]byte, op.Requirements([]int{1}).Scratch)
	task := &blockwise.Task{Box: box1(1), Dst: make([]byte, 8), Scratch: scratch, Do: func(f func() error) error { return f() }, In: []blockwise.Input{memory(dtype.Bytes(edges)), memory(make([]byte, 8))}}
	if err := op.Fill(t.Context(), task); err == nil || err.Error() != "the edges of bins neither rise nor fall all along" {
		t.Errorf("%v", err)
	}
}
