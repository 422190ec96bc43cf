package oocore_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
)

// counted is an array of a file of float64 0, 1, …, in chunks of 16 rows of 512.
func counted(t *testing.T, rows int) *oocore.Array {
	t.Helper()
	x := saved(t, oocore.Arange(0, rows*512, 1.0).Reshape(rows, 512), filepath.Join(t.TempDir(), "x.zarr"), oocore.Chunks(16, 512), oocore.Codec("none"))
	return x
}

func TestReportOfSaveHasItsFigures(t *testing.T) {
	x, out := counted(t, 64), filepath.Join(t.TempDir(), "y.npy")
	var r oocore.RunReport
	saved(t, x.Add(1), out, oocore.Report(&r), oocore.Memory("256MiB"))
	const bytes = 64 * 512 * 8
	if r.Status != oocore.StatusDone || !slices.Equal(r.Outputs, []string{out}) || r.Title != "x.zarr + 1" || r.Budget != 256<<20 || r.Passes != 1 ||
		r.Computed != r.Chunks || r.Chunks == 0 || r.Skipped != 0 || r.Read != bytes || r.Written != bytes || r.Seconds <= 0 || r.Device != "cpu" {
		t.Errorf("the report is %+v", r)
	}
	if r.MeasuredPeak == 0 || r.MeasuredPeak > r.PredictedPeak {
		t.Errorf("measured %d, predicted %d bytes", r.MeasuredPeak, r.PredictedPeak)
	}
	chunks := r.Chunks
	saved(t, x.Add(1), out, oocore.Report(&r))
	if r.Status != oocore.StatusSkipped || r.Computed != 0 || r.Skipped != chunks || r.Read != 0 {
		t.Errorf("the report of the same again is %+v", r)
	}
}

func TestReportWithoutRunLogHasFigures(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", "/proc/self")
	var r oocore.RunReport
	if _, err := oocore.Collect[float64](t.Context(), counted(t, 16).Sum(), oocore.Report(&r)); err != nil {
		t.Fatal(err)
	}
	if r.Status != oocore.StatusDone || r.Run != "" || r.Read != 16*512*8 {
		t.Errorf("the report is %+v", r)
	}
}

func TestReportOfFailedRunsSaysSo(t *testing.T) {
	x := counted(t, 64)
	var r oocore.RunReport
	_, err := x.Add(1).Save(t.Context(), "y.npy", oocore.Report(&r), oocore.Memory("1KiB"))
	if small, ok := errors.AsType[*oocore.MemoryError](err); !ok || small.Need == 0 || r.Status != oocore.StatusFailed || len(r.Outputs) > 0 {
		t.Errorf("%v, %+v", err, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := oocore.Collect[float64](ctx, x.Sum(), oocore.Report(&r)); err == nil || r.Status != oocore.StatusCancelled {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestProgressEndsWithAllChunks(t *testing.T) {
	var calls atomic.Int64
	var last oocore.Progress
	var r oocore.RunReport
	_, err := oocore.Collect[float64](t.Context(), counted(t, 64).Mean(0).Sum(), oocore.Report(&r), oocore.OnProgress(func(p oocore.Progress) {
		calls.Add(1)
		last = p
	}))
	if err != nil {
		t.Fatal(err)
	}
	if calls.Load() == 0 || last.Stage != last.Stages || last.Stages < 2 || last.Computed != r.Computed || last.Chunks != r.Chunks || last.Read != r.Read || last.Title != r.Title {
		t.Errorf("%d calls, the last %+v; the report %+v", calls.Load(), last, r)
	}
}

func TestProgressFunctionThatPanicsLeavesRunAlone(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	var calls atomic.Int64
	v, err := oocore.Collect[float64](t.Context(), counted(t, 64).Sum(), oocore.OnProgress(func(oocore.Progress) {
		calls.Add(1)
		panic("no progress")
	}))
	if n := float64(64 * 512); err != nil || v[0] != n*(n-1)/2 || calls.Load() != 1 || !strings.Contains(log.String(), "no progress") {
		t.Errorf("%v, %v, %d calls, log %q", v, err, calls.Load(), log.String())
	}
}

func TestProgressFunctionThatBlocksDoesNotStallRun(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	done := make(chan error, 1)
	x := counted(t, 64)
	go func() {
		_, err := oocore.Collect[float64](t.Context(), x.Sum(), oocore.OnProgress(func(oocore.Progress) { <-release }))
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the run waits for its progress function")
	}
}

func TestProgressAndReportRejectNil(t *testing.T) {
	for name, o := range map[string]oocore.Option{"OnProgress": oocore.OnProgress(nil), "Report": oocore.Report(nil)} {
		_, err := oocore.Collect[float64](t.Context(), oocore.Full(1.0), o)
		if _, ok := errors.AsType[*oocore.OptionError](err); !ok || !strings.Contains(err.Error(), "nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLogHasStartStagesAndEndOfRun(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	if _, err := oocore.Collect[float64](t.Context(), counted(t, 16).Sum()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`msg="gonbext: run" title=sum(x.zarr)`, `msg="gonbext: stage" stage=1`, `msg="gonbext: run ended" title=sum(x.zarr)`, "status=done"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
}
