package cluster

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// A run that removes its folder while its file is read has ended.
func TestRunThatEndsWhileItIsReadIsNone(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.npy")
	r := &run{In: out, Output: out, Plan: filepath.Join(dir, ".out.npy.gonbext", "jobs", "plan.json")}
	if err := r.inside(filepath.Join(dir, ".out.npy.gonbext")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := r.inside(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
