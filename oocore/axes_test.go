package oocore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Rows are 0 1 2 and 3 4 5.
func TestAxesHaveNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr")
	save(t, oocore.Arange(0, 6, 1.0).Reshape(2, 3), path, oocore.DimNames("time", "keepdims"))
	x := oocore.Open(path)
	axis, err := x.Add(1).Axis("time")
	if err != nil || axis != 0 || !slices.Equal(x.T().DimNames(), []string{"keepdims", "time"}) {
		t.Fatalf("axis %d, %v; names of the transpose are %q", axis, err, x.T().DimNames())
	}
	for expression, want := range map[string][]float64{
		`mean(x, "time")`:                              {1.5, 2.5, 3.5},
		`sum(x * 2, "time", "keepdims")`:               {6, 10, 14},
		`max(transpose(x), "time")`:                    {3, 4, 5},
		`cumsum(x, "time")`:                            {0, 1, 2, 3, 5, 7},
		`flip(x, "time")`:                              {3, 4, 5, 0, 1, 2},
		`ravel(moveaxis(x, "time", -1))`:               {0, 3, 1, 4, 2, 5},
		`groupby(x, arange(1, -1, -1), "sum", "time")`: {3, 4, 5, 0, 1, 2},
	} {
		got, err := oocore.Collect[float64](t.Context(), oocore.Eval(expression, oocore.Names{"x": x}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v, %v, want %v", expression, got, err, want)
		}
	}
}

func TestAxesRejectNamesThatAreNotTheArrays(t *testing.T) {
	dir := t.TempDir()
	path, plain := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "plain.npy")
	save(t, oocore.Ones(oocore.Float64, 2, 3), path, oocore.DimNames("y", "x"))
	save(t, oocore.Ones(oocore.Float64, 2, 3), plain)
	twice := filepath.Join(dir, "twice.zarr")
	save(t, oocore.Ones(oocore.Float64, 2, 3), twice, oocore.DimNames("y", "x"))
	text := testcases.ReadFile(t, filepath.Join(twice, "zarr.json"))
	repeated := strings.Replace(string(text), `"x"`, `"y"`, 1)
	if err := os.WriteFile(filepath.Join(twice, "zarr.json"), []byte(repeated), 0o600); err != nil || repeated == string(text) {
		t.Fatalf("%v, %s", err, text)
	}
	for _, c := range []struct{ path, name, expression, says string }{
		{path, "time", `mean(x, "time")`, `"time" is not found in the dimensions ["y" "x"]`},
		{plain, "y", `mean(x, "y")`, `mean does not take "y"`},
		{twice, "y", `mean(x, "y")`, `"y" names several`},
	} {
		x := oocore.Open(c.path)
		if err := oocore.Eval(c.expression, oocore.Names{"x": x}).Err(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s: %v, want %q", c.expression, c.path, err, c.says)
		}
		if _, err := x.Axis(c.name); err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), "axes_test.go") {
			t.Errorf("axis %q of %s: %v", c.name, c.path, err)
		}
	}
}
