package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// clean removes what unfinished runs have left, below a folder and of an output, and nothing
// else: no outputs, no work of a running process, nobody's folder of such a name, nothing
// behind a link.
func TestClean(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	unfinished := func(path string, suspend bool) string {
		t.Helper()
		w, err := store.Create(path, store.Meta{Shape: []int{1000}, DType: dtype.Float32, Chunks: map[bool][]int{true: {100}}[filepath.Ext(path) == ".zarr"]})
		if err != nil {
			t.Fatal(err)
		}
		if suspend {
			err = w.Suspend()
		} else {
			t.Cleanup(func() { w.Abort() })
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".gonbext")
	}
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	for _, sub := range []string{"sub", ".theirs.npy.gonbext"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	testcases.WriteFile(t, filepath.Join(dir, ".theirs.npy.gonbext", "thesis.txt"), []byte("years"), 0o600)
	if err := os.Symlink(elsewhere, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	floats(t, filepath.Join(dir, "whole.npy"), "(5, 6)", 30)
	one, two, three := unfinished(filepath.Join(dir, "one.npy"), true), unfinished(filepath.Join(dir, "sub", "two.zarr"), true), unfinished(filepath.Join(dir, "three.npy"), true)
	far, held := unfinished(filepath.Join(elsewhere, "far.npy"), true), unfinished(filepath.Join(dir, "held.npy"), false)

	if said := succeed(t, dir, "clean", "--dry-run"); strings.Count(said, "found") != 4 || !there(one) || !there(two) {
		t.Errorf("a dry run says %q", said)
	}
	if said := succeed(t, dir, "clean", "one.npy"); !strings.Contains(said, "removed") || strings.Count(said, "\n") != 1 || there(one) || !there(three) {
		t.Errorf("of one output it says %q", said)
	}
	said := succeed(t, dir, "clean")
	if strings.Count(said, "removed") != 2 || strings.Count(said, "in use by process") != 1 || there(two) || there(three) {
		t.Errorf("of the folder it says %q", said)
	}
	for _, path := range []string{held, far, filepath.Join(dir, "whole.npy"), filepath.Join(dir, ".theirs.npy.gonbext", "thesis.txt")} {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
	if said := succeed(t, elsewhere, "clean", filepath.Join(dir, "whole.npy")); said != "nothing is unfinished\n" {
		t.Errorf("where nothing is it says %q", said)
	}
}
