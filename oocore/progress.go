package oocore

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan"
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
		s.progress = &progressFunc{f: f}
		return nil
	})
}

// progressFunc is a progress function, of all runs of an algorithm.
type progressFunc struct {
	f    func(Progress)
	busy sync.Mutex  // it is called once at a time, also where a run has not waited for it
	dead atomic.Bool // it has panicked
}

// progressWait is how long the end of a run waits for the progress function.
const progressWait = time.Second

// notifier calls a progress function while the run lasts.
type notifier struct {
	f      *progressFunc
	latest chan Progress // holds what the function was not told yet
	done   chan struct{}
}

func newNotifier(f *progressFunc) *notifier {
	n := &notifier{f: f, latest: make(chan Progress, 1), done: make(chan struct{})}
	go n.run()
	return n
}

func (n *notifier) run() {
	defer close(n.done)
	for p := range n.latest {
		if !n.call(p) {
			return
		}
	}
}

// call reports that the function can be called again. Where a call of an earlier run still
// continues, this one is left out.
func (n *notifier) call(p Progress) (returned bool) {
	if n.f.dead.Load() {
		return false
	}
	if !n.f.busy.TryLock() {
		return true
	}
	defer n.f.busy.Unlock()
	defer func() {
		if !returned {
			n.f.dead.Store(true)
			slog.Warn("gonbext: the progress function panicked and is not called again", "panic", fmt.Sprint(recover()), "stack", string(debug.Stack()))
		}
	}()
	n.f.f(p)
	return true
}

// tell puts progress in place of what the function was not told yet. It has one caller
// at a time.
func (n *notifier) tell(p Progress) {
	select {
	case <-n.latest:
	default:
	}
	select {
	case n.latest <- p:
	default:
	}
}

// close waits for the function to be told of the end.
func (n *notifier) close() {
	close(n.latest)
	select {
	case <-n.done:
	case <-time.After(progressWait):
	}
}

// watch returns the function that exec.Env calls with the progress of a plan's run, nil where
// nobody asks for it, and a function that ends it.
func (s *settings) watch(p *plan.Sized) (f func(exec.Progress), end func()) {
	if s.progress == nil {
		return nil, func() {}
	}
	n := newNotifier(s.progress)
	chunks := int64(p.Tasks())
	tell := func(e exec.Progress) {
		n.tell(Progress{Title: p.Title, Stage: e.Stage + 1, Stages: len(p.Stages), Chunks: chunks, Computed: e.Computed, Skipped: e.Skipped,
			Read: e.Read, Written: e.Written, Memory: e.Memory, Elapsed: e.Elapsed})
	}
	var seldom throttle
	return func(e exec.Progress) {
			if seldom.passes(e) {
				tell(e)
			}
		}, func() {
			if seldom.latest != (exec.Progress{}) {
				tell(seldom.latest)
			}
			n.close()
		}
}

// throttle lets progress pass from time to time.
type throttle struct{ latest, told exec.Progress }

// perUpdate is the least time between two calls of a progress function.
const perUpdate = time.Second / 4

// passes reports progress that differs from what was told in more than the time, and comes long enough
// after it.
func (t *throttle) passes(e exec.Progress) bool {
	t.latest = e
	since := e.Elapsed - t.told.Elapsed
	if e.Elapsed = t.told.Elapsed; e == t.told || since < perUpdate {
		return false
	}
	t.told = t.latest
	return true
}
