package main

import (
	"os/exec"
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
