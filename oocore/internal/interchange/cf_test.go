package interchange

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// names of NumPy's units of time in attributes.
var unitNames = map[string]string{"D": "days", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

// TestDecodeCFIsXarrays decodes what xarray has encoded, and reads zarr-python's dates.
func TestDecodeCFIsXarrays(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	lines := strings.Split(strings.TrimSpace(string(run(t, python, "cf_check.py", dir))), "\n")
	if len(lines) < 60 {
		t.Errorf("%d cases are too few", len(lines))
	}
	for _, line := range lines {
		f := strings.Fields(line)
		x := oocore.Open(filepath.Join(dir, f[0]))
		want := oocore.Open(filepath.Join(dir, f[1]))
		if f[2] != "-" {
			x = x.DecodeCF(f[2])
		}
		if x.DType() != want.DType() || !slices.Equal(x.Shape(), want.Shape()) {
			t.Errorf("%s: %s, want %s", line, x, want)
			continue
		}
		copied := filepath.Join(dir, f[1]+".zarr")
		got, err := x.Save(t.Context(), copied)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		same := got.Equal(want)
		if want.DType() == oocore.Float64 || want.DType() == oocore.Float32 {
			same = same.LogicalOr(got.IsNaN().LogicalAnd(want.IsNaN()))
		}
		if all, err := oocore.Collect[bool](t.Context(), same.All()); err != nil || !all[0] {
			g, _ := oocore.Collect[float64](t.Context(), got.AsType(oocore.Float64))
			w, _ := oocore.Collect[float64](t.Context(), want.AsType(oocore.Float64))
			t.Errorf("%s: %v, want %v; %v", line, g, w, err)
		}
		if want.DType() != oocore.Int64 {
			continue
		}
		info, err := storage.Describe(copied)
		if err != nil || !strings.Contains(string(info.Details.Attributes), `"`+unitNames[f[3]]) {
			t.Errorf("%s: the copy has the attributes %s, %v", line, info.Details.Attributes, err)
		}
	}
}

// TestResultsMeanTheSameToXarray computes on arrays that xarray has encoded: what it reads of the results has
// the scale and the markers that still hold, and no others.
func TestResultsMeanTheSameToXarray(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	run(t, python, "cf_check.py", dir)
	n := 0
	for _, name := range []string{"scaled", "packed", "offset", "bytes", "ints", "unsigned", "singles", "both"} {
		for _, version := range []string{"2", "3"} {
			x := oocore.Open(filepath.Join(dir, name+version+".zarr", "v"))
			for step, expression := range map[string]string{
				"copy": "x", "reversed": `slice(x, "::-1")`, "joined": "concatenate(x, x, 0)", "taken": "take(x, i, 0)", "doubles": `astype(x, "float64")`, "decoded": "decode_cf(x)",
				"more": "x + 1", "negative": "-x",
			} {
				names := oocore.Names{"x": x}
				if step == "taken" {
					names["i"] = oocore.FromSlice([]int64{2, 0})
				}
				if _, err := oocore.Eval(expression, names).Save(t.Context(), filepath.Join(dir, "out.zarr", name+version+"."+step)); err != nil {
					t.Errorf("%s of %s: %v", expression, name, err)
				}
				n++
			}
		}
	}
	if said := strings.TrimSpace(string(run(t, python, "cf_results.py", dir))); said != "" {
		t.Errorf("of %d results:\n%s", n, said)
	}
}
