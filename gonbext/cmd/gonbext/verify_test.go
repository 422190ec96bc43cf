package main

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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

// verify computes anew and repairs; a receipt in a file serves another machine.
func TestVerifyComputesAnew(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "a.npy"), "(40, 60)", 2400)
	succeed(t, dir, "convert", "a.npy", "x.zarr", "--chunks", "10x10")
	succeed(t, dir, "compute", "x*2", "x=x.zarr", "-o", "y.zarr", "--chunks", "10x10", "--receipt", "y.receipt")
	if said := succeed(t, dir, "verify", "y.zarr", "--recompute", "10%"); said != "y.zarr is whole: 24 chunks as they were written\n2 chunks computed anew from the inputs: the same\n" {
		t.Error(said)
	}
	for _, share := range []string{"10", "0%", "101%", "NaN%", "x"} {
		failed(t, finish(t, command(dir, "verify", "y.zarr", "--recompute", share)), 2, "give a part such as 1%, or all")
	}
	failed(t, finish(t, command(dir, "verify", "y.zarr", "--recompute", "all", "--repair")), 2, "repair first")
	failed(t, finish(t, command(dir, "verify", "y.zarr", "--recompute", "all", "--memory", "1MiB")), 2, "needs a budget of")
	failed(t, finish(t, command(dir, "compute", "x*3", "x=x.zarr", "-o", "p.zarr", "--receipt", "p.receipt", "--processes", "1")), 2, "a receipt is of one whole array")
	if err := os.Truncate(filepath.Join(dir, "y.zarr", "c", "1", "1"), 7); err != nil {
		t.Fatal(err)
	}
	o := finish(t, command(dir, "verify", "y.zarr", "--recompute", "all", "--json"))
	if o.status != 1 || !strings.Contains(o.stdout, `"recomputed": 23`) || strings.Count(o.stdout, `"start"`) != 1 {
		t.Errorf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	if said := succeed(t, dir, "verify", "y.zarr", "--repair"); said != "y.zarr: one chunk computed again\ny.zarr is whole: 24 chunks as they were written\n" {
		t.Error(said)
	}
	other := t.TempDir()
	for _, name := range []string{"x.zarr", "y.zarr"} {
		if err := os.CopyFS(filepath.Join(other, name), os.DirFS(filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "y.receipt"), testcases.ReadFile(t, filepath.Join(dir, "y.receipt")), 0o666); err != nil {
		t.Fatal(err)
	}
	if said := succeed(t, other, "verify", "y.zarr", "--receipt", "y.receipt"); !strings.Contains(said, "this proves by SHA-256 that it is what the receipt tells, not who made the receipt") {
		t.Error(said)
	}
	if said := succeed(t, other, "verify", "y.zarr", "--receipt", "y.receipt", "--recompute", "all"); !strings.Contains(said, "24 chunks computed anew from the inputs: the same") {
		t.Error(said)
	}
	if why := succeed(t, other, "why", "y.zarr#1,0", "--receipt", "y.receipt"); !strings.Contains(why, "y.zarr = x*2\n") || !strings.Contains(why, "of chunks 6 of "+filepath.Join(other, "x.zarr")) {
		t.Error(why)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.zarr", "c", "0", "0"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	failed(t, finish(t, command(dir, "verify", "y.zarr", "--recompute", "all")), 2, "cannot be computed anew", "x.zarr has changed since")
}

// A repair that is killed at any moment leaves an array as it was, or whole; the next one has the same bytes.
func TestRepairsThatAreKilled(t *testing.T) {
	want, err := strconv.Atoi(os.Getenv("GONBEXT_KILLS"))
	if err != nil {
		want = 8
	}
	for _, c := range []struct {
		name string
		args []string
	}{{"y.zarr", []string{"--chunks", "20x500"}}, {"y.npy", nil}} {
		dir := t.TempDir()
		out := filepath.Join(dir, c.name)
		succeed(t, dir, "compute", "reshape(sin(arange(2000000)*0.37), 4000, 500)", "-o", "x.npy")
		succeed(t, dir, append([]string{"compute", "cos(x) - mean(x, 0)", "x=x.npy", "-o", c.name}, c.args...)...)
		whole := contents(t, out)
		damage := func() {
			for name, text := range whole {
				if filepath.Base(name) != "zarr.json" {
					torn := []byte(text)
					torn[len(torn)-3] ^= 4
					if err := os.WriteFile(filepath.Join(dir, name), torn, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		damage()
		damaged := contents(t, out)
		begun := time.Now()
		succeed(t, dir, "verify", c.name, "--repair")
		took := time.Since(begun)
		damage()
		killed := 0
		for range want {
			repair := command(dir, "verify", c.name, "--repair")
			if err := repair.Start(); err != nil {
				t.Fatal(err)
			}
			at := time.AfterFunc(rand.N(took), func() { _ = repair.Process.Kill() })
			if err := repair.Wait(); err != nil {
				killed++
			}
			at.Stop()
			switch got := contents(t, out); {
			case maps.Equal(got, whole):
				damage()
			case !maps.Equal(got, damaged):
				t.Fatalf("%s: after a kill it is neither as it was nor whole", c.name)
			}
		}
		finish(t, command(dir, "verify", c.name, "--repair"))
		if got := contents(t, out); !maps.Equal(got, whole) {
			t.Errorf("%s: %d kills: other bytes", c.name, killed)
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".y.*")); err != nil || len(left) > 0 {
			t.Errorf("%v are left, %v", left, err)
		}
		t.Logf("%s: %d of %d repairs killed", c.name, killed, want)
	}
}

// contents are the files of an array, by their paths from its folder.
func contents(t *testing.T, array string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(array, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(filepath.Dir(array), path)
			all[name] = string(testcases.ReadFile(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
