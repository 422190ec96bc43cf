package oocore_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// named is an array in a file whose dimensions are time, y and x.
func named(t *testing.T) *oocore.Array {
	t.Helper()
	a, err := oocore.Arange(0, 60, 1).AsType(oocore.Float32).Reshape(3, 4, 5).Save(t.Context(), filepath.Join(t.TempDir(), "a.zarr"), oocore.DimNames("time", "y", "x"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestDimNamesFollowOperations(t *testing.T) {
	x := named(t)
	for expression, want := range map[string]string{
		"x": "time y x", "x*2 + 1": "time y x", `slice(x, "1, :, ::2")`: "y x", "transpose(x)": "x y time", "mean(x, 1)": "time x", `sum(x, 1, "keepdims")`: "time  x",
		"sort(x, 0)": "time y x", "argsort(x)": "time y x", "topk(x, 2, 1)": "time y x", "cumsum(x, 0)": "time y x", "diff(x, 1, 0)": "time y x", "argmax(x, 2)": "time y",
		"median(x, 0)": "y x", "quantile(x, 0.3, 2)": "time y", `quantile(x, "0.3, 0.4", 2)`: " time y", `quantile(x, 0.3, 2, "inverted_cdf", "weights", x + 1)`: "time y",
		"nanmedian(x, 0, 1)": "x", `rolling(x, "mean", 2, 0)`: "time y x", `sliding_window_view(x, 2, "axes=0")`: "time y x ", "gaussian_filter(x, 1)": "time y x", "median_filter(x, 3)": "time y x",
		"pad(x, 1)": "time y x", "roll(x, 1, 0)": "time y x", "concatenate(x, x, 0)": "time y x", "stack(x, x, 0)": " time y x", "repeat(x, 2, 1)": "time y x", "fft(x)": "time y x",
		"round(x, 1)": "time y x", "triu(x)": "time y x", "softmax(x, 0)": "time y x", "expand_dims(x, 0)": " time y x", "reshape(x, 12, 5)": "", "var(x)": "",
	} {
		a := oocore.Eval(expression, oocore.Names{"x": x})
		if got := strings.Join(a.DimNames(), " "); a.Err() != nil || got != want {
			t.Errorf("%s has the dimensions %q, want %q; %v", expression, got, want, a.Err())
		}
	}
}

func TestAxesAreGivenByName(t *testing.T) {
	x := named(t)
	for by, want := range map[string]string{
		`mean(x, "y")`: "mean(x, 1)", `sum(x, "x", "time", "keepdims")`: `sum(x, 2, 0, "keepdims")`, `transpose(x, "y", "x", "time")`: "transpose(x, 1, 2, 0)", `sort(x, "time", "descending")`: `sort(x, 0, "descending")`,
		`quantile(x, 0.3, "time", "lower")`: `quantile(x, 0.3, 0, "lower")`, `cumsum(x, "x")`: "cumsum(x, 2)", `roll(x, 1, "y")`: "roll(x, 1, 1)", `rolling(x, "mean", 2, "time")`: `rolling(x, "mean", 2, 0)`,
		`sliding_window_view(x, 2, "axes=y")`: `sliding_window_view(x, 2, "axes=1")`, `concatenate(x, x, "y")`: "concatenate(x, x, 1)", `take(x, 1, "y")`: "take(x, 1, 1)", `flip(x, "y")`: "flip(x, 1)",
	} {
		a, b := oocore.Eval(by, oocore.Names{"x": x}), oocore.Eval(want, oocore.Names{"x": x})
		same, err := oocore.Collect[bool](t.Context(), a.Equal(b).All())
		if err != nil || !slices.Equal(a.Shape(), b.Shape()) || !same[0] {
			t.Errorf("%s is not %s: %v", by, want, err)
		}
	}
	if err := oocore.Eval(`mean(x, "tme")`, oocore.Names{"x": x}).Err(); err == nil || !strings.Contains(err.Error(), "is not found in the dimensions") {
		t.Errorf("a name that no dimension has: %v", err)
	}
}
