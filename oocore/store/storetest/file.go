package storetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Save stores a whole array at once.
func Save(t testing.TB, path string, m store.Meta, data []byte) {
	t.Helper()
	w, err := store.Create(path, m)
	noError(t, err)
	defer w.Abort()
	noError(t, w.Write(t.Context(), data, grid.Entire(m.Shape)))
	noError(t, w.Commit(t.Context()))
}

// Open opens an array.
func Open(t testing.TB, path string) store.Array {
	t.Helper()
	a, err := store.Open(path)
	noError(t, err)
	return a
}

// ReadAll returns all elements of an array.
func ReadAll(t testing.TB, a store.Array) string {
	t.Helper()
	info := a.Info()
	dst := make([]byte, grid.Size(info.Shape)*info.DType.Size())
	noError(t, a.Read(t.Context(), dst, All(info.Shape)))
	return string(dst)
}

// CheckError wants an fs.PathError of one line that names the path, of a long one the beginning, and the cause.
func CheckError(t testing.TB, err error, path, cause string) {
	t.Helper()
	if pe, ok := err.(*fs.PathError); !ok || pe.Path != path && !(len(path) > 4096 && strings.HasPrefix(path, strings.TrimSuffix(pe.Path, "…"))) {
		t.Errorf("%.200s: error %#v does not name the file", path, err)
		return
	}
	if msg := err.Error(); cause == "" || !strings.Contains(msg, cause) || strings.Contains(msg, "\n") {
		t.Errorf("%.200s: error %q, want one line with %q", path, msg, cause)
	}
}

// List returns the names in a folder.
func List(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestMovedMember tests that a run which was interrupted does not resume where another array of the
// file has moved its place in the meantime. ext is the format's extension.
func TestMovedMember(t *testing.T, ext string) {
	NoLeaks(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a"+ext)
	old := store.Meta{Shape: []int{3}, DType: dtype.Float64}
	Save(t, file+"#old", old, Elements(old.DType, 3))
	data := Elements(dtype.Int16, 200)
	half := func(w store.Writer, i int) {
		t.Helper()
		noError(t, w.Write(t.Context(), data[200*i:][:200], grid.Box{Start: []int{100 * i}, Shape: []int{100}}))
	}
	begin := func(ws *storage.StagingDir, resume bool) (store.Writer, error) {
		return store.Create(file+"#new", store.Meta{Shape: []int{200}, DType: dtype.Int16, StagingDir: ws, Resume: resume})
	}
	ws, err := storage.NewStagingDir(file)
	noError(t, err)
	w, err := begin(ws, false)
	noError(t, err)
	half(w, 0)
	noError(t, w.Sync(t.Context()))
	noError(t, w.Suspend())
	// By a program that knows no workspace.
	other := filepath.Join(dir, "b"+ext)
	Save(t, other+"#old", old, Elements(old.DType, 3))
	Save(t, other+"#more", old, Elements(old.DType, 3))
	noError(t, os.Rename(other, file))
	_, err = begin(ws, true)
	CheckError(t, err, file+"#new", "start over with --fresh")
	if w, err = begin(ws, false); err != nil {
		t.Fatal(err)
	}
	half(w, 0)
	half(w, 1)
	noError(t, w.Commit(t.Context()))
	noError(t, ws.Remove())
	a := Open(t, file+"#new")
	if got := ReadAll(t, a); got != string(data) {
		t.Errorf("got %x, want %x", got, data)
	}
	a.Close()
	if left := List(t, dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
}
