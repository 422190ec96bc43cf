package oocore_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// Nothing tells whether a Go function has changed, but its version does.
func TestVersionOfAGoFunction(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	path := filepath.Join(t.TempDir(), "o.npy")
	var calls atomic.Int64
	twice := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		calls.Add(1)
		for i := range dst {
			dst[i] = 2 * src[i]
		}
		return nil
	}, oocore.FromSlice([]float64{1, 2, 3}, 3), oocore.MapOptions{})
	for i, c := range []struct {
		version string
		calls   int64 // in all, after this save
	}{{"", 1}, {"", 2}, {"v1", 3}, {"v1", 3}, {"v2", 4}} {
		if _, err := twice.Save(context.Background(), path, oocore.Version(c.version)); err != nil {
			t.Fatal(err)
		}
		if got := calls.Load(); got != c.calls {
			t.Errorf("save %d, of version %q: %d calls so far, want %d", i, c.version, got, c.calls)
		}
	}
}
