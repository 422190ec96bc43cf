package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// What an expression runs before its result is part of what the command tells.
func TestRunsOfAnExpression(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(20, 15, 10)", 3000)
	said := succeed(t, dir, "compute", `cp(x, 2, "iterations=4", "tolerance=0")`, "x=x.npy", "-o", "y.npy", "--report", "y.html")
	if !strings.HasPrefix(said, "cp of rank 2 of x: ") || strings.Count(said, "Peak ") != 2 || !strings.Contains(said, "→ y.npy") {
		t.Errorf("said %q", said)
	}
	page, err := os.ReadFile(filepath.Join(dir, "y.html"))
	if err != nil || !strings.Contains(string(page), "Relative error by iteration") || !strings.Contains(string(page), "<title>cp(x, 2, ") {
		t.Errorf("the page has no errors, or another title (%v)", err)
	}
	var f, mask figures
	if err := json.Unmarshal([]byte(succeed(t, dir, "compute", `cp(x, 2, "iterations=4", "tolerance=0")`, "x=x.npy", "-o", "y.npy", "--fresh", "--json")), &f); err != nil {
		t.Fatal(err)
	}
	// The norm, and two passes an iteration; the tensor is 12,000 bytes, the result twice that.
	if f.ReadBytes != 9*12000 || f.WrittenBytes != 24000 || f.MeasuredPeak == 0 || f.MeasuredPeak > f.PredictedPeak {
		t.Errorf("figures %+v", f)
	}
	if err := json.Unmarshal([]byte(succeed(t, dir, "compute", "mask(x, x >= 1)", "x=x.npy", "-o", "y.npy", "--json")), &mask); err != nil {
		t.Fatal(err)
	}
	if mask.ReadBytes < 2*12000 || mask.Passes < 2 {
		t.Errorf("figures of a mask without its counting: %+v", mask)
	}
}

func TestPlansOfAnExpression(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(20, 15, 10)", 3000)
	said := succeed(t, dir, "compute", "tucker(x, 2, 3, 4)", "x=x.npy", "-o", "y.npy", "--plan")
	if !strings.Contains(said, "nothing was run") || strings.Contains(said, "tucker of") {
		t.Errorf("said %q", said)
	}
	for e, want := range map[string]string{
		"mask(x, x > 1)":             "gonbext: mask: a shape follows from values, and nothing was computed: this is a plan only",
		`tucker(x, 2, 3, 4, "size")`: `gonbext: expression, column 20: tucker does not take "size": tucker(x, ranks...`,
	} {
		o := finish(t, command(dir, "compute", e, "x=x.npy", "-o", "y.npy", "--plan"))
		if o.status == 0 || !strings.HasPrefix(o.stderr, want) {
			t.Errorf("%s: status %d, %q", e, o.status, o.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "y.npy")); err == nil {
		t.Error("a plan wrote its output")
	}
}

// What would be rejected after a decomposition is rejected before it.
func TestDecompositionsInVain(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(20, 15, 10)", 3000)
	for want, args := range map[string][]string{
		"the result has shape (20, 15, 10): say with -o where": {`cp(x, 2)`, "x=x.npy"},
		"--report nowhere/y.html: there is no folder":          {`cp(x, 2)`, "x=x.npy", "-o", "y.npy", "--report", "nowhere/y.html"},
		"chunks":           {`cp(x, 2)`, "x=x.npy", "-o", "y.zarr", "--chunks", "2x2"},
		"take lower ranks": {`cp(x, 4611686018427387904)`, "x=x.npy", "-o", "y.npy"},
		"a decomposition of these ranks needs a budget of": {`cp(x, 20000)`, "x=x.npy", "-o", "y.npy", "--memory", "64MiB"},
	} {
		o := finish(t, command(dir, append([]string{"compute"}, args...)...))
		if o.status == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%q: status %d, %q, want %q", args, o.status, o.stderr, want)
		}
	}
	if runs, err := record.List(filepath.Join(dir, ".runs")); err != nil || len(runs) > 0 {
		t.Errorf("%d runs (%v)", len(runs), err)
	}
}
