package interchange

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// TestXarrayReadsCopiesOfNetCDF copies NetCDF-4 and HDF5 files to Zarr: xarray finds in the copy the
// dimensions, indexes, values and attributes that it finds in the file, of each group.
func TestXarrayReadsCopiesOfNetCDF(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	run(t, python, "netcdf_check.py", "make", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.nc"))
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if _, err := oocore.OpenAll(file).Save(t.Context(), strings.TrimSuffix(file, ".nc")+".zarr", oocore.Memory("256MiB")); err != nil {
			t.Error(err)
		}
	}
	if out := strings.TrimSpace(string(run(t, python, "netcdf_check.py", "check", dir))); !strings.HasSuffix(out, " files") {
		t.Error(out)
	}
}
