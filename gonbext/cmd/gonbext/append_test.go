package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestComputeAppends(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "compute", "reshape(arange(0, 12, 1), 3, 4)", "-o", "x.zarr", "--chunks", "2x3")
	succeed(t, dir, "compute", "full(7, 3, 2)", "-o", "x.zarr", "--append", "-1")
	if got := succeed(t, dir, "compute", "x", "x=x.zarr"); got != "[[ 0  1  2  3  7  7]\n [ 4  5  6  7  7  7]\n [ 8  9 10 11  7  7]]\n" {
		t.Errorf("it is %s", got)
	}
	succeed(t, dir, "compute", "ones(1, 3)", "-o", "named.zarr", "--dims", "time,x")
	succeed(t, dir, "compute", "full(7.0, 1, 3)", "-o", "named.zarr", "--append", "time")
	if got := succeed(t, dir, "compute", `sum(x, "x")`, "x=named.zarr"); got != "[ 3. 21.]\n" {
		t.Errorf("it is %s", got)
	}
	rejected(t, dir, command(dir, "compute", "full(7, 1, 3)", "-o", "named.zarr", "--append", "tme"), 1, `"tme" is not found in the dimensions ["time" "x"]`)
	rejected(t, dir, command(dir, "compute", "full(7, 1, 3)", "-o", "none.zarr", "--append", "time"), 1, "none.zarr")
	rejected(t, dir, command(dir, "compute", "full(7, 4, 2)", "-o", "x.zarr", "--append", "1"), 1, "(3, 6)")
	rejected(t, dir, command(dir, "compute", "full(7, 3, 2)", "--append", "1"), 2, "say with -o what to append to")
	rejected(t, dir, command(dir, "compute", "a = full(7, 3, 2)", "-o", "a=x.zarr", "--append", "1"), 2, "one output")
}

// A killed append leaves the array as it was, and the same command resumes it.
func TestKilledAppendLeavesArrayAndResumes(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "compute", "ones(5, 512)", "-o", "x.zarr", "--chunks", "8x512")
	args := []string{"compute", "tanh(sin(tanh(exp(sin(random(1, 4000, 512))))))", "-o", "x.zarr", "--append", "0", "--workers", "1", "--memory", "64MiB", "--json"}
	c := command(dir, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if chunks, _ := filepath.Glob(filepath.Join(dir, "x.zarr", "c", "*")); len(chunks) > 50 {
			break
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if c.Wait() == nil {
		t.Log("it was done before it could be killed")
		return
	}
	if got := succeed(t, dir, "compute", "sum(x)", "x=x.zarr"); got != "2560\n" {
		t.Errorf("after a kill the sum is %s", got)
	}
	if got := object(t, dir, 0, args...); got["skipped"].(float64)+got["computed"].(float64) != got["chunks"] {
		t.Errorf("of %v chunks %v were skipped, %v computed", got["chunks"], got["skipped"], got["computed"])
	}
	if got := succeed(t, dir, "compute", "sum(slice(x, \"5:\") != tanh(sin(tanh(exp(sin(random(1, 4000, 512)))))))", "x=x.zarr"); got != "0\n" {
		t.Errorf("%s elements are wrong", got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".x.zarr.gonbext")); err == nil {
		t.Error("its staging folder is left")
	}
}
