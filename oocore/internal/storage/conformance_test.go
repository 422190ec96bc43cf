package storage_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	_ "github.com/gonbext/gonbext/oocore/internal/format/raw"
	_ "github.com/gonbext/gonbext/oocore/internal/format/stack"
	"github.com/gonbext/gonbext/oocore/internal/storage"
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
				Create: func(m store.Meta) (store.Writer, error) { return storage.Create(format.path(dir, m), m) },
				Open:   func(m store.Meta) (store.Array, error) { return storage.Open(format.path(dir, m)) },
				Left:   func() []string { return storetest.List(t, dir) },
			}
		}
		t.Run(name+"/array", func(t *testing.T) {
			storetest.TestArray(t, format.types, func(t testing.TB, m store.Meta, data []byte) store.Array {
				path := format.path(t.TempDir(), m)
				storetest.Save(t, path, m, data)
				a, err := storage.Open(path)
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
