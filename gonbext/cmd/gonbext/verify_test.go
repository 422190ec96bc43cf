package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// A receipt tells, by sentence, JSON and exit status, whether an array is whole and what it was made of.
func TestReceiptsTell(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "a.npy"), "(4, 6)", 24)
	succeed(t, dir, "convert", "a.npy", "x.zarr", "--chunks", "2x3")
	succeed(t, dir, "compute", "x*2", "x=x.zarr", "-o", "y.zarr", "--chunks", "2x3", "--codec", "none")
	if said := succeed(t, dir, "verify", "y.zarr"); said != "y.zarr is whole: 4 chunks as they were written\n" {
		t.Error(said)
	}
	why := succeed(t, dir, "why", "y.zarr#1,0")
	for _, says := range []string{"y.zarr = x*2\n", "chunk [2:4, 0:3] was made by task 2\n", "of chunks 2 of ", "x.zarr"} {
		if !strings.Contains(why, says) {
			t.Errorf("%q is not said:\n%s", says, why)
		}
	}
	name := filepath.Join(dir, "y.zarr", "c", "1", "1")
	b := testcases.ReadFile(t, name)
	b[5] ^= 1
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	o := finish(t, command(dir, "verify", "y.zarr", "--json"))
	if o.status != 1 || !strings.Contains(o.stdout, `"status": "damaged"`) || strings.Count(o.stdout, `"start"`) != 1 {
		t.Errorf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	failed(t, finish(t, command(dir, "verify", "a.npy")), 2, "there is no receipt of it")
	failed(t, finish(t, command(dir, "why", "a.npy")), 2, "there is no receipt of it")
}

// A plan promises an update only where the run makes one: to chunks that are files, and not to one file of a map.
func TestPlansPromiseTheUpdatesThatRunsMake(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "a.npy"), "(3000, 1000)", 3_000_000)
	floats(t, filepath.Join(dir, "part.npy"), "(1, 1)", 1)
	succeed(t, dir, "convert", "a.npy", "x.zarr", "--chunks", "500x500")
	for _, c := range []struct{ out, says string }{{"y.zarr", "1 of 12 chunks changed, 1 task of 12"}, {"y.npy", ""}} {
		args := []string{"compute", "x*2", "x=x.zarr", "-o", c.out, "--json"}
		if c.says != "" {
			args = append(args, "--chunks", "500x500")
		}
		succeed(t, dir, args...)
		succeed(t, dir, "compute", "p + "+map[bool]string{true: "5", false: "7"}[c.says == ""], "p=part.npy", "-o", "x.zarr", "--region", "0:1, 0:1")
		plan, run := succeed(t, dir, append(args, "--plan")...), succeed(t, dir, args...)
		for _, said := range []string{plan, run} {
			if strings.Contains(said, `"changed"`) != (c.says != "") || !strings.Contains(said, c.says) {
				t.Errorf("%s: %q is not all that is said of what has changed:\n%s", c.out, c.says, said)
			}
		}
	}
}
