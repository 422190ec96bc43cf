package run

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// Progress is how far the run of a plan has come.
type Progress struct {
	Plan *size.Plan
	exec.Progress
}

// Watcher calls a function with the progress of runs, which may be all of an algorithm.
type Watcher struct {
	f    func(Progress)
	busy sync.Mutex  // it is called once at a time, also where a run has not waited for it
	dead atomic.Bool // it has panicked
}

// NewWatcher returns what tells a function of progress. Runs do not wait for it, but for a second at their ends.
func NewWatcher(f func(Progress)) *Watcher { return &Watcher{f: f} }

// progressWait is how long the end of a run waits for the progress function.
const progressWait = time.Second

// watched tells of a run's progress.
func (w *Watcher) watched(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		n := &notifier{f: w, latest: make(chan Progress, 1), done: make(chan struct{})}
		go n.run()
		var seldom throttle
		j.env.Progress = func(e exec.Progress) {
			if seldom.passes(e) {
				n.tell(Progress{j.Plan, e})
			}
		}
		r, err := next(ctx, j)
		if seldom.latest != (exec.Progress{}) {
			n.tell(Progress{j.Plan, seldom.latest})
		}
		n.close()
		return r, err
	}
}

// notifier calls a progress function while the run lasts.
type notifier struct {
	f      *Watcher
	latest chan Progress // holds what the function was not told yet
	done   chan struct{}
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
