package oocore_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/record"
)

// A program that imports the packages leaves no records in its user's cache, and yet what it
// saves is not computed again.
func TestProgramLeavesRecordsOnlyWhereAsked(t *testing.T) {
	for _, c := range []struct {
		name, runs string
		opts       []oocore.Option
		records    bool
	}{
		{"unasked", "", nil, false},
		{"on", "on", nil, true},
		{"off", "off", nil, false},
		{"a cell", "", []oocore.Option{host.Cell("7")}, true},
		{"a cell, off", "off", []oocore.Option{host.Cell("7")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache, dir := t.TempDir(), t.TempDir()
			t.Setenv("XDG_CACHE_HOME", cache)
			t.Setenv("GONBEXT_RUNS", c.runs)
			x := oocore.Arange(0, 24, 1).Reshape(2, 3, 4).AsType(oocore.Float64)
			save := func() (r oocore.RunReport) {
				t.Helper()
				saved(t, x.Sqrt(), filepath.Join(dir, "o.npy"), append(c.opts, oocore.Report(&r))...)
				return r
			}
			first, again := save(), save()
			err := door.Get(oocore.Plan{}).RunGroup("an algorithm", c.opts, func(opts []oocore.Option, _ func(string, float64)) error {
				_, err := oocore.Collect[float64](t.Context(), x.Sum(), opts...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want := oocore.StatusSkipped
			if c.runs == "off" {
				want = oocore.StatusDone
			}
			if again.Status != want || (first.Run != "") != c.records {
				t.Errorf("the second save is %q, the first record %q", again.Status, first.Run)
			}
			runs := filepath.Join(cache, "gonbext", "runs")
			names, err := record.Names(runs)
			if err != nil || (len(names) == 3) != c.records || !c.records && len(names) != 0 {
				t.Errorf("records %q, %v", names, err)
			}
			if _, err := os.Stat(runs); c.runs == "off" && err == nil {
				t.Error("GONBEXT_RUNS=off leaves a folder")
			}
		})
	}
}

// The line under a cell is of what was saved, not of what was read.
func TestRecordHasShapeOfResult(t *testing.T) {
	x := oocore.Arange(0, 24, 1).Reshape(2, 3, 4)
	p, err := x.Sqrt().Sum(0).Plan(filepath.Join(t.TempDir(), "o.npy"), host.PlanOnly())
	if err != nil {
		t.Fatal(err)
	}
	if got := *host.Sized(p).Header().Result; !slices.Equal(got.Shape, []int{3, 4}) || got.DType != "float64" || got.Arrays != 1 || got.Bytes != 96 {
		t.Errorf("%+v", got)
	}
}
