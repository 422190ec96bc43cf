package cloud_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// forms are the ways in which zarr arrays are stored here.
var forms = map[string]func(m store.Meta) store.Meta{
	"plain": func(m store.Meta) store.Meta { m.Codec = "none"; return m },
	"zstd":  func(m store.Meta) store.Meta { m.Codec = "zstd:1"; return m },
	"shards": func(m store.Meta) store.Meta {
		m.Codec = "blosc:lz4:5:shuffle"
		if m.Chunks == nil {
			m.Chunks = grid.Auto(m.Shape, m.DType.Size(), 64)
		}
		m.Shards = make([]int, len(m.Chunks))
		for i, n := range m.Chunks {
			m.Shards[i] = 2 * n
		}
		return m
	},
}

// TestZarr holds zarr arrays in a bucket to what every array and every writer has
// to do.
func TestZarr(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			end := fakeS3(t)
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			n := 0
			storetest.TestArray(t, []dtype.Type{dtype.Float32, dtype.Bool, dtype.BFloat16}, func(t testing.TB, m store.Meta, data []byte) store.Array {
				t.Cleanup(end)
				n++
				path := fmt.Sprintf("s3://data/arrays/%d.zarr", n)
				w, err := store.Create(path, form(m))
				if err != nil {
					t.Fatal(err)
				}
				box := grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}
				if err := w.Write(context.Background(), data, box); err != nil {
					t.Fatal(err)
				}
				if err := w.Commit(context.Background()); err != nil {
					t.Fatal(err)
				}
				a, err := store.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				return a
			})
			storetest.TestWriter(t, []dtype.Type{dtype.Int16, dtype.Float64}, func(t testing.TB) storetest.Place {
				t.Cleanup(end)
				n++
				path := fmt.Sprintf("s3://data/written/%d.zarr", n)
				return storetest.Place{
					Create: func(m store.Meta) (store.Writer, error) { return store.Create(path, form(m)) },
					Open:   func(store.Meta) (store.Array, error) { return store.Open(path) },
					Left:   func() []string { return left(t, path) },
				}
			})
		})
	}
}

// left lists an array's objects, and what is in the folder of the cache where runs
// to object stores keep what is unfinished.
func left(t testing.TB, path string) (names []string) {
	b, err := blob.At(path)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range b.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(path, "s3://data/")+"/"+e.Key)
	}
	err = filepath.WalkDir(os.Getenv("XDG_CACHE_HOME"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
