package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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

	// What is written beside arrays stays as it was: a report is larger than a kilobyte.
	old := filepath.Join(disk, "page.html")
	testcases.WriteFile(t, old, []byte("the page before"), 0o644)
	testcases.WriteFile(t, filepath.Join(disk, "filler"), make([]byte, 1<<20-16<<10), 0o644)
	for _, page := range []string{"disk/page.html", "disk/new.html"} {
		before := listing(t, dir)
		if o := finish(t, command(dir, "compute", "sum(x)", "x=x.npy", "--report", page)); o.status != 1 || !strings.Contains(o.stderr, "the report cannot be written") {
			t.Errorf("status %d: %s", o.status, o.stderr)
		}
		if after := listing(t, dir); !slices.Equal(before, after) {
			t.Errorf("files were %v and are %v", before, after)
		}
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "the page before" {
		t.Errorf("the page before has %d bytes now, %v", len(text), err)
	}
}
