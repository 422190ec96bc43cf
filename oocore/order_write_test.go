package oocore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

func TestSaveInFortranOrderReadsBack(t *testing.T) {
	x := oocore.Arange(0, 300*70*5, 1.0).Reshape(300, 70, 5)
	for _, path := range []string{"x.npy?order=F&dtype=>f8", "x.npy?order=F", "x.bin?order=F&dtype=>f8&shape=300,70,5"} {
		place := filepath.Join(t.TempDir(), path)
		var r oocore.RunReport
		y := saved(t, x, place, oocore.Report(&r))
		if r.MeasuredPeak > r.PredictedPeak || !slices.Equal(y.Shape(), x.Shape()) || !slices.Equal(collect[float64](t, y), collect[float64](t, x)) {
			t.Errorf("%s: %v, or other elements; %+v", path, y, r)
		}
		if _, err := x.Save(t.Context(), place, oocore.Report(&r)); err != nil || r.Status != oocore.StatusSkipped {
			t.Errorf("%s: the same again: %v, %+v", path, err, r)
		}
		y, err := oocore.Full(7.0, 1, 70, 5).Save(t.Context(), place, oocore.Region("3:4"))
		if err != nil {
			t.Errorf("%s: a region: %v", path, err)
			continue
		}
		if v := collect[float64](t, y.Slice("3")); v[0] != 7 || v[349] != 7 {
			t.Errorf("%s: the region is %v", path, v[:3])
		}
	}
}

// Files that say what they hold take no query, whatever it says; how an npy file is written is of Save alone.
func TestQueryOfFileThatDescribesItselfIsRejected(t *testing.T) {
	dir := t.TempDir()
	x := oocore.FromSlice([]float32{1, 2})
	for _, name := range []string{"x.npy", "x.npz", "x.safetensors", "x.gguf", "x.zarr", "x.h5", "x.nc", "x.tif", "x.fits", "x.nii", "refs.json", "s3://bucket/x.npy", "s3://bucket/x.zarr"} {
		path := name
		if !strings.Contains(name, "://") {
			path = filepath.Join(dir, name)
		}
		for _, query := range []string{"dtype=float32", "shape=2", "shape=2&dtype=float32", "order=F"} {
			err := oocore.Open(path + "?" + query).Err()
			if err == nil || !strings.Contains(err.Error(), "says its type and shape itself") {
				t.Errorf("opening %s?%s: %v", name, query, err)
			}
			if strings.HasSuffix(name, "x.npy") && !strings.HasPrefix(query, "shape") {
				continue
			}
			if _, err = x.Save(t.Context(), path+"?"+query); err == nil || !strings.Contains(err.Error(), "says its type and shape itself") {
				t.Errorf("saving to %s?%s: %v", name, query, err)
			}
		}
		if err := oocore.Open(path + "?other=1").Err(); err == nil {
			t.Errorf("opening %s?other=1 is no error", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v were written", left)
	}
}
