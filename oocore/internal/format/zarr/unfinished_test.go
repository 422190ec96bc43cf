package zarr

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// An array with an unfinished region is rejected where its folder is renamed, or
// copied, and its region can be finished there.
func TestOpenRejectsUnfinishedRegionOfMovedFolder(t *testing.T) {
	for name, move := range map[string]func(from, to string) error{
		"renamed": os.Rename,
		"copied":  func(from, to string) error { return os.CopyFS(to, os.DirFS(from)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			x, y := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "y.zarr")
			saveAll(t, x, smallMeta, smallData())
			m := smallMeta
			m.Region = &grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}
			w, err := store.Create(x, m)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Suspend(); err != nil {
				t.Fatal(err)
			}
			if err := move(x, y); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Open(y); err == nil || !strings.Contains(err.Error(), "was not finished") {
				t.Errorf("opening it gives %v", err)
			}
			if w, err = store.Create(y, m); err != nil {
				t.Fatal(err)
			}
			if !storage.Resumed(w) {
				t.Error("it does not say that it continues")
			}
			if err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			a, err := store.Open(y)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
