package exec

import (
	"context"
	"log/slog"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Progress is how far a run has come.
type Progress struct {
	Stage             int   // index of the stage that runs, or that ran last
	Computed, Skipped int64 // tasks of all stages
	Read, Written     int64 // bytes
	Memory            int64 // bytes of the run's buffers at this moment
	Elapsed           time.Duration
}

// progress tells the environment how far the run has come.
func (r *run) progress() {
	if r.env.Progress == nil {
		return
	}
	c := &r.Counts
	r.env.Progress(Progress{Stage: int(r.current.Load()), Computed: c.Tasks.Load(), Skipped: c.Skipped.Load(),
		Read: c.Read.Load(), Written: c.Written.Load(), Memory: r.Arena.Now().Host(), Elapsed: time.Since(r.Start)})
}

// logStage logs the start of a stage.
func (r *run) logStage(ctx context.Context, i int) {
	if !slog.Default().Enabled(ctx, slog.LevelDebug) {
		return
	}
	s := &r.Plan.Stages[i]
	slog.DebugContext(ctx, "gonbext: stage", "stage", i+1, "of", len(r.Plan.Stages), "kind", string(s.Kind), "name", s.Name,
		"shape", grid.Format(s.Grid.Shape), "chunks", s.Tasks(), "device", r.device.Spec().Name)
}
