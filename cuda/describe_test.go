package cuda

import (
	"math"
	"strings"
	"testing"
)

// A device is measured: its longest free block by trial, its link by copies. The model's
// clock goes by its rates.
func TestDescribeMeasuresDevice(t *testing.T) {
	g := Model("64MiB")
	b, err := g.Alloc(40 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	d, err := g.describe()
	if err != nil {
		t.Fatal(err)
	}
	if d.Total != 64<<20 || d.Free > 24<<20 || d.Largest > d.Free || d.Largest < d.Free-2<<20 {
		t.Errorf("%+v", d)
	}
	if r := g.Spec().Rates; math.Abs(d.Upload/r.Upload-1) > 0.1 || math.Abs(d.Download/r.Download-1) > 0.1 {
		t.Errorf("%g bytes a second up and %g down, want %g and %g", d.Upload, d.Download, r.Upload, r.Download)
	}
	if used := g.Usage().Used; used != 40<<20 {
		t.Errorf("%d bytes are in use after the measurement", used)
	}
	for _, want := range []string{"measured by", "of locked memory", "context         unknown"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("no %q in\n%s", want, d)
		}
	}
}
