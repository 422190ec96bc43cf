package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

// held starts a run of about three times bytes in a pool, and returns when it is active or an error. It goes on until end is called.
func held(t *testing.T, pool *oocore.Pool, bytes int) (end func(), err error) {
	started, wait, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	x := oocore.MapChunks(func(dst, _ []uint8, _ oocore.Block) error {
		close(started)
		<-wait
		return nil
	}, oocore.Zeros(oocore.Uint8, bytes), oocore.MapOptions{Chunks: []int{bytes}})
	go func() {
		_, err := oocore.Collect[uint8](context.Background(), x, oocore.In(pool), oocore.NoWait(), oocore.Memory("128MiB"), oocore.Workers(1))
		ended <- err
	}()
	select {
	case <-started:
	case err := <-ended:
		return nil, err
	}
	return func() {
		t.Helper()
		close(wait)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}, nil
}

func TestRunsInPoolWaitOrAreRejected(t *testing.T) {
	runLog(t)
	pool := oocore.NewPool("512MiB")
	large := oocore.Random(oocore.Float32, 1, 8<<20).Sort(0)
	small := oocore.FromSlice([]int64{3, 1, 2}, 3).Sort(0)
	ends := []func(){}
	var busy *oocore.BusyError
	for range 12 { // until one more does not fit
		end, err := held(t, pool, 24<<20)
		if errors.As(err, &busy) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	if busy == nil || busy.Limit != 512<<20 || busy.Active != len(ends) || len(ends) < 2 || busy.Taken < int64(len(ends))*(48<<20) || !strings.Contains(busy.Error(), "512 MiB") {
		t.Fatalf("with %d runs in a pool of 512 MiB: %v", len(ends), busy)
	}
	if got, err := oocore.Collect[int64](t.Context(), small); err != nil || got[0] != 1 {
		t.Errorf("a run outside of the pool gives %v, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client has gone")
	cancel(gone)
	_, err := large.Save(ctx, filepath.Join(t.TempDir(), "x.npy"), oocore.In(pool), oocore.Memory("256MiB"))
	if !errors.Is(err, gone) || !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended gives %v", err)
	}
	waited := make(chan error, 1)
	go func() {
		_, err := large.Save(context.Background(), filepath.Join(t.TempDir(), "x.npy"), oocore.In(pool), oocore.Memory("256MiB"))
		waited <- err
	}()
	for _, end := range ends {
		end()
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

func TestRunThatCanNeverFitIntoPoolIsRejected(t *testing.T) {
	runLog(t)
	x := oocore.FromSlice([]int64{3, 1, 2}, 3).Sort(0)
	pool := oocore.NewPool("512MiB")
	_, err := oocore.Collect[int64](t.Context(), x, oocore.In(pool), oocore.Memory("512MiB"))
	small, ok := errors.AsType[*oocore.MemoryError](err)
	if !ok || small.Limit != 512<<20 || !strings.Contains(small.Error(), "the pool of ") {
		t.Fatalf("got %v", err)
	}
	if _, err = oocore.Collect[int64](t.Context(), x, oocore.In(oocore.NewPool(fmt.Sprintf("%dB", small.Need))), oocore.Memory("512MiB")); err != nil {
		t.Errorf("in a pool of the size that the error named: %v", err)
	}
	_, err = oocore.Collect[float32](t.Context(), oocore.Random(oocore.Float32, 1, 4<<20), oocore.In(pool), oocore.Memory("8MiB"))
	if small, ok = errors.AsType[*oocore.MemoryError](err); !ok || small.Limit != 8<<20 || small.Need < 16<<20 {
		t.Fatalf("16 MiB within a share of 8 MiB: %v", err)
	}
	if _, err = oocore.Collect[float32](t.Context(), oocore.Random(oocore.Float32, 1, 4<<20), oocore.In(pool), oocore.MemoryBytes(small.Need)); err != nil {
		t.Errorf("with the share that the error named: %v", err)
	}
	if _, err = oocore.Collect[int64](t.Context(), x, oocore.In(pool)); err != nil {
		t.Errorf("with all of the pool: %v", err)
	}
}

func TestMalformedPoolsAndBudgetsAreOptionErrors(t *testing.T) {
	x := oocore.FromSlice([]int64{3, 1, 2}, 3)
	for name, o := range map[string]oocore.Option{
		"nil": oocore.In(nil), "zero": oocore.In(new(oocore.Pool)), "size": oocore.In(oocore.NewPool("plenty")),
		"no bytes": oocore.MemoryBytes(0), "negative": oocore.MemoryBytes(-1),
	} {
		if _, err := oocore.Collect[int64](t.Context(), x, o); !errors.As(err, new(*oocore.OptionError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A service's heap that grows while a run is active has the rest of the budget.
func TestRunLeavesRestOfBudgetToHeap(t *testing.T) {
	runLog(t)
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	var limit int64
	x := oocore.MapChunks(func(dst, _ []uint8, _ oocore.Block) error {
		limit = debug.SetMemoryLimit(-1)
		return nil
	}, oocore.Zeros(oocore.Uint8, 1024), oocore.MapOptions{})
	if _, err := oocore.Collect[uint8](t.Context(), x, oocore.Memory("512MiB")); err != nil {
		t.Fatal(err)
	}
	if limit < 480<<20 || limit > 512<<20 {
		t.Errorf("Go's memory limit was %d in a run that takes little of 512 MiB", limit)
	}
	if n := debug.SetMemoryLimit(-1); n != math.MaxInt64 {
		t.Errorf("it is %d after the run", n)
	}
	runtime.KeepAlive(x)
}
