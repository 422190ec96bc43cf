package oocore_test

import (
	"path/filepath"
	"slices"
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
