package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestAppendGrowsAlongAnyAxis(t *testing.T) {
	random := testcases.Rand(t)
	for _, layout := range [][]oocore.Option{
		{oocore.Chunks(4, 3, 5)},
		{oocore.Chunks(4, 3, 5), oocore.Codec("none")},
		{oocore.Chunks(2, 2, 2), oocore.Shards(4, 6, 4), oocore.Codec("gzip:1")},
	} {
		for axis := range 3 {
			path := filepath.Join(t.TempDir(), "x.zarr")
			all := oocore.Random(oocore.Float32, 1, 6, 7, 8)
			x := saved(t, all, path, append(layout, oocore.Attributes(map[string]any{"units": "K"}))...)
			for seed := range uint64(4) {
				shape := x.Shape()
				shape[axis] = 1 + random.IntN(9)
				more := oocore.Random(oocore.Float32, 10+seed, shape...)
				var err error
				if x, err = more.Append(t.Context(), path, axis-3*int(seed%2)); err != nil {
					t.Fatal(err)
				}
				all = oocore.Concatenate(axis, all, more)
				got, want := collect[float32](t, x), collect[float32](t, all)
				if !slices.Equal(x.Shape(), all.Shape()) || !slices.Equal(got, want) {
					t.Fatalf("axis %d, append %d of %v: shape %v, want %v, or other elements", axis, seed, shape, x.Shape(), all.Shape())
				}
			}
			info, err := storage.Describe(path)
			if err != nil || !strings.Contains(string(info.Details.Attributes), `"K"`) {
				t.Errorf("attributes %s, %v", info.Details.Attributes, err)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		}
	}
}

// after is a, of which the block of that number calls a function.
func after(a *oocore.Array, block int64, f func()) *oocore.Array {
	var blocks atomic.Int64
	return oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		if blocks.Add(1) == block {
			f()
		}
		copy(dst, src)
		return nil
	}, a, oocore.MapOptions{Chunks: []int{8, 512}})
}

// What an append that was ended left is not seen, and the next one resumes or starts over.
func TestAppendThatIsEndedLeavesArrayAsItWas(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.zarr")
	const rows = 13 // of chunks of 8: the second chunk is at the edge
	saved(t, oocore.Ones(oocore.Float64, rows, 512), path, oocore.Chunks(8, 512))
	more := oocore.Random(oocore.Float64, 3, 2000, 512)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := after(more, 20, cancel).Append(ctx, path, 0, oocore.Version("1"), oocore.Workers(1)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	check := func(want *oocore.Array) {
		t.Helper()
		got := oocore.Open(path)
		if !slices.Equal(got.Shape(), want.Shape()) || !slices.Equal(collect[float64](t, got), collect[float64](t, want)) {
			t.Errorf("shape %v, want %v, or other elements", got.Shape(), want.Shape())
		}
	}
	check(oocore.Ones(oocore.Float64, rows, 512))
	few := oocore.Full(2.0, 9, 512)
	if _, err := few.Append(t.Context(), path, 0); err != nil { // over what the first has left
		t.Fatal(err)
	}
	check(oocore.Concatenate(0, oocore.Ones(oocore.Float64, rows, 512), few))
	var r oocore.RunReport
	if _, err := after(more, 0, cancel).Append(t.Context(), path, 0, oocore.Version("1"), oocore.Report(&r)); err != nil {
		t.Fatal(err)
	}
	check(oocore.Concatenate(0, oocore.Ones(oocore.Float64, rows, 512), few, more))
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAppendThatIsEndedResumesIntoSameArrayOnly(t *testing.T) {
	more := oocore.Random(oocore.Float64, 3, 3000, 512)
	for _, recreated := range []bool{false, true} {
		path, copied := filepath.Join(t.TempDir(), "x.zarr"), filepath.Join(t.TempDir(), "x.zarr")
		saved(t, oocore.Ones(oocore.Float64, 5, 512), path, oocore.Chunks(8, 512))
		if err := os.CopyFS(copied, os.DirFS(path)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := after(more, 150, cancel).Append(ctx, path, 0, oocore.Version("1"), oocore.Workers(1)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if recreated { // by other means, so that what is left of the run stays
			if err := errors.Join(os.RemoveAll(path), os.CopyFS(path, os.DirFS(copied))); err != nil {
				t.Fatal(err)
			}
		}
		var r oocore.RunReport
		x, err := after(more, 0, cancel).Append(t.Context(), path, 0, oocore.Version("1"), oocore.Report(&r))
		if err != nil {
			t.Fatal(err)
		}
		if r.Skipped == 0 != recreated {
			t.Errorf("recreated %t, and %d tasks were skipped", recreated, r.Skipped)
		}
		if want := oocore.Concatenate(0, oocore.Ones(oocore.Float64, 5, 512), more); !slices.Equal(collect[float64](t, x), collect[float64](t, want)) {
			t.Errorf("recreated %t: the elements are others", recreated)
		}
	}
}

func TestAppendKeepsOthersOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr")
	saved(t, oocore.Ones(oocore.Float64, 5, 512), path, oocore.Chunks(4, 64))
	ws, err := storage.NewStagingDir(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = oocore.Ones(oocore.Float64, 5, 512).Append(t.Context(), path, 0)
	if _, locked := errors.AsType[*store.LockedError](err); !locked {
		t.Errorf("beside another writer: %v", err)
	}
	if err := ws.Remove(); err != nil {
		t.Fatal(err)
	}
}

func TestAppendRejects(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	x := saved(t, oocore.Ones(oocore.Float32, 4, 6), at("x.zarr"), oocore.Chunks(3, 3))
	saved(t, oocore.Ones(oocore.Float32, 4, 6), at("x.npy"))
	before := testcases.ReadFile(t, at("x.zarr/zarr.json"))
	row := oocore.Ones(oocore.Float32, 1, 6)
	for i, c := range []struct {
		a    *oocore.Array
		path string
		axis int
		opts []oocore.Option
		says string
	}{
		{row, "", 0, nil, "path is empty"},
		{row, at("none.zarr"), 0, nil, "none.zarr"},
		{row, at("x.npy"), 0, nil, "only Zarr arrays grow"},
		{row, at("x.zarr"), 2, nil, "axis 2 is out of bounds"},
		{row, at("x.zarr"), 1, nil, "(1, 6)"},
		{row.Reshape(6), at("x.zarr"), 0, nil, "has shape (4, 6)"},
		{row.AsType(oocore.Float64), at("x.zarr"), 0, nil, "float32, not float64"},
		{row.Slice("0:0"), at("x.zarr"), 0, nil, "no elements to append"},
		{x, at("x.zarr"), 0, nil, "also an input"},
		{row, at("x.zarr"), 0, []oocore.Option{oocore.Chunks(1, 1)}, "chunks"},
		{row, at("x.zarr"), 0, []oocore.Option{oocore.Region("0:1")}, "Region"},
		{row, at("x.zarr"), 0, []oocore.Option{oocore.DimNames("a", "b")}, "dimension names"},
		{row, at("x.zarr"), 0, []oocore.Option{oocore.Memory("1MiB")}, "budget"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if _, err := c.a.Append(t.Context(), c.path, c.axis, c.opts...); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	if after, err := os.ReadFile(at("x.zarr/zarr.json")); err != nil || string(after) != string(before) {
		t.Errorf("the metadata are %s, %v", after, err)
	}
}
