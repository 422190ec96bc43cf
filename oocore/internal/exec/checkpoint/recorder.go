package checkpoint

import (
	"sync"
	"time"
)

const (
	// groupEvery is how often what is done is made durable, and noted, at the most.
	groupEvery = 100 * time.Millisecond
	// groupShare is how many times longer a run computes than it syncs, or writes a
	// snapshot.
	groupShare = 20
	// groupLatest is how long after the last group the next one is durable, whatever that
	// costs, where the disk is not slower: what it writes is written once in any case, and a
	// killed run is to lose less than a second of work, with the tasks in flight.
	groupLatest = 800 * time.Millisecond
	// SaveAfter is the computing time from which on results of a stage that are in memory are
	// written to the staging folder: below it they are computed again as fast.
	SaveAfter = 250 * time.Millisecond
)

// Accumulators are the unfinished results of a stage, of which it can take snapshots.
type Accumulators interface {
	// SnapshotBytes returns the most that a snapshot may have; 0 where there is nothing
	// to save.
	SnapshotBytes() int64
	// Snapshot writes the accumulators as they are at one moment, and returns what is
	// needed to read them; nil where there is nothing to write. merged is the number of
	// tasks, from the first on, that the accumulators and results hold, where the stage
	// merges its tasks in order; else it is ignored.
	Snapshot(w *SnapshotWriter) (meta []byte, merged int, err error)
}

// Stage is a stage that runs, as its checkpoint sees it.
type Stage struct {
	Index int
	// Sync makes durable what the tasks of done have written.
	Sync func(done Tasks) error
	// InMemory says that results are in memory, which Sync copies to the staging folder.
	InMemory bool
	// Accumulators are nil where the stage has none.
	Accumulators Accumulators
	// Merges says that tasks are done only once the accumulators have them.
	Merges bool
}

// Recorder makes what a stage does durable in groups, and notes it, while it runs.
type Recorder struct {
	Stage
	checkpoint *Checkpoint
	snapshots  *snapshots

	mu      sync.Mutex
	pending Tasks // done and not yet durable
	stop    chan struct{}
	stopped chan struct{}
	cost    time.Duration // of the last commit, without its snapshot
	err     error         // of the goroutine, once it has stopped
}

// Record begins to note a stage's progress. fail ends the stage where that fails.
func (c *Checkpoint) Record(s Stage, fail func(error)) *Recorder {
	r := &Recorder{Stage: s, checkpoint: c, snapshots: newSnapshots(c, s.Index, s.Accumulators), stop: make(chan struct{}), stopped: make(chan struct{})}
	wait := groupEvery
	if s.InMemory {
		wait = SaveAfter
	}
	go func() {
		defer close(r.stopped)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		for {
			select {
			case <-r.stop:
				return
			case <-timer.C:
			}
			if r.err = r.commit(r.snapshots.pays(groupShare)); r.err != nil {
				fail(r.err)
				return
			}
			timer.Reset(max(groupEvery, min(groupShare*r.cost, groupLatest-r.cost)))
		}
	}()
	return r
}

// Done takes in a task whose results are written.
func (r *Recorder) Done(task int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.Add(task, 1)
}

// End ends the recording, after the last task. What is not yet noted is, where the run
// ends here, or a part of the stage's results already is in the staging folder.
func (r *Recorder) End(early bool) error {
	close(r.stop)
	<-r.stopped
	if r.err != nil {
		return r.err
	}
	switch {
	case early:
		return r.commit(r.snapshots.pays(1))
	case r.InMemory && r.checkpoint.Done(r.Index).Len() > 0:
		return r.commit(r.Merges)
	}
	return nil
}

// commit makes a group durable, with a snapshot or without, and then notes it.
func (r *Recorder) commit(snapshot bool) error {
	var taken *Snapshot
	var merged int
	if r.Merges && (!snapshot || r.waiting() == 0) {
		return nil
	}
	if snapshot {
		if taken, merged = r.snapshots.take(); taken == nil && r.Merges {
			return nil
		}
	}
	done := r.take()
	if r.Merges {
		done = nil
		first := r.checkpoint.Done(r.Index).Len()
		done.Add(first, merged-first)
	}
	if done.Len() == 0 && taken == nil {
		return nil
	}
	begun := time.Now()
	err := r.Sync(done)
	if err == nil {
		err = r.checkpoint.note(r.Index, done, taken)
	}
	r.cost = time.Since(begun)
	return err
}

func (r *Recorder) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending.Len()
}

func (r *Recorder) take() Tasks {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := r.pending
	r.pending = nil
	return done
}

// note notes tasks that are durable, and a snapshot that is.
func (c *Checkpoint) note(stage int, done Tasks, snapshot *Snapshot) error {
	if err := c.noteTraces(c.traces.take(stage, done)); err != nil {
		return err
	}
	noted, err := c.journal.tasks(stage, done, snapshot)
	if err != nil || !noted {
		return err
	}
	if err := c.journal.sync(); err != nil {
		return err
	}
	c.state.add(stage, done...)
	if snapshot != nil {
		c.state.Snapshots[stage] = snapshot
	}
	return nil
}
