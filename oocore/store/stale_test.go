package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// names are what lies in a folder, hidden or not.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A killed process leaves its temporary file without a lock; another that still
// writes to the same name holds its own.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "x[1].npy")
	if err := os.WriteFile(filepath.Join(dir, ".x[1].npy.gonbext-1-00000000.tmp"), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Meta{Shape: []int{3}, DType: dtype.Float32}
	first, err := Create(target, m)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Create(target, m)
	if err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 2 {
		t.Errorf("%v: want the temporary files of the two that write", n)
	}
	if err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Abort(); err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 1 || n[0] != "x[1].npy" {
		t.Errorf("%v: want the array alone", n)
	}
}

func TestScratchDirs(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".gonbext-left")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := NewScratchDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewScratchDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 2 {
		t.Errorf("%v: want the two that are in use", n)
	}
	for _, s := range []*ScratchDir{a, b} {
		if err := s.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if n := names(t, dir); len(n) != 0 {
		t.Errorf("left: %v", n)
	}
}
