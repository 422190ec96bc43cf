package storage_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/gonbext/gonbext/oocore/internal/format/fits"
	_ "github.com/gonbext/gonbext/oocore/internal/format/gguf"
	_ "github.com/gonbext/gonbext/oocore/internal/format/hdf5"
	_ "github.com/gonbext/gonbext/oocore/internal/format/netcdf"
	_ "github.com/gonbext/gonbext/oocore/internal/format/nifti"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	_ "github.com/gonbext/gonbext/oocore/internal/format/pytorch"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	_ "github.com/gonbext/gonbext/oocore/internal/format/tiff"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestFirstBytesDecide opens files of each format that has a signature under names that say nothing or another format: they have the
// arrays that they have under their own.
func TestFirstBytesDecide(t *testing.T) {
	arrays := func(file string) (all []string) {
		t.Helper()
		members, err := storage.Members(t.Context(), file)
		if err != nil {
			t.Error(err)
		}
		for _, m := range members {
			a, err := storage.Open(m.Path)
			if err != nil {
				_, cause, _ := strings.Cut(err.Error(), m.Path+": ")
				all = append(all, cause)
				continue
			}
			info := a.Info()
			all = append(all, fmt.Sprint(info.Format, info.Shape, info.DType, info.Details.Dims)+storetest.ReadAll(t, a))
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		return all
	}
	dir := t.TempDir()
	for _, of := range []string{"hdf5/testdata/one.nc", "hdf5/testdata/old.h5", "netcdf/testdata/small.nc", "tiff/testdata/planes.tif", "fits/testdata/small.fits",
		"nifti/testdata/small.nii", "npz/testdata/stored.npz", "pytorch/testdata/views.pt", "gguf/testdata/all.gguf", "safetensors/testdata/model.safetensors"} {
		of = filepath.Join("..", "format", filepath.FromSlash(of))
		want := arrays(of)
		if len(want) == 0 {
			t.Fatalf("%s has no arrays", of)
		}
		for _, name := range []string{"x", "x.tmp", "x.safetensors.tmp", "x.nwb", "x.h5", "x.nc", "x.tif", "x.fits", "x.npy"} {
			file := filepath.Join(dir, name)
			testcases.WriteFile(t, file, testcases.ReadFile(t, of), 0o600)
			if got := arrays(file); !slices.Equal(got, want) {
				t.Errorf("%s under the name %s has %d arrays %.300q, want %d %.300q", of, name, len(got), got, len(want), want)
			}
		}
	}
	file := filepath.Join(dir, "y")
	testcases.WriteFile(t, file, []byte("no format begins so"), 0o600)
	if _, err := storage.Open(file); err == nil || !strings.Contains(err.Error(), "HDF5, NetCDF, TIFF, FITS, NIfTI, npy, npz, PyTorch, GGUF, safetensors") {
		t.Error(err)
	}
}
