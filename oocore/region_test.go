package oocore_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// A region whose writing was cut off keeps the array from being read, until that same
// region is saved again.
func TestTornRegionIsFinishedBySavingItAgain(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ctx := context.Background()
	for _, name := range []string{"x.npy", "x.zarr"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := oocore.Full(float32(0), 40, 6).Save(ctx, path); err != nil {
			t.Fatal(err)
		}
		w, err := store.Create(path, store.Meta{Shape: []int{40, 6}, DType: oocore.Float32, Region: &grid.Box{Start: []int{10, 0}, Shape: []int{5, 6}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Suspend(); err != nil {
			t.Fatal(err)
		}
		if err := oocore.Open(path).Err(); err == nil || !strings.Contains(err.Error(), "was not finished") {
			t.Errorf("%s: opening the torn array gives %v", name, err)
		}
		part := oocore.Full(float32(1), 5, 6)
		if _, err := part.Save(ctx, path, oocore.Region("20:25")); err == nil {
			t.Errorf("%s: another region was written to the torn array", name)
		}
		if _, err := part.Save(ctx, path, oocore.Region("10:15")); err != nil {
			t.Errorf("%s: the region cannot be finished: %v", name, err)
		}
		got, err := oocore.Collect[float32](ctx, oocore.Open(path).Sum(1))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if want := map[bool]float32{true: 6}[i >= 10 && i < 15]; v != want {
				t.Errorf("%s: row %d adds up to %v, want %v", name, i, v, want)
			}
		}
	}
}

func TestRegionsBeyondTheArrayAreRejected(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	path := filepath.Join(t.TempDir(), "x.npy")
	if _, err := oocore.Full(float32(0), 40, 6).Save(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	for _, region := range []string{"30:50", ":, 0:7", "-50:10", "..., 5:2000", "..., -7:6,", "30:41, ...", "..., 30:41, :"} {
		_, err := oocore.Full(float32(1), 1).Save(context.Background(), path, oocore.Region(region))
		if err == nil || !strings.Contains(err.Error(), "goes past the end") {
			t.Errorf("region %q gives %v", region, err)
		}
	}
	for _, region := range []string{"..., 0:3, newaxis", "None, 0:3"} {
		_, err := oocore.Full(float32(1), 1).Save(context.Background(), path, oocore.Region(region))
		if err == nil || !strings.Contains(err.Error(), "adds an axis") {
			t.Errorf("region %q gives %v", region, err)
		}
	}
	for region, sum := range map[string]float32{"..., 0:6": 240, "..., 38:40, 5,": 2, "...": 240} {
		if _, err := oocore.Full(float32(0), 40, 6).Save(context.Background(), path); err != nil {
			t.Fatal(err)
		}
		if _, err := oocore.Full(float32(1), 1).Save(context.Background(), path, oocore.Region(region)); err != nil {
			t.Errorf("region %q gives %v", region, err)
		}
		if got, err := oocore.Item[float32](context.Background(), oocore.Open(path).Sum()); err != nil || got != sum {
			t.Errorf("region %q leaves a sum of %v, want %v: %v", region, got, sum, err)
		}
	}
}

// A region may be narrower than a chunk of its array: an operation of boxes then needs no
// more of its input than the region has.
func TestRegionNarrowerThanAChunkTakesOperations(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ctx, dir := context.Background(), t.TempDir()
	x, err := oocore.Arange(0, 174, 1).Save(ctx, filepath.Join(dir, "x.zarr"), oocore.Chunks(100))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "y.zarr")
	if _, err := oocore.Full(int64(0), 36, 11).Save(ctx, path, oocore.Chunks(14, 11)); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Reshape(29, 6).Save(ctx, path, oocore.Region("5:34, 1:7")); err != nil {
		t.Fatal(err)
	}
	got, err := oocore.Collect[int64](ctx, oocore.Open(path))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		row, column, want := i/11-5, i%11-1, int64(0)
		if row >= 0 && row < 29 && column >= 0 && column < 6 {
			want = int64(row*6 + column)
		}
		if v != want {
			t.Fatalf("element %d, %d is %d, want %d", i/11, i%11, v, want)
		}
	}
}

// Where a run starts over at a place that has another's result, it says why.
func TestStartingOverSaysWhy(t *testing.T) {
	log := t.TempDir()
	t.Setenv("GONBEXT_RUNS", log)
	path := filepath.Join(t.TempDir(), "x.zarr")
	for i, want := range []string{"", "the expression is another"} {
		if _, err := oocore.Full(float32(1), 40, 6).Add(i).Save(context.Background(), path); err != nil {
			t.Fatal(err)
		}
		runs, err := record.List(log)
		if err != nil || len(runs) == 0 {
			t.Fatal(len(runs), err)
		}
		if got := runs[0].Header.Resume; got != want {
			t.Errorf("run %d starts over since %q, want %q", i, got, want)
		}
	}
}
