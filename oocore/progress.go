package oocore

import (
	"errors"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/run"
)

// Progress is how far a run has come. Bytes and chunks count from the beginning of the
// run; a run that resumes where an earlier one stopped has Skipped chunks from the start.
type Progress struct {
	Title             string // the expression
	Stage, Stages     int    // the stage that runs, from 1 on, of how many
	Chunks            int64  // of all stages
	Computed, Skipped int64  // of these
	Read, Written     int64  // bytes from and to files
	Memory            int64  // bytes of the run's buffers at this moment
	Elapsed           time.Duration
}

// OnProgress gives a function that is called while a run lasts, at most four times a second
// and only where something has changed but the time, and once at its end, from a goroutine of
// its own. A run does not wait for it: while a call continues, later progress replaces what has
// not been told yet. At the end of the run it waits for up to a second. A function that panics
// is not called again, and the panic is logged.
func OnProgress(f func(Progress)) Option {
	return option(func(s *settings) error {
		if f == nil {
			return errors.New("the progress function is nil")
		}
		s.Progress = run.NewWatcher(func(p run.Progress) {
			f(Progress{Title: p.Plan.Title, Stage: p.Stage + 1, Stages: len(p.Plan.Stages), Chunks: int64(p.Plan.Tasks()), Computed: p.Computed, Skipped: p.Skipped,
				Read: p.Read, Written: p.Written, Memory: p.Memory, Elapsed: p.Elapsed})
		})
		return nil
	})
}
