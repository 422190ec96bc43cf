package oocore_test

import (
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// Shards of many small chunks have long indexes: each is read once, as was predicted.
func TestIndexesOfShardsAreReadAsPredicted(t *testing.T) {
	const rows, columns = 1536, 4096
	x, err := oocore.Arange(0, rows*columns, 1).Reshape(rows, columns).Mod(256).AsType(oocore.Uint8).
		Save(t.Context(), filepath.Join(t.TempDir(), "x.zarr"), oocore.Chunks(16, 16), oocore.Shards(256, 256), oocore.Codec("none"))
	if err != nil {
		t.Fatal(err)
	}
	const indexes = rows / 256 * columns / 256 * (256*16 + 4)
	mean := x.Mean()
	for _, workers := range []int{1, 4} {
		opts := []oocore.Option{oocore.Memory("128MiB"), oocore.Workers(workers), oocore.Fresh()}
		p, err := mean.Plan("", opts...)
		if err != nil {
			t.Fatal(err)
		}
		var r oocore.RunReport
		got := collect[float64](t, mean, append(opts, oocore.Report(&r))...)
		if got[0] != 127.5 {
			t.Errorf("the mean is %g", got[0])
		}
		if p.Read != rows*columns+indexes || r.Read != p.Read || r.MeasuredPeak > r.PredictedPeak {
			t.Errorf("%d workers read %d bytes of an array of %d with indexes of %d, predicted were %d; report %+v", workers, r.Read, rows*columns, indexes, p.Read, r)
		}
	}
}
