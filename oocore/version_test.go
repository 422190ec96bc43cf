package oocore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// The files that a function reads belong to its version.
func TestReadsBelongToVersion(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	weights, path := filepath.Join(dir, "weights.txt"), filepath.Join(dir, "o.npy")
	write := func(text string) {
		if err := os.WriteFile(weights, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	scaled := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		text, err := os.ReadFile(weights)
		if err != nil {
			return err
		}
		w, err := strconv.ParseFloat(string(text), 64)
		for i := range dst {
			dst[i] = w * src[i]
		}
		return err
	}, oocore.FromSlice([]float64{1, 2, 3}), oocore.MapOptions{})
	for i, c := range []struct {
		text, version string
		computed      bool
	}{{"2", "v1", true}, {"", "v1", false}, {"3", "v1", true}, {"", "v1", false}, {"", "v2", true}, {"", "", true}} {
		if c.text != "" {
			write(c.text)
		}
		if got := saveRun(t, scaled, path, oocore.Version(c.version), oocore.Reads(weights)); got != c.computed {
			t.Errorf("save %d computed %v, want %v", i, got, c.computed)
		}
	}
	if got := stored(t, path); got[2] != 9 {
		t.Errorf("%v, want 9 at the end", got)
	}
	_, err := scaled.Save(t.Context(), path, oocore.Version("v1"), oocore.Reads(weights, filepath.Join(dir, "none")))
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file that is not there: %v", err)
	}
	changes := oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error { write("5"); return nil }, oocore.FromSlice([]float64{1}), oocore.MapOptions{})
	_, err = changes.Save(t.Context(), filepath.Join(dir, "c.npy"), oocore.Version("v1"), oocore.Reads(weights))
	if err == nil || !strings.Contains(err.Error(), "weights.txt, which Reads names, was changed while it was read") {
		t.Errorf("a file that is changed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "c.npy")); err == nil {
		t.Error("there is an output")
	}
}
