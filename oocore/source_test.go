package oocore_test

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

//go:embed testdata/embedded.npy
var embedded embed.FS

// An array of files in each kind of file system is that of the files on disk, and what is saved of it is kept.
func TestPathInReadsFileSystems(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	x := oocore.Arange(0, 60_000, 1).AsType(oocore.Float64).Reshape(200, 300)
	for _, path := range []string{"a/x.npy", "a/x.zarr", "a/x.safetensors#x", "x.npy"} {
		if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		saved(t, x.Rechunk(64, 100), filepath.Join(dir, path))
	}
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	inMemory := fstest.MapFS{}
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	unpacked, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range unpacked.File {
		if data, err := fs.ReadFile(unpacked, f.Name); err == nil {
			inMemory[strings.TrimSuffix(f.Name, "/")] = &fstest.MapFile{Data: data}
		}
	}
	for name, fsys := range map[string]fs.FS{"folder": os.DirFS(dir), "zip": unpacked, "memory": inMemory} {
		for _, path := range []string{"a/x.npy", "a/x.zarr", "a/x.safetensors#x", "x.npy"} {
			a := oocore.Open(oocore.PathIn(fsys, path))
			checkCounts(t, name+" "+path, a, a.Err(), 200, 300)
			out := filepath.Join(t.TempDir(), "o.npy")
			if a.Err() == nil && (!saveRun(t, a.Add(1), out) || saveRun(t, a.Add(1), out)) {
				t.Errorf("%s %s: saving twice computes twice, or never", name, path)
			}
		}
		if all := oocore.OpenAll(oocore.PathIn(fsys, "a/x.safetensors")); all.Err() != nil || !slices.Equal(all.Names(), []string{"x"}) {
			t.Errorf("%s: %v", name, all)
		}
		if err := oocore.Open(oocore.PathIn(fsys, "none.npy")).Err(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: a file that is missing: %v", name, err)
		}
		if _, err := x.Save(t.Context(), oocore.PathIn(fsys, "o.zarr")); err == nil || !strings.Contains(err.Error(), "read only") {
			t.Errorf("%s: saving: %v", name, err)
		}
	}
	a := oocore.Open(oocore.PathIn(embedded, "testdata/embedded.npy"))
	checkCounts(t, "embedded", a, a.Err(), 2, 3)
	// Other contents of the same size, without times.
	a = oocore.Open(oocore.PathIn(inMemory, "x.npy"))
	out := filepath.Join(t.TempDir(), "o.npy")
	saveRun(t, a.Add(1), out)
	inMemory["x.npy"].Data = slices.Clone(inMemory["x.npy"].Data)
	inMemory["x.npy"].Data[len(inMemory["x.npy"].Data)-1] ^= 1
	if !saveRun(t, a.Add(1), out) {
		t.Error("other contents were not seen")
	}
	if err := oocore.Open("fs://12345/x.npy").Err(); err == nil || !strings.Contains(err.Error(), "another process's") {
		t.Error(err)
	}
	if _, err := a.Add(1).Save(t.Context(), out, oocore.Processes(2), oocore.Fresh()); err == nil || !strings.Contains(err.Error(), "an array of the program") {
		t.Errorf("in worker processes: %v", err)
	}
}

type closedStore struct {
	*memstore.Array
	closed bool
}

func (c *closedStore) Close() error {
	c.closed = true
	return c.Array.Close()
}

// An array of the program is read and not closed, found while it is used, and forgotten then.
func TestFromStoreReadsAndForgets(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	elements := []float64{0, 1, 2, 3, 4, 5}
	s := &closedStore{Array: memstore.New([]int{2, 3}, dtype.Float64, dtype.Bytes(elements))}
	a := oocore.FromStore(s)
	checkCounts(t, "a store", a, a.Err(), 2, 3)
	checkCounts(t, "twice", a, nil, 2, 3)
	if s.closed {
		t.Error("it was closed")
	}
	out := filepath.Join(t.TempDir(), "o.npy")
	if !saveRun(t, a.Add(1), out) || !saveRun(t, a.Add(1), out) {
		t.Error("an array whose version is not known was not computed anew")
	}
	if err := oocore.FromStore(nil).Err(); err == nil || !strings.Contains(err.Error(), "the store.Array is nil") {
		t.Error(err)
	}
	info := storage.Attach(s)
	path := info.Path
	if again, err := store.Open(path); err != nil {
		t.Fatal(err)
	} else if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(info)
	forgotten := func() bool {
		runtime.GC()
		_, err := store.Open(path)
		return err != nil
	}
	for range 10 {
		if forgotten() {
			return
		}
	}
	t.Error("it is never forgotten")
}

func ExamplePathIn() {
	x := oocore.Open(oocore.PathIn(embedded, "testdata/embedded.npy")) // with //go:embed testdata/embedded.npy
	fmt.Println(x.Shape(), x.DType())
	// Output: [2 3] float64
}
