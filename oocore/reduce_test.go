package oocore_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// NumPy's mean, var and std take no initial value either.
func TestReduceRejectsInitialWithoutJoin(t *testing.T) {
	x := oocore.FromSlice([]int64{1, 2, 6}, 3)
	for _, r := range []oocore.Reduction{oocore.ReduceMean, oocore.ReduceVar, oocore.ReduceStd} {
		for _, o := range []oocore.ReduceOptions{{}, {DType: oocore.Int64}, {DType: oocore.Int64, SkipNaN: true}, {DType: oocore.Float32}} {
			o.Initial = 5
			if err := x.Reduce(r, o).Err(); err == nil || !strings.Contains(err.Error(), "has no use for an Initial") {
				t.Errorf("%s %+v: %v", r, o, err)
			}
		}
	}
	if got := collect[int64](t, x.Reduce(oocore.ReduceSum, oocore.ReduceOptions{DType: oocore.Int64, Initial: 5})); got[0] != 14 {
		t.Errorf("sum is %v, want 14", got[0])
	}
}

// Reductions have NumPy's names, under their old constants too; both sets are numbers by which plans are encoded.
func TestReductionsHaveNumPysNames(t *testing.T) {
	for i, want := range []struct {
		name     string
		now, old oocore.Reduction
	}{
		{"sum", oocore.ReduceSum, oocore.Sum}, {"prod", oocore.ReduceProd, oocore.Prod}, {"mean", oocore.ReduceMean, oocore.Mean}, {"var", oocore.ReduceVar, oocore.Var},
		{"std", oocore.ReduceStd, oocore.Std}, {"min", oocore.ReduceMin, oocore.Min}, {"max", oocore.ReduceMax, oocore.Max}, {"argmin", oocore.ReduceArgMin, oocore.ArgMin},
		{"argmax", oocore.ReduceArgMax, oocore.ArgMax}, {"any", oocore.ReduceAny, oocore.Any}, {"all", oocore.ReduceAll, oocore.All},
		{"count_nonzero", oocore.ReduceCountNonzero, oocore.CountNonzero},
	} {
		if want.now.String() != want.name || want.old != want.now || int(want.now) != i+1 {
			t.Errorf("%s is %s with the number %d, and under its old name %s", want.name, want.now, want.now, want.old)
		}
	}
}

// The values and types are NumPy's, of max(5) and so on.
func TestReductionsOfNumbers(t *testing.T) {
	for expression, want := range map[string]float64{
		"max(5)": 5, "min(pi)": math.Pi, "argmax(3)": 0, "mean(5)": 5, "sum(2.5)": 2.5, "prod(3)": 3, "var(5)": 0, "std(2.5)": 0,
		"any(3)": 1, "all(0)": 0, "count_nonzero(7)": 1, "nanmax(5)": 5, "nanmin(2.5)": 2.5, "nanmean(2.5)": 2.5, "nanvar(2.5)": 0,
	} {
		got, err := oocore.Item[float64](t.Context(), oocore.Eval(expression, nil).AsType(oocore.Float64))
		if err != nil || got != want {
			t.Errorf("%s is %v, want %v: %v", expression, got, want, err)
		}
	}
	for expression, want := range map[string]oocore.DType{"max(5)": oocore.Int64, "min(pi)": oocore.Float64, "mean(5)": oocore.Float64, "any(3)": oocore.Bool} {
		if got := oocore.Eval(expression, nil).DType(); got != want {
			t.Errorf("%s has elements of %s, want %s", expression, got, want)
		}
	}
}
