package oocore_test

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

func TestRunsAtOnceStayWithinOneBudget(t *testing.T) {
	smallBudget(t)
	log := runLog(t)
	x := oocore.Random(oocore.Float32, 1, 1024, 2048)
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			path := filepath.Join(dir, strings.Repeat("x", i+1)+".npy")
			if _, err := x.Sort(0).Save(context.Background(), path, oocore.Memory("64MiB")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	runs, err := record.List(log)
	if err != nil || len(runs) != 4 {
		t.Fatalf("%d records, %v", len(runs), err)
	}
	// Of runs that overlap in time the arenas' peaks fit into the budget together.
	for _, a := range runs {
		sum := a.Header.Overhead
		for _, b := range runs {
			begin := b.Header.Start
			if !a.Header.Start.Before(begin) && a.Header.Start.Before(begin.Add(b.End.Duration)) {
				sum += b.End.Peak
			}
		}
		if sum > 64<<20 {
			t.Errorf("runs of 64 MiB took %d bytes at once", sum)
		}
	}
}

func TestRunWithinAFunctionOfARunDoesNotWaitForIt(t *testing.T) {
	smallBudget(t)
	runLog(t)
	dir := t.TempDir()
	x := oocore.Random(oocore.Float64, 1, 64, 64)
	outer := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		copy(dst, src)
		_, err := x.Sort(0).Save(context.Background(), filepath.Join(dir, "inner.npy"), oocore.Memory("64MiB"))
		return err
	}, x, oocore.MapOptions{})
	if _, err := outer.Save(context.Background(), filepath.Join(dir, "outer.npy"), oocore.Memory("64MiB"), oocore.Workers(1)); err != nil {
		t.Fatal(err)
	}
}

func TestGarbageIsNotHeldAgainstABudget(t *testing.T) {
	smallBudget(t)
	runLog(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	x := oocore.Random(oocore.Float32, 1, 12<<20)
	if _, err := oocore.Collect[float32](context.Background(), x, oocore.Memory("256MiB")); err != nil {
		t.Fatal(err)
	}
	if _, err := oocore.Collect[int64](context.Background(), oocore.FromSlice([]int64{1, 2, 3}, 3).Add(1), oocore.Memory("64MiB")); err != nil {
		t.Error(err)
	}
}
