package oocore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

func TestSetMaskPutsAListInItsOrder(t *testing.T) {
	x := oocore.Arange(0, 6, 1).Reshape(2, 3)
	mask := oocore.FromSlice([]bool{true, false, true, false, false, true}, 2, 3)
	if got := collect[int64](t, x.SetMask(mask, oocore.FromSlice([]int64{-1, -2, -3}))); !slices.Equal(got, []int64{-1, 1, -2, 3, 4, -3}) {
		t.Errorf("%v", got)
	}
	if got := collect[int64](t, x.SetMask(mask, 9)); !slices.Equal(got, []int64{9, 1, 9, 3, 4, 9}) {
		t.Errorf("%v", got)
	}
	_, err := oocore.Collect[int64](t.Context(), x.SetMask(mask, oocore.FromSlice([]int64{1, 2})), oocore.Memory(small))
	if err == nil || !strings.Contains(err.Error(), "2 values are not for as many elements as the mask selects") {
		t.Errorf("two values for three places: %v", err)
	}
}

func TestSetAtTakesTheLastOfSeveral(t *testing.T) {
	x := oocore.Arange(0, 5, 1)
	at := oocore.FromSlice([]int64{1, -1, 1})
	if got := collect[int64](t, x.SetAt(at, oocore.FromSlice([]int64{10, 20, 30}), 0)); !slices.Equal(got, []int64{0, 30, 2, 3, 20}) {
		t.Errorf("%v", got)
	}
	if _, err := oocore.Collect[int64](t.Context(), x.SetAt(at.Add(9), 0, 0), oocore.Memory(small)); err == nil {
		t.Error("an index beyond the array is accepted")
	}
}

func TestDeleteUndoesInsert(t *testing.T) {
	x := oocore.Arange(0, 12, 1).Reshape(3, 4)
	wide := x.Insert([]int{0, 4, 2}, -1, 1)
	if got := collect[int64](t, wide.Slice("0")); !slices.Equal(got, []int64{-1, 0, 1, -1, 2, 3, -1}) {
		t.Errorf("%v", got)
	}
	if got := collect[int64](t, wide.Delete(1, 0, 3, 6)); !slices.Equal(got, collect[int64](t, x)) {
		t.Errorf("%v", got)
	}
	if err := x.Delete(1, 4).Err(); err == nil || !strings.Contains(err.Error(), "index 4 is out of bounds for axis 1 with size 4") {
		t.Errorf("%v", err)
	}
}

func TestSelectTakesTheFirstThatIsTrue(t *testing.T) {
	x := oocore.Arange(0, 5, 1)
	got := collect[int64](t, oocore.Select([]*oocore.Array{x.Less(2), x.Less(4)}, []any{x.Mul(10), -1}, 7))
	if !slices.Equal(got, []int64{0, 10, -1, -1, 7}) {
		t.Errorf("%v", got)
	}
}

func TestBlocksPutsRowsBelowEachOther(t *testing.T) {
	one, two := oocore.Full(1, 1, 2), oocore.Full(2, 1, 1)
	got := collect[int64](t, oocore.Blocks([][]*oocore.Array{{one, two}, {two, one}}))
	if !slices.Equal(got, []int64{1, 1, 2, 2, 1, 1}) {
		t.Errorf("%v", got)
	}
}

func TestFrexpAndLdexpAreInverse(t *testing.T) {
	x := oocore.FromSlice([]float64{0.75, -12, 0, 5e-324, 1e300})
	mantissa, exponent := x.Frexp()
	if got := floats(t, mantissa.Ldexp(exponent)); !slices.Equal(got, floats(t, x)) {
		t.Errorf("%v", got)
	}
	if m := floats(t, mantissa); m[1] != -0.75 || m[0] != 0.75 {
		t.Errorf("mantissas %v", m)
	}
}

func TestReduceOfNoAxesReducesEachElement(t *testing.T) {
	x := oocore.FromSlice([]int8{100, -100})
	if got := collect[int64](t, x.Reduce(oocore.ReduceSum, oocore.ReduceOptions{NoAxes: true})); !slices.Equal(got, []int64{100, -100}) {
		t.Errorf("%v", got)
	}
}

func TestWeightedQuantileCountsWeights(t *testing.T) {
	x := oocore.FromSlice([]float64{3, 1, 2})
	got := floats(t, x.Quantiles([]float64{0.1, 0.5, 1}, oocore.QuantileOptions{Method: "inverted_cdf", Weights: oocore.FromSlice([]int64{1, 1, 8})}))
	if !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	if err := x.MedianWith(oocore.QuantileOptions{Weights: x}).Err(); err == nil || !strings.Contains(err.Error(), "inverted_cdf takes weights") {
		t.Errorf("%v", err)
	}
}

// The indices of a slice follow from lengths alone, so that a plan needs no values and a
// long slice no pass of its own.
func TestInsertOfSliceIsPlanned(t *testing.T) {
	const n = 300_000 // 150,000 indices
	long := oocore.Eval(`insert(x, "::-2", v, 0)`, oocore.Names{"x": oocore.Arange(0, n, 1), "v": oocore.Arange(n, n+n/2, 1)})
	if p, err := long.Plan(""); err != nil || len(p.Stages) != 1 {
		t.Errorf("%v: %v", p, err)
	}
	got := collect[int64](t, long) // 0, n+149999, 1, 2, n+149998, 3, …
	for i, v := range got {
		want := int64(i/3*2 + i%3)
		switch i % 3 {
		case 1:
			want = int64(n + n/2 - 1 - i/3)
		case 2:
			want--
		}
		if v != want {
			t.Fatalf("element %d is %d, not %d", i, v, want)
		}
	}
	x := oocore.Arange(0, 10, 1)
	for spec, want := range map[string]int{"2:8": 16, "8:2:-2": 13, "5:5": 10} {
		a := oocore.EvalContext(t.Context(), `insert(x, "`+spec+`", 0, 0)`, oocore.Names{"x": x}, host.PlanOnly())
		if a.Err() != nil || a.Shape()[0] != want {
			t.Errorf("%s: shape %v, %v", spec, a.Shape(), a.Err())
		}
	}
}
