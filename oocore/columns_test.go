package oocore_test

import (
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Chunks of a few columns become whole rows of a file, in one pass where they are not compressed,
// else in two: it is not written a few bytes at a time. Beside chunks of rows they are read once.
func TestColumnsBecomeRows(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: 270 MB that are written a few times, which GONBEXT_TEST=full does")
	}
	const rows, columns, chunk = 1 << 20, 260, 4
	dir := t.TempDir()
	ramp := oocore.Arange(0, rows*columns, 1).Reshape(rows, columns).AsType(oocore.Uint8) // modulo 256, of which 260 is no multiple
	x := saved(t, ramp, filepath.Join(dir, "x.npy"))
	across := saved(t, x, filepath.Join(dir, "across.zarr"), oocore.Chunks(rows/64, columns), oocore.Codec("zstd:1"))
	for codec, passes := range map[string]int64{"none": 1, "zstd:1": 2} {
		stored := saved(t, x, filepath.Join(dir, "columns.zarr"), oocore.Chunks(rows, chunk), oocore.Codec(codec))
		var r oocore.RunReport
		opts := []oocore.Option{oocore.Memory("128MiB"), oocore.Report(&r)}
		y := saved(t, stored, filepath.Join(dir, "y.npy"), opts...)
		if r.Written != passes*rows*columns || r.MeasuredPeak > r.PredictedPeak {
			t.Errorf("%s: %d bytes are written of an array of %d; report %+v", codec, r.Written, rows*columns, r)
		}
		if different := collect[int64](t, y.NotEqual(x).CountNonzero()); different[0] != 0 {
			t.Errorf("%s: %d elements differ", codec, different[0])
		}
		if different := collect[int64](t, across.NotEqual(stored).CountNonzero(), opts...); different[0] != 0 || r.Written != (passes-1)*rows*columns {
			t.Errorf("%s: %d elements differ of chunks that lie across; report %+v", codec, different[0], r)
		}
	}
}
