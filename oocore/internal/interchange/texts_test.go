package interchange

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestLabelsThatAreTextAreXarrays selects, groups and joins by names that xarray and h5py have written: values and labels of results are
// xarray's.
func TestLabelsThatAreTextAreXarrays(t *testing.T) {
	python := full(t)
	dir, seed := t.TempDir(), strconv.FormatUint(testcases.Seed(t), 10)
	var cases []struct {
		Expression, Path string
		Want             []float64
		Labels           []string
	}
	if err := json.Unmarshal(run(t, python, "texts_check.py", dir, seed), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 100 {
		t.Errorf("%d cases are too few", len(cases))
	}
	for _, c := range cases {
		a := oocore.Eval(c.Expression, oocore.Names{"x": oocore.Open(filepath.Join(dir, c.Path))})
		got, err := oocore.Collect[float64](t.Context(), a.AsType(oocore.Float64))
		if err != nil || len(got) != len(c.Want) {
			t.Errorf("%s of %s: %d elements, want %d; %v", c.Expression, c.Path, len(got), len(c.Want), err)
			continue
		}
		for i, want := range c.Want {
			if missing := want == 1e300; math.IsNaN(got[i]) != missing || !missing && math.Abs(got[i]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s of %s: element %d is %v, want %v", c.Expression, c.Path, i, got[i], want)
				break
			}
		}
		if c.Labels != nil {
			if names := namesOf(t, a.Coord("station")); !slices.Equal(names, c.Labels) {
				t.Errorf("%s of %s: the labels are %q, want %q", c.Expression, c.Path, names, c.Labels)
			}
		}
	}
}

// namesOf are labels that are text.
func namesOf(t *testing.T, labels *oocore.Array) (all []string) {
	t.Helper()
	numbers, err := oocore.Collect[int64](t.Context(), labels)
	if err != nil {
		t.Error(err)
	}
	names := host.Flags(labels)
	for _, at := range numbers {
		all = append(all, names[at])
	}
	return all
}
