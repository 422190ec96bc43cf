package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/journal"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Checkpoint is what a run keeps beside its output while it is unfinished: a staging folder,
// which no other run can have at the same time, and in it a journal of what is done
// and durable. A run that ends early leaves both, and the next one of the same plan
// goes on there, with whatever budget. A nil Checkpoint keeps nothing.
type Checkpoint struct {
	// Why says why what an earlier run left could not be used; "" where it could, or
	// there was nothing.
	Why string

	plan    *plan.Plan
	staging *store.StagingDir
	print   plan.Fingerprint
	journal *journal.Journal // nil: nothing is noted
	state   *journal.State
	kept    []int64 // tasks of each stage that are noted, by this run and earlier ones

	watching *watch // of the present stage
}

const (
	// journalFile is in the staging folder.
	journalFile = "journal"
	// groupEvery is how often what is done is made durable, and noted, at the most.
	groupEvery = 100 * time.Millisecond
	// groupShare is how many times longer a run computes than it syncs.
	groupShare = 20
	// worthKeeping is the time from which on results of a stage that are in memory are
	// written to the staging folder: below it they are computed again as fast.
	worthKeeping = 250 * time.Millisecond
)

// NewCheckpoint takes the staging folder of a plan's output, and what an earlier run of the same
// fingerprint left there; what another left is removed. Where another process has it
// the error is a *store.LockedError.
func NewCheckpoint(p *plan.Plan, print plan.Fingerprint, fresh bool) (*Checkpoint, error) {
	w, err := store.NewStagingDir(p.Arrays[p.Output].Path)
	if err != nil {
		return nil, err
	}
	k := &Checkpoint{plan: p, staging: w, print: print, kept: make([]int64, len(p.Stages))}
	if err := k.begin(fresh); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return k, nil
}

func (k *Checkpoint) begin(fresh bool) error {
	j, state, err := journal.Open(k.staging.Join(journalFile))
	switch {
	case err == nil:
		var earlier plan.Fingerprint
		if json.Unmarshal(state.Header, &earlier) != nil {
			k.Why = "what it left cannot be read"
		} else if fresh {
			k.Why = "a fresh run was asked for"
		} else {
			k.Why = k.print.Difference(earlier)
		}
		if k.Why == "" {
			k.journal, k.state = j, state
			if err := k.missing(); err != nil {
				return errors.Join(err, j.Close())
			}
			for i := range k.kept {
				k.kept[i] = k.skipped(i)
			}
			return nil
		}
		if err := j.Close(); err != nil {
			return err
		}
	case errors.Is(err, journal.ErrDamaged):
		k.Why = "what it left cannot be read"
	case !errors.Is(err, fs.ErrNotExist) && !fresh:
		return fmt.Errorf("what an earlier run has left is kept, and cannot be read at the moment: %w", err)
	}
	return k.anew()
}

// startOver forgets what an earlier run left.
func (k *Checkpoint) startOver(why string) error {
	k.Why = why
	err := k.journal.Close()
	k.journal = nil
	return errors.Join(err, k.anew())
}

// anew empties the staging folder and begins a journal, if the run can be told again.
func (k *Checkpoint) anew() (err error) {
	if err := k.staging.Clear(); err != nil {
		return err
	}
	k.state = nil
	clear(k.kept)
	if k.print == (plan.Fingerprint{}) {
		return nil
	}
	k.journal, err = journal.Create(k.staging.Join(journalFile), k.print)
	return err
}

// missing forgets what is noted of stages that have to run again: finished ones whose
// results were dropped, or never written down, and are needed by one that is
// unfinished; and those that ended with their results in place and no note of it.
func (k *Checkpoint) missing() error {
	maker := map[int]int{}
	for i := range k.plan.Stages {
		for _, a := range k.plan.Stages[i].Outputs {
			maker[a] = i
		}
	}
	for i := len(k.plan.Stages) - 1; i >= 0; i-- {
		if k.state.Finished[i] {
			continue
		}
		for _, a := range k.plan.Stages[i].Outputs {
			if k.hasArray(a) {
				if err := k.forget(i); err != nil {
					return err
				}
			}
		}
		for _, prog := range k.plan.Stages[i].Programs {
			for l := range prog.Arrays() {
				if j, ok := maker[l.Array]; ok && k.state.Finished[j] && !k.hasArray(l.Array) {
					if err := k.forget(j); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// hasArray reports that an earlier run left the whole of a temporary array.
func (k *Checkpoint) hasArray(array int) bool {
	_, err := os.Stat(k.staging.Join(spillName(array)))
	return err == nil
}

// forget drops what an earlier run noted of a stage, before the stage begins anew: what
// is there of its results from then on is this run's.
func (k *Checkpoint) forget(stage int) error {
	if !k.Resumes() || k.skipped(stage) == 0 && !k.state.Finished[stage] {
		return nil
	}
	k.state.Forget(stage)
	if err := k.journal.Forget(stage); err != nil {
		return err
	}
	return k.journal.Sync()
}

// Resumes reports that the run goes on where an earlier one stopped.
func (k *Checkpoint) Resumes() bool { return k != nil && k.state != nil }

// skipped is the number of a stage's tasks that an earlier run did.
func (k *Checkpoint) skipped(stage int) int64 {
	switch {
	case !k.Resumes():
		return 0
	case k.state.Finished[stage]:
		return int64(k.plan.Stages[stage].Tasks())
	case k.state.Folds[stage].Next > 0:
		return k.state.Folds[stage].Next
	}
	return k.state.Done[stage].Len()
}

// Tell adds to a run's header what the run goes on from, or why it does not.
func (k *Checkpoint) Tell(h *record.Header) {
	if k == nil {
		return
	}
	h.Resume = k.Why
	for i := range h.Stages {
		h.Stages[i].Skipped = int(k.skipped(i))
	}
}

// finished reports a stage that an earlier run has done.
func (k *Checkpoint) finished(stage int) bool {
	return k.Resumes() && k.state.Finished[stage]
}

// has reports a task that an earlier run has done.
func (k *Checkpoint) has(stage, ticket int) bool {
	if !k.Resumes() {
		return false
	}
	return k.state.Done[stage].Has(int64(ticket)) || int64(ticket) < k.state.Folds[stage].Next
}

// fold are the sums of a reduction that an earlier run left.
func (k *Checkpoint) fold(stage int) (journal.Fold, bool) {
	if !k.Resumes() {
		return journal.Fold{}, false
	}
	f, ok := k.state.Folds[stage]
	return f, ok
}

// notes reports that what is done is noted.
func (k *Checkpoint) notes() bool { return k != nil && k.journal != nil }

// done takes in a task that is written.
func (k *Checkpoint) done(ticket int) {
	if k == nil || k.watching == nil {
		return
	}
	k.watching.mu.Lock()
	defer k.watching.mu.Unlock()
	k.watching.pending.Add(int64(ticket), 1)
}

// snapshot takes a stage's sums so far, and returns what notes them once all that
// they rest on is durable.
type snapshot func() (note func(*journal.Journal) error)

// watch makes what a stage does durable in groups, while it runs. Where that fails
// it ends the stage.
type watch struct {
	checkpoint *Checkpoint
	stage      int
	sync       func() error
	snapshot   snapshot // nil where tasks are noted

	noted   journal.Set // tasks, by this run and earlier ones
	mu      sync.Mutex
	pending journal.Set // done and not yet durable
	stop    chan struct{}
	stopped chan struct{}
	err     error // of the goroutine, once it has stopped
}

func (k *Checkpoint) watch(stage int, sync func() error, take snapshot, fail func(error)) *watch {
	w := &watch{checkpoint: k, stage: stage, sync: sync, snapshot: take, stop: make(chan struct{}), stopped: make(chan struct{})}
	if k.Resumes() {
		w.noted.Union(k.state.Done[stage])
		w.noted.Add(0, k.state.Folds[stage].Next)
	}
	k.watching = w
	go func() {
		defer close(w.stopped)
		wait := groupEvery
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(wait):
			}
			t := time.Now()
			if w.err = w.commit(); w.err != nil {
				fail(w.err)
				return
			}
			wait = max(groupEvery, groupShare*time.Since(t))
		}
	}()
	return w
}

// end ends the watch. What is not yet noted is, where the run ends here.
func (w *watch) end(last bool) error {
	close(w.stop)
	<-w.stopped
	w.checkpoint.watching = nil
	if w.err == nil && last {
		w.err = w.commit()
	}
	return w.err
}

// commit makes a group durable, and then says so in the journal.
func (w *watch) commit() error {
	w.mu.Lock()
	done := w.pending
	w.pending = journal.Set{}
	w.mu.Unlock()
	if done.Len() == 0 {
		return nil
	}
	note := func(j *journal.Journal) error { return j.Tasks(w.stage, &done) }
	if w.snapshot != nil {
		if note = w.snapshot(); note == nil {
			return nil
		}
	}
	if err := w.sync(); err != nil {
		return err
	}
	if err := note(w.checkpoint.journal); err != nil {
		return err
	}
	if err := w.checkpoint.journal.Sync(); err != nil {
		return err
	}
	w.noted.Union(&done)
	w.checkpoint.kept[w.stage] = w.noted.Len()
	return nil
}

// stageDone notes a stage whose results are durable.
func (k *Checkpoint) stageDone(stage int) error {
	if err := k.journal.Stage(stage); err != nil {
		return err
	}
	k.kept[stage] = int64(k.plan.Stages[stage].Tasks())
	return k.journal.Sync()
}

// tasks is the number of tasks whose results the next run finds.
func (k *Checkpoint) tasks() (n int64) {
	for _, kept := range k.kept {
		n += kept
	}
	return n
}

// invalidate says that nothing of what is kept can be used.
func (k *Checkpoint) invalidate() {
	if k != nil {
		clear(k.kept)
	}
}

// folderExists reports that the staging folder still is there: its folder may have been removed.
func (k *Checkpoint) folderExists() bool {
	_, err := os.Stat(k.staging.Path)
	return err == nil
}

// hasProgress reports that there is something that the next run can go on from.
func (k *Checkpoint) hasProgress() bool { return k.notes() && k.tasks() > 0 }

// close releases the staging folder, once: kept says whether what is in it is.
func (k *Checkpoint) close(kept bool) error {
	if k == nil || k.staging == nil {
		return nil
	}
	var err error
	if k.journal != nil {
		err = k.journal.Close()
	}
	defer func() { k.staging, k.journal = nil, nil }()
	if kept {
		return errors.Join(err, k.staging.Close())
	}
	return errors.Join(err, k.staging.Remove())
}

// ResumableError is a run's error, of which a part is kept for the next attempt.
type ResumableError struct {
	Tasks, Of int64
	Err       error
}

func (e *ResumableError) Error() string {
	return fmt.Sprintf("%v (%d of %d chunks are kept: the same again goes on there)", e.Err, e.Tasks, e.Of)
}

// Unwrap gives the cause.
func (e *ResumableError) Unwrap() error { return e.Err }
