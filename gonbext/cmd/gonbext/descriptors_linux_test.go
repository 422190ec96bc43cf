package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A process that may have few files open saves arrays of many chunks.
func TestComputeWithFewDescriptors(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "compute", "reshape(arange(0, 250000, 1), 500, 500)", "-o", "x.npy")
	for _, codec := range []string{"none", "zstd:1"} {
		c := command(dir, "compute", "x + 1", "x=x.npy", "-o", codec[:4]+".zarr", "--chunks", "20x20", "--codec", codec, "--memory", "64MiB")
		limited := exec.Command("sh", append([]string{"-c", `ulimit -n 100; exec "$0" "$@"`}, c.Args...)...)
		limited.Dir, limited.Env = c.Dir, c.Env
		if o := finish(t, limited); o.status != 0 {
			t.Errorf("%s: status %d, %s", codec, o.status, o.stderr)
		}
		if got := succeed(t, dir, "compute", "sum(y - x)", "x=x.npy", "y="+codec[:4]+".zarr"); got != "250000\n" {
			t.Errorf("%s: the sum of the differences is %q", codec, got)
		}
	}
}

// Of thousands of files few are open at once.
func TestComputeStackWithFewDescriptors(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "frames"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		floats(t, filepath.Join(dir, "frames", fmt.Sprintf("%04d.npy", i)), "(3, 4)", 12)
	}
	for _, axis := range []string{"", "?axis=2"} {
		c := command(dir, "compute", "sum(x)", "x=frames/*.npy"+axis, "--memory", "64MiB", "--workers", "4")
		limited := exec.Command("sh", append([]string{"-c", `ulimit -n 100; exec "$0" "$@"`}, c.Args...)...)
		limited.Dir, limited.Env = c.Dir, c.Env
		if o := finish(t, limited); o.status != 0 || o.stdout != "1.518e+06\n" { // 3000 · (0 + 1 + 4 + … + 121)
			t.Errorf("axis %q: status %d, %s%s", axis, o.status, o.stdout, o.stderr)
		}
	}
	if said := succeed(t, dir, "info", "frames/*.npy"); !strings.Contains(said, "3,000 × 3 × 4") {
		t.Errorf("info says %s", said)
	}
	o := finish(t, command(dir, "compute", "sum(x)", "x=none/*.npy"))
	failed(t, o, 1, "no file matches")
}
