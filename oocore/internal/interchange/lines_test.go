package interchange

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestLabelsOfHeadersAreOthers compares the labels that follow from headers of GeoTIFF, OME-TIFF, FITS and NIfTI with those of tifffile's
// tags by GDAL's rules, astropy and nibabel.
func TestLabelsOfHeadersAreOthers(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	var cases []struct {
		Path   string
		Labels map[string][]float64 // nil: there are none
	}
	if err := json.Unmarshal(run(t, python, "lines_check.py", dir, strconv.FormatUint(testcases.Seed(t), 10)), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 30 {
		t.Errorf("%d cases are too few", len(cases))
	}
	for _, c := range cases {
		x := oocore.Open(filepath.Join(dir, c.Path))
		for dim, want := range c.Labels {
			if want == nil {
				if l := x.Coord(dim); l.Err() == nil {
					t.Errorf("%s has labels along %s, and is to have none", c.Path, dim)
				}
				continue
			}
			got, err := oocore.Collect[float64](t.Context(), x.Coord(dim))
			if err != nil || len(got) != len(want) {
				t.Errorf("%s: %d labels along %s, want %d; %v", c.Path, len(got), dim, len(want), err)
				continue
			}
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
					t.Errorf("%s: label %d along %s is %v, want %v", c.Path, i, dim, got[i], want[i])
					break
				}
			}
			part := x.Sel(dim, oocore.Near(want[1]))
			if shape := part.Shape(); part.Err() != nil || len(shape) != len(x.Shape())-1 {
				t.Errorf("%s: of the label %v along %s it has %v; %v", c.Path, want[1], dim, shape, part.Err())
			}
		}
	}
}
