package oocore_test

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Files that are packed as a whole are read as what is in them.
func TestPackedFilesInterchange(t *testing.T) {
	storetest.Foreign(t, "packed files of numpy, nibabel, astropy and netCDF4", "testdata/packed.py", 60)
}

// TestPackedFileThatCannotBeReadSaysWhy opens packed files that are cut short, hold no array, or are named as others are.
func TestPackedFileThatCannotBeReadSaysWhy(t *testing.T) {
	pack := func(b []byte) []byte {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(b); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return packed.Bytes()
	}
	array := filepath.Join(t.TempDir(), "x.npy")
	if _, err := oocore.Arange(0, 100, 1).Save(t.Context(), array); err != nil {
		t.Fatal(err)
	}
	whole := pack(testcases.ReadFile(t, array))
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"cut.npy.gz", whole[:len(whole)-20], "the compressed bytes end too early"},
		{"empty.npy.gz", nil, "its 0 bytes do not begin as such"},
		{"twice.npy.gz", pack(whole), "in which no array can be read"},
		{"unnamed", whole, "let the name end in .gz"},
		{"x.zip", []byte("PK\x03\x04" + strings.Repeat("\x00", 40)), "its name ends in .zarr.zip"},
		{"x.hdf", []byte("\x0e\x03\x13\x01" + strings.Repeat("\x00", 40)), "h4toh5"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		testcases.WriteFile(t, path, c.file, 0o600)
		if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := store.Open("http://127.0.0.1:1/x.npy.gz"); err == nil || !strings.Contains(err.Error(), "on this machine only") {
		t.Errorf("of a web server: %v", err)
	}
}

// TestFolderThatCannotBeReadSaysWhy opens folders as Hugging Face has models, and one without arrays.
func TestFolderThatCannotBeReadSaysWhy(t *testing.T) {
	folder := t.TempDir()
	testcases.WriteFile(t, filepath.Join(folder, "config.json"), []byte("{}"), 0o600)
	says := func(path, want string) {
		t.Helper()
		if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	says(folder, "the folder has no arrays")
	index := filepath.Join(folder, "model.safetensors.index.json")
	testcases.WriteFile(t, index, []byte(`{"weight_map": {"a": "../x.safetensors"}}`), 0o600)
	says(folder, `tensor "a" is in "../x.safetensors"`)
	says(folder+"#a", "name "+index+"#a")
}

// What unpacks a file while it is open at any place is counted in the budgets of runs that read it.
func TestPackedFilesCountWhatUnpacksThem(t *testing.T) {
	open := func(path string) int64 {
		a := testcases.Must[store.Array](t)(store.Open(path + "#fixed"))
		defer a.Close()
		return a.Info().Work.Open
	}
	plain := filepath.FromSlash("internal/format/hdf5/testdata/new.h5")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(testcases.ReadFile(t, plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new.h5.gz")
	testcases.WriteFile(t, path, packed.Bytes(), 0o600)
	if more := open(path) - open(plain); more < 1<<20 {
		t.Errorf("packed it holds %d bytes more", more)
	}
}
