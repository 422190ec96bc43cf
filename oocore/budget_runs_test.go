package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

func TestRunsAtOnceStayWithinOneBudget(t *testing.T) {
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

// A run in a loop over Batches fits beside it, or is an error at once that names the loop.
func TestRunsInLoopOverBatches(t *testing.T) {
	runLog(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // which a wait without end comes to
	defer cancel()
	x := oocore.Random(oocore.Float32, 1, 30_000, 512)
	half := oocore.Random(oocore.Float32, 2, 1000, 512)
	large := oocore.Random(oocore.Float32, 3, 8<<20)
	dir := t.TempDir()
	n := 0
	for b, err := range oocore.Batches[float32](ctx, x, 0, 5000, oocore.Memory("64MiB")) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n != b.Index+1 {
			t.Errorf("batch %d is number %d", b.Index, n)
		}
		if _, err := half.Sort(0).Save(ctx, filepath.Join(dir, "x.npy"), oocore.Memory("64MiB"), oocore.Fresh()); err != nil {
			t.Error(err)
		}
		if _, err := oocore.Collect[float32](ctx, half.Mul(2), oocore.Memory("64MiB")); err != nil {
			t.Error(err)
		}
		_, err := oocore.Collect[float32](ctx, large, oocore.Memory("64MiB"))
		small, ok := errors.AsType[*oocore.MemoryError](err)
		if !ok || !strings.Contains(err.Error(), "the loop over Batches at ") || !strings.Contains(err.Error(), "budget_runs_test.go:") || small.Held == 0 {
			t.Fatalf("got %v", err)
		}
	}
	if n != 6 {
		t.Errorf("%d batches", n)
	}
}

// The budget that the error of a run in a loop names will do.
func TestBudgetForRunInLoopOverBatches(t *testing.T) {
	runLog(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x := oocore.Random(oocore.Float32, 1, 30_000, 512)
	large := oocore.Random(oocore.Float32, 3, 8<<20)
	try := func(budget string) (err error) {
		for _, failed := range oocore.Batches[float32](ctx, x, 0, 5000, oocore.Memory(budget)) {
			if failed != nil {
				return failed
			}
			if _, err = oocore.Collect[float32](ctx, large, oocore.Memory(budget)); err != nil {
				return err
			}
		}
		return nil
	}
	small, ok := errors.AsType[*oocore.MemoryError](try("64MiB"))
	if !ok {
		t.Fatal("32 MiB fit beside a loop into 64 MiB")
	}
	if err := try(fmt.Sprintf("%dB", small.Need)); err != nil {
		t.Errorf("%d bytes, which the error named: %v", small.Need, err)
	}
}

// Two loops over Batches at once share the budget, or the second is an error at once.
func TestZippedBatches(t *testing.T) {
	runLog(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x := oocore.Random(oocore.Float32, 1, 30_000, 512)
	// A budget with room for what the program of all tests has come to hold.
	for size, fits := range map[int]bool{2500: true, 30_000: false} {
		next, stop := iter.Pull2(oocore.Batches[float32](ctx, x, 0, size, oocore.Memory("128MiB")))
		n := 0
		var err error
		for b, failed := range oocore.Batches[float32](ctx, x, 0, size, oocore.Memory("128MiB")) {
			if err = failed; err != nil {
				break
			}
			other, failed, ok := next()
			if err = failed; err != nil || !ok {
				break
			}
			if !slices.Equal(b.Data, other.Data) {
				t.Errorf("batch %d differs", b.Index)
			}
			n++
		}
		stop()
		switch small, ok := errors.AsType[*oocore.MemoryError](err); {
		case fits && (err != nil || n != 12):
			t.Errorf("%d batches of %d: %v", n, size, err)
		case !fits && (!ok || small.Holder == ""):
			t.Errorf("batches of %d: %v", size, err)
		}
	}
}
