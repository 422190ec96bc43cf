package interchange

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// TestXarrayReadsWhatIsSavedBesideItsArrays copies the arrays of stores of xarray's, of
// both versions, to another store, and saves computed ones into theirs.
func TestXarrayReadsWhatIsSavedBesideItsArrays(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	run(t, python, "xarray_check.py", "make", dir)
	save := func(a *oocore.Array, to string, opts ...oocore.Option) {
		t.Helper()
		if _, err := a.Save(t.Context(), filepath.Join(dir, to), append(opts, oocore.Memory("256MiB"))...); err != nil {
			t.Fatal(err)
		}
	}
	open := func(from string) *oocore.Array { return oocore.Open(filepath.Join(dir, from)) }
	for _, version := range []string{"v2", "v3"} {
		for _, name := range []string{"packed", "holes", "plain", "flags", "time", "x"} {
			save(open(version+".zarr/"+name), version+"-copy.zarr/"+name)
		}
		save(open(version+".zarr/packed").AsType(oocore.Float32), version+"-copy.zarr/cast")
	}
	// Into the store of version 3, which is consolidated.
	plain := open("v3.zarr/plain")
	save(plain.Mul(2), "v3.zarr/doubled")
	save(plain.Slice("::2, 1"), "v3.zarr/half")
	save(plain.Mean(0), "v3.zarr/mean")
	save(plain.Transpose(), "v3.zarr/turned")
	save(plain.Sub(plain.Mean(0)), "v3.zarr/centred")
	save(oocore.FromSlice([]float64{-9999, 1, 2}, 3), "v3.zarr/given", oocore.DimNames("given"), oocore.FillValue(-9999), oocore.Attributes(map[string]any{"units": "K"}))
	save(oocore.FromSlice([]float64{1, 2}, 2), "v3.zarr/nameless")
	save(plain.Add(1), "v3.zarr/replaced", oocore.Chunks(1, 1), oocore.Codec("gzip:1"))
	if out := strings.TrimSpace(string(run(t, python, "xarray_check.py", "check", dir))); out != "6 openings" {
		t.Error(out)
	}
}
