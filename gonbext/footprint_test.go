package gonbext_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/record"
)

func TestSaveAllUnderFootprintRunsNothing(t *testing.T) {
	r := run(t, "several planned")
	r.expect(t, 0)
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.[nz]*")); len(files) > 0 {
		t.Errorf("left %v", files)
	}
	runs := r.runs(t)
	if len(runs) != 1 || runs[0].Status != record.Planned || !runs[0].Header.PlanOnly {
		t.Fatalf("records: %+v", runs)
	}
	checkAlternatives(t, runs[0].Header)
}

func TestNominalFootprintIsThatOfAnyMachine(t *testing.T) {
	r := run(t, "nominal")
	r.expect(t, 0)
	runs := r.runs(t)
	if len(runs) != 1 || !runs[0].Header.PlanOnly || runs[0].Header.Workers != 3 || runs[0].Header.Budget != 4000<<40 || runs[0].Header.Overhead != 16<<20 {
		t.Errorf("records: %+v", runs)
	}
}

// Labels are read under a footprint too: what is planned follows from them.
func TestFootprintReadsLabels(t *testing.T) {
	r := run(t, "labels planned")
	r.expect(t, 0)
	planned := 0
	for _, one := range r.runs(t) {
		if one.Header.PlanOnly {
			planned++
		}
	}
	if planned != 2 {
		t.Errorf("%d of 2 Saves are planned:\n%s", planned, r.stdout)
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.zarr")); len(files) != 1 {
		t.Errorf("there are %v", files)
	}
}

func TestFootprintOfMethodsWritesNothing(t *testing.T) {
	r := run(t, "methods")
	r.expect(t, 0)
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(files) != 1 { // the run log
		t.Errorf("a footprint left %v", files)
	}
	lines := strings.Split(r.stdout, "\n")
	if len(lines) < 3 || !strings.HasSuffix(lines[0], "<nil>") || lines[1] != "true" || lines[2] != "true" {
		t.Errorf("said\n%s%s", r.stdout, r.stderr)
	}
	for _, s := range r.runs(t) {
		if !s.Header.PlanOnly && s.Header.Within == "" && s.Header.Title == "" {
			t.Errorf("a run that is no plan: %+v", s.Header)
		}
	}
}

func TestFootprintRunsNothing(t *testing.T) {
	r := run(t, "footprint")
	r.expect(t, 0)
	if !strings.Contains(r.stdout, "Collect (programs_test.go:") || !strings.Contains(r.stdout, "computes none") || strings.Contains(r.stderr, "reached") {
		t.Errorf("said %q and %q", r.stdout, r.stderr)
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.npy")); len(files) > 0 {
		t.Errorf("left %v", files)
	}
	runs := r.runs(t)
	if len(runs) != 3 {
		t.Fatalf("%d plans", len(runs))
	}
	for _, run := range runs {
		if run.Status != record.Planned || !run.Header.PlanOnly {
			t.Errorf("%s is no plan: %s", run.Header.Title, run.Status)
		}
		checkAlternatives(t, run.Header)
	}
}

// A footprint of a cell that names a device says what other cards would mean.
func TestFootprintComparesCardsWithDevice(t *testing.T) {
	r := run(t, "cards")
	r.expect(t, 0)
	runs := r.runs(t)
	if len(runs) != 1 {
		t.Fatalf("%d plans", len(runs))
	}
	rows, chunks := map[string]record.WhatIf{}, 0
	for _, w := range runs[0].Header.WhatIf {
		if w.Device == "" {
			chunks++
			continue
		}
		rows[w.Device] = w
		if !w.Fits || w.OnDevice == 0 || w.OnDevice > len(runs[0].Header.Stages) || w.Link == 0 || w.Seconds <= 0 || w.Limit == "" || w.Memory <= 0 {
			t.Errorf("%+v", w)
		}
	}
	if own := rows["model:64MiB"]; own.Memory != 64<<20 || len(rows) != 1+len(cuda.Cards()) || chunks < 3 {
		t.Errorf("%d rows of chunks and budgets, %d of cards, the cell's own %+v", chunks, len(rows), own)
	}
}

// checkAlternatives holds the rows to their meaning: what fits needs no more than
// its budget, and what does not needs more.
func checkAlternatives(t *testing.T, h record.Header) {
	t.Helper()
	devices := 0
	for _, w := range h.WhatIf {
		if w.Device != "" {
			devices++
		}
		if w.Need <= 0 || w.Fits != (w.Need <= w.Budget) {
			t.Errorf("%s: chunks %v in %d of %d: fits %v", h.Title, w.Chunks, w.Need, w.Budget, w.Fits)
		}
		if own := w.Budget == h.Budget && slices.Equal(w.Chunks, h.Stages[len(h.Stages)-1].Chunks); own && w.Passes != h.Passes() {
			t.Errorf("%s: %d passes, as an alternative %d", h.Title, h.Passes(), w.Passes)
		}
		if w.Fits && (w.Tasks == 0 || w.Peak > w.Budget || w.Moved == 0 && h.Output != "") {
			t.Errorf("%s: %+v", h.Title, w)
		}
	}
	if devices > 0 || len(h.WhatIf) == 1 {
		t.Errorf("%s: %d rows, %d of them of devices that nobody asked for", h.Title, len(h.WhatIf), devices)
	}
}

// A footprint on a cluster has a row for each number of workers, and asks no cluster.
func TestFootprintOnACluster(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := run(t, "cluster planned")
	if !strings.Contains(r.stdout, "worker-hours") || !strings.Contains(r.stderr, "reached") {
		t.Errorf("it prints %q, %q", r.stdout, r.stderr)
	}
	for _, row := range []string{"1 ", "8 ", "1,000 "} {
		if !strings.Contains(r.stdout, "\n"+row) {
			t.Errorf("there is no row %q in %s", row, r.stdout)
		}
	}
	if !strings.Contains(r.stdout, " MiB  ") {
		t.Errorf("the memory of each worker is missing: %s", r.stdout)
	}
	if r := run(t, "cluster without a budget"); !strings.Contains(r.stderr, "Memory is the budget of a worker") {
		t.Errorf("without a budget it says %q", r.stderr)
	}
}
