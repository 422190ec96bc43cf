package interchange

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestWorkByLabelIsXarrays selects, groups and resamples what xarray has written, by labels of six calendars: values and the labels
// of results are xarray's.
func TestWorkByLabelIsXarrays(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	var cases []struct {
		Expression, Path, Want, Calendar, Wanted, Bins, At string
		Labels                                             map[string]json.RawMessage
	}
	if err := json.Unmarshal(run(t, python, "labels_check.py", dir, strconv.FormatUint(testcases.Seed(t), 10)), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 300 {
		t.Errorf("%d cases are too few", len(cases))
	}
	for _, c := range cases {
		names := oocore.Names{}
		for name, path := range map[string]string{"x": c.Path, "w": c.Wanted, "bins": c.Bins, "at": c.At} {
			names[name] = oocore.Open(filepath.Join(dir, path))
		}
		got := oocore.Eval(c.Expression, names)
		want := oocore.Open(filepath.Join(dir, c.Want))
		if got.Err() != nil || !slices.Equal(got.Shape(), want.Shape()) {
			t.Errorf("%s of %s: %v, want %v", c.Expression, c.Path, got, want)
			continue
		}
		a, err := oocore.Collect[float64](t.Context(), got.AsType(oocore.Float64))
		if err != nil {
			t.Errorf("%s of %s: %v", c.Expression, c.Path, err)
			continue
		}
		b, _ := oocore.Collect[float64](t.Context(), want.AsType(oocore.Float64))
		for i := range b {
			if math.Abs(a[i]-b[i]) > 1e-5*(1+math.Abs(b[i])) || math.IsNaN(a[i]) != math.IsNaN(b[i]) {
				t.Errorf("%s of %s (%s): element %d is %v, want %v", c.Expression, c.Path, c.Calendar, i, a[i], b[i])
				break
			}
		}
		if c.Expression[:1] == "x" || reflect.DeepEqual(c.Labels, map[string]json.RawMessage{}) {
			continue
		}
		for dim, raw := range c.Labels {
			checkLabels(t, c.Expression+" of "+c.Path, got, dim, raw)
		}
		for _, dim := range got.DimNames() {
			if _, has := c.Labels[dim]; !has && dim != "season" && dim != "" && got.Coord(dim).Err() == nil {
				t.Errorf("%s of %s has labels along %q, and xarray has none", c.Expression, c.Path, dim)
			}
		}
	}
}

// checkLabels compares labels with numbers, or with the fields of dates.
func checkLabels(t *testing.T, what string, a *oocore.Array, dim string, raw json.RawMessage) {
	t.Helper()
	var dates [][]int64
	if json.Unmarshal(raw, &dates) == nil && len(dates) > 0 {
		for k, field := range []string{"year", "month", "day", "hour"} {
			got, err := oocore.Collect[int64](t.Context(), oocore.Eval(field+"(t)", oocore.Names{"t": a.Coord(dim)}))
			if err != nil || len(got) != len(dates) {
				t.Errorf("%s: the %s of %d labels along %q are %d, %v", what, field, len(dates), dim, len(got), err)
				return
			}
			for i := range got {
				if got[i] != dates[i][k] {
					t.Errorf("%s: the %s of label %d along %q is %d, want %v", what, field, i, dim, got[i], dates[i])
					return
				}
			}
		}
		return
	}
	var want []float64
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	got, err := oocore.Collect[float64](t.Context(), a.Coord(dim).AsType(oocore.Float64))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: the labels along %q are %v, want %v; %v", what, dim, got, want, err)
	}
}
