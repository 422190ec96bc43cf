package oocore_test

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Files that are packed as a whole are read as what is in them.
func TestPackedFilesInterchange(t *testing.T) {
	storetest.Foreign(t, "packed files of numpy, nibabel, astropy and netCDF4", "testdata/packed.py", 60)
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
