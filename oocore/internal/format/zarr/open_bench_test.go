package zarr

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
)

// BenchmarkOpen opens an array of 100,000 chunk files.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.zarr")
	w, err := store.Create(path, store.Meta{Shape: []int{1000, 1000}, DType: dtype.Float32, Chunks: []int{1, 10}})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		row := filepath.Join(path, "c", fmt.Sprint(i))
		if err := os.MkdirAll(row, 0o777); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(row, fmt.Sprint(j)), nil, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		a, err := store.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
