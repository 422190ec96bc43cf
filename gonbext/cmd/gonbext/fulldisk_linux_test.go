package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// A disk that fills up, by this run or beside it, leaves nothing of the output.
func TestFullDisk(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: a full disk, which GONBEXT_TEST=full mounts as root")
	}
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(1000, 1000)", 1000000)
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	rejected(t, dir, command(dir, "compute", "sqrt(x)", "x=x.npy", "-o", "disk/out.npy"), 1, "out.npy", "free")
}
