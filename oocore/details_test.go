package oocore_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// written is the part of a zarr.json that the options and inputs decide.
type written struct {
	Fill       any            `json:"fill_value"`
	Dims       []*string      `json:"dimension_names"`
	Attributes map[string]any `json:"attributes"`
}

func readWritten(t *testing.T, array string) (w written, dims string) {
	t.Helper()
	text := testcases.ReadFile(t, filepath.Join(array, "zarr.json"))
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range w.Dims {
		if d == nil {
			names = append(names, "-")
		} else {
			names = append(names, *d)
		}
	}
	return w, strings.Join(names, " ")
}

// xarrayV2 writes an array of version 2 as xarray does.
func xarrayV2(t *testing.T, folder, dtype, fill string, data []byte) {
	t.Helper()
	for name, text := range map[string]string{
		".zarray": fmt.Sprintf(`{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": %q, "compressor": null, "filters": null, "fill_value": %s, "order": "C"}`, dtype, fill),
		".zattrs": `{"_ARRAY_DIMENSIONS": ["time", "x"], "units": "K", "scale_factor": 0.5}`,
		"0.0":     string(data),
	} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, filepath.Join(folder, name), []byte(text), 0o666)
	}
}

func save(t *testing.T, a *oocore.Array, path string, opts ...oocore.Option) {
	t.Helper()
	saved(t, a, path, opts...)
}

// TestCopiesKeepDetails copies, casts and cuts an array of version 2 of xarray's. The
// encoded markers are xarray's own for these values.
func TestCopiesKeepDetails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ints, floats := filepath.Join(dir, "i.zarr"), filepath.Join(dir, "f.zarr")
	xarrayV2(t, ints, "<i2", "-32768", make([]byte, 12))
	xarrayV2(t, floats, "<f8", `"NaN"`, make([]byte, 48))
	x, f := oocore.Open(ints), oocore.Open(floats)
	const nan, minus = "AAAAAAAA+H8=", "AAAAAAAA4MA="
	for name, c := range map[string]struct {
		a            *oocore.Array
		dims         string
		fill, marker any
		attributes   bool
	}{
		"copy":        {x, "time x", -32768.0, -32768.0, true},
		"cast":        {x.AsType(oocore.Float32), "time x", -32768.0, minus, true},
		"wrapped":     {x.AsType(oocore.Uint16), "time x", 0.0, nil, true}, // -32768 is another number
		"NaN":         {f, "time x", "NaN", nan, true},
		"NaN cast":    {f.AsType(oocore.Float32), "time x", "NaN", nan, true},
		"slice":       {x.Slice("1, :2"), "x", -32768.0, -32768.0, true},
		"transpose":   {x.Transpose(), "x time", -32768.0, -32768.0, true},
		"elementwise": {x.Add(1), "time x", 0.0, nil, false},
		"mean":        {x.Mean(0), "x", 0.0, nil, false},
		"broadcast":   {x.Sub(x.Mean(0)), "time x", 0.0, nil, false},
		"contradicts": {x.Slice(":2, :2").Add(x.Transpose().Slice(":2, :2")), "", 0.0, nil, false},
		"agrees":      {x.Add(f).Sqrt(), "time x", 0.0, nil, false},
		"take":        {x.Take(oocore.FromSlice([]int64{1, 0}), 0), "time x", -32768.0, -32768.0, true},
		"mask":        {x.Mask(t.Context(), oocore.FromSlice([]bool{true, false})), "time x", -32768.0, -32768.0, true},
		"new axis":    {x.Slice("None"), "- time x", -32768.0, -32768.0, true},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(dir, name+".zarr")
			save(t, c.a, out)
			w, dims := readWritten(t, out)
			if dims != c.dims || w.Fill != c.fill || w.Attributes["_FillValue"] != c.marker || (w.Attributes["units"] == "K") != c.attributes || w.Attributes["_ARRAY_DIMENSIONS"] != nil {
				t.Errorf("dims %q, %+v", dims, w)
			}
			again := filepath.Join(dir, name+"-again.zarr")
			save(t, oocore.Open(out), again)
			if w2, dims2 := readWritten(t, again); dims2 != dims || fmt.Sprint(w2.Fill, w2.Attributes) != fmt.Sprint(w.Fill, w.Attributes) {
				t.Errorf("its copy: dims %q, %+v", dims2, w2)
			}
		})
	}
}

func TestOptionsGiveDetails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	out := filepath.Join(dir, "g.zarr", "a")
	save(t, x, out, oocore.DimNames("time", "x"), oocore.Attributes(map[string]any{"units": "K", "levels": []int{1, 2}}), oocore.FillValue(-9999))
	w, dims := readWritten(t, out)
	if dims != "time x" || w.Fill != -9999.0 || fmt.Sprint(w.Attributes) != "map[_FillValue:AAAAAICHw8A= levels:[1 2] units:K]" {
		t.Errorf("dims %q, %+v", dims, w)
	}
	// Of a group xarray wants a name for every dimension, and one length for a name.
	for name, c := range map[string]struct {
		a    *oocore.Array
		opts []oocore.Option
		dims string
	}{
		"plain":  {x, nil, "plain_dim_0 plain_dim_1"},
		"shift":  {oocore.Open(out).Slice("1:, :"), nil, "shift_dim_0 x"},
		"same":   {oocore.Open(out).Mul(2), nil, "time x"},
		"time":   {oocore.Open(out).Mul(3), nil, "time_dim_0 x"},
		"square": {x.Slice(":, :2"), []oocore.Option{oocore.DimNames("time", "")}, "time square_dim_1"},
	} {
		save(t, c.a, filepath.Join(dir, "g.zarr", name), c.opts...)
		if _, dims := readWritten(t, filepath.Join(dir, "g.zarr", name)); dims != c.dims {
			t.Errorf("%s: dims %q, want %q", name, dims, c.dims)
		}
	}
}

func TestDetailsThatCannotBeAreRejected(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.FromSlice([]int8{1, 2, 3, 4}, 2, 2)
	save(t, x, filepath.Join(dir, "there.npy"))
	for _, c := range []struct {
		path string
		opt  oocore.Option
		want string
	}{
		{"x.zarr", oocore.DimNames("a", "a"), `dimension names: "a" names two dimensions`},
		{"x.zarr", oocore.DimNames("a"), `1 dimension names ["a"] for 2 dimensions`},
		{"x.zarr", oocore.FillValue(300), "fill value: int8 cannot hold 300"},
		{"x.zarr", oocore.FillValue(0.5), "fill value: int8 cannot hold 0.5"},
		{"x.zarr", oocore.FillValue("NaN"), "fill value: int8 cannot hold NaN"},
		{"x.zarr", oocore.FillValue("nothing"), "fill value: int8 cannot hold nothing"},
		{"x.zarr", oocore.FillValue([]int{1}), "fill value: [1] is neither a number"},
		{"x.zarr", oocore.Attributes(map[string]any{"a": math.NaN()}), `attribute "a": json: unsupported value: NaN`},
		{"x.npy", oocore.DimNames("a", "b"), "stores neither dimension names"},
		{"x.npy", oocore.FillValue(1), "stores neither dimension names"},
		{"x.safetensors#x", oocore.DimNames("a", "b"), "a safetensors file stores neither dimension names nor a fill value"},
	} {
		_, err := x.Save(t.Context(), filepath.Join(dir, c.path), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, strings.TrimSuffix(c.path, "#x"))); err == nil {
			t.Errorf("%s was written", c.path)
		}
	}
	_, err := x.Save(t.Context(), filepath.Join(dir, "there.npy"), oocore.Region(":, :"), oocore.DimNames("a", "b"))
	if err == nil || !strings.Contains(err.Error(), "are those of the stored array") {
		t.Error(err)
	}
}
