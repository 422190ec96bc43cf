package oocore_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/record"
)

// An algorithm of more runs than the run log keeps has all of them in its record, and
// pushes nobody else's out.
func TestTogetherOfMany(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	x := oocore.FromSlice(make([]float64, 100), 10, 10)
	if _, err := oocore.Collect[float64](t.Context(), x.Sqrt()); err != nil {
		t.Fatal(err)
	}
	const runs = 1100 // merged ones are merged again
	err := door.Get(oocore.Plan{}).RunGroup("many sums", nil, func(opts []oocore.Option, _ func(string, float64)) error {
		for range runs {
			if _, err := oocore.Collect[float64](t.Context(), x.Sum(1), opts...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := record.List(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	h, end := all[0].Header, all[0].End
	if h.Title != "many sums" || len(h.Stages) != 1 || h.Stages[0].Tasks != runs || h.Stages[0].Runs != runs || end.Computed != runs {
		t.Fatalf("%+v, %+v", h, end)
	}
	one := all[1].Header.Stages[0].Work // of a run of as many tasks
	if h.Steps != runs || len(end.Stages) != 1 || end.Stages[0].Tasks != runs || end.Stages[0].Seconds <= 0 || len(one) == 0 || h.Stages[0].Work[0].Nanos != runs*one[0].Nanos {
		t.Errorf("%d steps, which spent %+v on %+v", h.Steps, end.Stages, h.Stages[0].Work)
	}
	r, err := record.Read(all[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	tasks, last, done := 0, time.Duration(0), int64(0)
	for row := range r.Tasks() {
		if row.Chunk != int64(tasks) {
			t.Fatalf("chunk %d of task %d", row.Chunk, tasks)
		}
		if row.Start < last {
			t.Fatalf("task %d begins at %v, after one that began at %v", tasks, row.Start, last)
		}
		tasks, last = tasks+1, row.Start
	}
	for s := range r.Samples() {
		if s.Done < done {
			t.Fatalf("%d tasks done after %d", s.Done, done)
		}
		done = s.Done
	}
	if tasks != runs || done != runs {
		t.Errorf("%d rows of tasks, and %d done in the last sample", tasks, done)
	}
}

// Runs of one algorithm may overlap, and none is lost.
func TestTogetherAtOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	x := oocore.FromSlice(make([]float64, 100), 10, 10)
	const each = 40
	err := door.Get(oocore.Plan{}).RunGroup("sums at once", nil, func(opts []oocore.Option, _ func(string, float64)) error {
		var group sync.WaitGroup
		failed := make([]error, 4)
		for i := range failed {
			group.Go(func() {
				for range each {
					_, err := oocore.Collect[float64](t.Context(), x.Sum(1), opts...)
					failed[i] = errors.Join(failed[i], err)
				}
			})
		}
		group.Wait()
		return errors.Join(failed...)
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := record.List(dir)
	if err != nil || len(all) != 1 || all[0].End == nil || all[0].End.Computed != 4*each {
		t.Fatalf("%d records, %+v, %v", len(all), all[0].End, err)
	}
}

// The runs of an algorithm are one record: alike stages are one, totals add up, and
// what it noted is there.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	x := oocore.FromSlice(make([]float64, 1000), 10, 100)
	err := door.Get(oocore.Plan{}).RunGroup("three sums", []oocore.Option{host.Cell("here")}, func(opts []oocore.Option, note func(string, float64)) error {
		for i := range 3 {
			if _, err := oocore.Collect[float64](t.Context(), x.Sum(1), opts...); err != nil {
				return err
			}
			note("error", math.Exp2(-float64(i)))
			if all, err := record.List(dir); err != nil || len(all) != i+1 || all[0].Header.Within != "here" || all[0].Header.Title != fmt.Sprintf("three sums, step %d", i+1) {
				t.Errorf("after %d runs: %+v, %v", i+1, all, err)
			}
		}
		_, err := x.Sqrt().Save(t.Context(), dir+"/y.npy", opts...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := record.List(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	h, end := all[0].Header, all[0].End
	if h.Title != "three sums" || h.Cell != "here" || h.Within != "" || len(h.Stages) != 2 || end == nil || end.Status != record.Done {
		t.Fatalf("%+v, %+v", h, end)
	}
	if len(h.Series) != 1 || len(h.Series[0].Values) != 3 || h.Series[0].Values[2] != 0.25 {
		t.Errorf("noted %v", h.Series)
	}
	r, err := record.Read(all[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	tasks, samples := [2]int{}, 0
	for row := range r.Tasks() {
		tasks[row.Stage]++
	}
	for range r.Samples() {
		samples++
	}
	if want := [2]int{h.Stages[0].Tasks, h.Stages[1].Tasks}; tasks != want || want[0]%3 != 0 || int64(want[0]+want[1]) != end.Computed || samples == 0 {
		t.Errorf("%v rows of tasks, %v planned, %d computed, %d samples", tasks, want, end.Computed, samples)
	}
	if end.Written != 8000 {
		t.Errorf("%d bytes written", end.Written)
	}
}

// This package's tests do not import decomp.
func TestDecompositionsNeedAnImport(t *testing.T) {
	err := oocore.Eval("cp(x, 2)", oocore.Names{"x": oocore.Full(1.0, 3, 3)}).Err()
	if err == nil || !strings.HasPrefix(err.Error(), "cp: this program has no decompositions: import github.com/gonbext/gonbext/oocore/decomp (") {
		t.Error(err)
	}
}
