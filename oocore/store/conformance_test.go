package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// The formats of this package, as the suite sees them: which types they hold
// and which path an array has in a folder.
var formats = map[string]struct {
	types []dtype.Type
	path  func(dir string, m store.Meta) string
}{
	"npy": {
		slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return t == dtype.BFloat16 }),
		func(dir string, _ store.Meta) string { return filepath.Join(dir, "a.npy") },
	},
	"raw": {
		dtype.All(),
		func(dir string, m store.Meta) string {
			shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Shape), " ", ","), "[]")
			if shape == "" {
				shape = "()"
			}
			return filepath.Join(dir, "a.bin?shape="+shape+"&dtype="+m.DType.String())
		},
	},
}

func TestConformance(t *testing.T) {
	for name, format := range formats {
		place := func(t testing.TB) storetest.Place {
			dir := t.TempDir()
			return storetest.Place{
				Create: func(m store.Meta) (store.Writer, error) { return store.Create(format.path(dir, m), m) },
				Open:   func(m store.Meta) (store.Array, error) { return store.Open(format.path(dir, m)) },
				Left:   func() []string { return list(t, dir) },
			}
		}
		t.Run(name+"/array", func(t *testing.T) {
			storetest.TestArray(t, format.types, func(t testing.TB, m store.Meta, data []byte) store.Array {
				path := format.path(t.TempDir(), m)
				create(t, path, m, data)
				a, err := store.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				return a
			})
		})
		t.Run(name+"/writer", func(t *testing.T) {
			storetest.TestWriter(t, format.types, place)
		})
		t.Run(name+"/resume", func(t *testing.T) { storetest.TestResume(t, format.types[3], place) })
		t.Run(name+"/region", func(t *testing.T) { storetest.TestRegion(t, format.types, place) })
	}
}

// create stores a whole array at once.
func create(t testing.TB, path string, m store.Meta, data []byte) {
	t.Helper()
	w, err := store.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), data, grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func list(t testing.TB, dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
