// Package checkpoint holds what an unfinished run leaves, to resume from: which tasks are
// done, what of them is durable, and what the next run of the same plan takes from there.
//
// A checkpoint lies in the output's staging folder, with the temporary arrays. Its journal
// notes tasks and stages; snapshots have what tasks hold in memory whose results are not
// whole yet: accumulators, and the states of operations that fill a box in steps. Something
// is noted only after it is durable, so that a run may be killed
// at any moment. The next one may have another budget, other workers or processes.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
)

// journalFile is in the staging folder.
const journalFile = "journal"

// format counts the changes of what is in a staging folder: of the journal, of snapshots, of
// spilled arrays. It is no part of a fingerprint: results stay.
const format = 0

// header is the first line of a journal.
type header struct {
	plan.Fingerprint
	Format int `json:"format,omitempty"`
}

// difference says why a run of a fingerprint cannot resume from a journal with a header; ""
// where it can.
func difference(print plan.Fingerprint, text json.RawMessage) string {
	var h header
	switch err := json.Unmarshal(text, &h); {
	case err != nil:
		return "what it left cannot be read"
	case h.Format > format:
		return "it was begun by a later version of gonbext"
	case h.Format < format:
		return "it was begun by an earlier version of gonbext, whose checkpoints were others"
	}
	return print.Difference(h.Fingerprint)
}

// Checkpoint owns a run's staging folder, which no other run can have at the same time,
// and the journal in it. Its methods but a Recorder's are called by one goroutine.
type Checkpoint struct {
	// Reason says why what an earlier run left could not be used; "" where it could, or
	// there was nothing.
	Reason string
	// Eager takes every snapshot that can be taken, whatever time it costs: tests do not depend on the clock then.
	Eager bool

	plan    *plan.Plan
	print   plan.Fingerprint
	staging *storage.StagingDir // nil for a temporary one that nobody has asked for
	journal *journal            // nil where nothing is noted
	state   *State              // what the journal says
	resumes bool
	forms   [][][]int // how the tasks of each stage write
	traces  *traces   // nil where nobody asks what tasks read and write
	leftOut map[int]Tasks
	invalid bool
	left    bool // tasks go on after this process
}

// New takes the staging folder of a plan's output, and what an earlier run of the same
// fingerprint left there; what another left is removed. Where another process has it
// the error is a *store.LockedError.
func New(p *plan.Plan, print plan.Fingerprint, fresh bool) (*Checkpoint, error) {
	staging, err := storage.NewStagingDir(p.StagingPath(p.Output))
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{plan: p, staging: staging, print: print, state: newState()}
	if err := c.open(fresh); err != nil {
		return nil, errors.Join(err, staging.Close())
	}
	return c, nil
}

// Discard removes the staging folders of a run of a fingerprint that has put its outputs in
// their places, and was ended before it removed them itself. Those of another run stay.
func Discard(p *plan.Plan, print plan.Fingerprint) error {
	staging, err := storage.ExistingStagingDir(p.StagingPath(p.Output))
	if staging == nil {
		return err
	}
	j, state, err := openJournal(staging.Join(journalFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && isClaimed(staging):
		return staging.Close()
	case errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist): // nobody could resume from there
		return remove(staging)
	case err != nil:
		return errors.Join(err, staging.Close())
	}
	own := difference(print, state.Header) == ""
	if err := j.close(); err != nil || !own {
		return errors.Join(err, staging.Close())
	}
	return remove(staging)
}

// Temporary returns the checkpoint of a run that cannot be resumed: it notes nothing, and
// has a temporary staging folder.
func Temporary(p *plan.Plan) *Checkpoint { return &Checkpoint{plan: p, state: newState()} }

func (c *Checkpoint) open(fresh bool) error {
	j, state, err := openJournal(c.staging.Join(journalFile))
	switch {
	case err == nil:
		if c.Reason = difference(c.print, state.Header); fresh {
			c.Reason = "a fresh run was asked for"
		}
		if c.Reason == "" {
			c.journal, c.state, c.resumes = j, state, true
			if err := c.forgetMissing(); err != nil {
				return errors.Join(err, j.close())
			}
			return nil
		}
		if err := j.close(); err != nil {
			return err
		}
		if c.Elsewhere() {
			return fmt.Errorf("%s is being computed on a cluster by another run: wait for it, or end it with gonbext jobs cancel", c.plan.Arrays[c.plan.Output].Path)
		}
	case errors.Is(err, errDamaged):
		c.Reason = "what it left cannot be read"
	case !errors.Is(err, fs.ErrNotExist) && !fresh:
		return fmt.Errorf("the checkpoint of an earlier run cannot be read, and is left as it is: %w", err)
	}
	return c.begin()
}

// StartOver drops what an earlier run left.
func (c *Checkpoint) StartOver(reason string) error {
	c.Reason = reason
	err := c.journal.close()
	c.journal = nil
	return errors.Join(err, c.begin())
}

// begin empties the staging folder, and begins a journal where the plan has a fingerprint.
func (c *Checkpoint) begin() (err error) {
	if err := errors.Join(removeOthers(c.staging), c.staging.Clear(), c.listOthers()); err != nil {
		return err
	}
	c.state, c.resumes = newState(), false
	if c.print == (plan.Fingerprint{}) {
		return nil
	}
	c.journal, err = createJournal(c.staging.Join(journalFile), header{c.print, format})
	return err
}

// forgetMissing forgets stages that have to run again: finished ones whose results were
// dropped, or never written, and are needed by one that is unfinished; and those that
// ended with their results in place and were not noted.
func (c *Checkpoint) forgetMissing() error {
	maker := map[int]int{}
	for i := range c.plan.Stages {
		for _, a := range c.plan.Stages[i].Outputs {
			maker[a] = i
		}
	}
	wanted := map[int]bool{} // arrays that stages still to be run read
	for i := len(c.plan.Stages) - 1; i >= 0; i-- {
		if c.state.Finished[i] {
			continue
		}
		if !c.fills(i, wanted) {
			c.state.Finished[i] = true // no stage reads it any more
			continue
		}
		for _, a := range c.plan.Stages[i].Outputs {
			if c.exists(ArrayFile(a)) {
				if err := c.Forget(i); err != nil {
					return err
				}
			}
		}
		for l := range c.plan.Stages[i].Arrays() {
			wanted[l.Array] = true
			if j, ok := maker[l.Array]; ok && c.state.Finished[j] && !c.exists(ArrayFile(l.Array)) {
				if err := c.Forget(j); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fills reports whether a stage fills one of the temporary arrays, or an output.
func (c *Checkpoint) fills(stage int, arrays map[int]bool) bool {
	return slices.ContainsFunc(c.plan.Stages[stage].Outputs, func(a int) bool { return arrays[a] || c.plan.Arrays[a].Place != plan.InTemp })
}

// Needed returns the temporary arrays that another run of the plan would read: those of the
// stages that it would run. A stage that is done and was not noted is one of them, where what
// it made is read by another; one that is to be noted is not.
func (c *Checkpoint) Needed(noted ...int) map[int]bool {
	needed := map[int]bool{}
	for i := len(c.plan.Stages) - 1; i >= 0; i-- {
		if c.state.Finished[i] || slices.Contains(noted, i) || !c.fills(i, needed) {
			continue
		}
		for l := range c.plan.Stages[i].Arrays() {
			needed[l.Array] = true
		}
	}
	return needed
}

// ArrayFile is the name of a temporary array in the staging folder.
func ArrayFile(array int) string { return fmt.Sprintf("array-%d", array) }

// exists reports whether the staging folder has a file.
func (c *Checkpoint) exists(name string) bool {
	_, err := os.Stat(c.staging.Join(name))
	return err == nil
}

// StagingDir returns the staging folder. A temporary one is made at the first call.
func (c *Checkpoint) StagingDir() (_ *storage.StagingDir, err error) {
	if c.staging == nil {
		if c.staging, err = storage.TempStagingDir(); err != nil {
			return nil, err
		}
	}
	return c.staging, nil
}

// Enabled reports whether progress is noted.
func (c *Checkpoint) Enabled() bool { return c.journal != nil }

// Resumes reports whether the run resumes where an earlier one stopped.
func (c *Checkpoint) Resumes() bool { return c.resumes }

// Finished reports whether all results of a stage are durable.
func (c *Checkpoint) Finished(stage int) bool { return c.state.Finished[stage] }

// Done returns the tasks of an unfinished stage whose results are durable.
func (c *Checkpoint) Done(stage int) Tasks { return c.state.Done[stage] }

// Forget drops what is noted of a stage, which begins anew.
func (c *Checkpoint) Forget(stage int) error {
	if !c.state.Finished[stage] && c.durable(stage) == 0 && c.state.Snapshots[stage] == nil {
		return nil
	}
	c.state.forget(stage)
	if err := c.journal.forget(stage); err != nil {
		return err
	}
	return c.journal.sync()
}

// FinishStages notes stages whose results are durable.
func (c *Checkpoint) FinishStages(stages ...int) error {
	for _, stage := range stages {
		if err := c.journal.stage(stage); err != nil {
			return err
		}
		c.state.Finished[stage] = true
	}
	errs := []error{c.journal.sync()}
	for _, stage := range stages {
		errs = append(errs, c.removeSnapshots(stage))
	}
	return errors.Join(errs...)
}

// durable is the number of a stage's tasks that the next run finds done.
func (c *Checkpoint) durable(stage int) int {
	if c.state.Finished[stage] {
		return c.plan.Stages[stage].Tasks()
	}
	return c.Done(stage).Len()
}

// Tasks returns the number of tasks that the next run finds done.
func (c *Checkpoint) Tasks() (n int) {
	for i := range c.plan.Stages {
		n += c.durable(i)
	}
	return n
}

// Describe adds to a run's header what it resumes from, or why it does not.
func (c *Checkpoint) Describe(h *record.Header) {
	h.Resume = c.Reason
	for i := range h.Stages {
		h.Stages[i].Skipped = c.durable(i)
	}
}

// Invalidate says that nothing of what is noted can be used.
func (c *Checkpoint) Invalidate() { c.invalid = true }

// Elsewhere reports whether processes of a cluster write what the run has begun.
func (c *Checkpoint) Elsewhere() bool { return c.exists(storage.ElsewhereFile) }

// Detach says that tasks continue after this process: the checkpoint stays for the next one.
func (c *Checkpoint) Detach() { c.left = true }

// Resumable reports whether another run could resume from here.
func (c *Checkpoint) Resumable() bool {
	if !c.Enabled() || c.invalid {
		return false
	}
	for i := range c.plan.Stages {
		if c.durable(i) > 0 {
			return true
		}
	}
	return c.left || len(c.state.Snapshots) > 0
}

// Close releases the staging folder. With keep its contents stay for another run to resume
// from, else they are removed. A second call does nothing.
func (c *Checkpoint) Close(keep bool) error {
	if c.staging == nil {
		return nil
	}
	staging, j := c.staging, c.journal
	c.staging, c.journal = nil, nil
	var err error
	if j != nil {
		err = j.close()
	}
	if keep {
		return errors.Join(err, staging.Close())
	}
	return errors.Join(err, remove(staging))
}

// Exists reports whether the staging folder still is there: someone may have removed the
// folder that it lies in.
func (c *Checkpoint) Exists() bool {
	if c.staging == nil {
		return false
	}
	_, err := os.Stat(c.staging.Path)
	return err == nil
}

// removeSnapshots removes the files of a stage's snapshots, where it has noted one.
func (c *Checkpoint) removeSnapshots(stage int) error {
	if c.state.Snapshots[stage] == nil {
		return nil
	}
	delete(c.state.Snapshots, stage)
	return errors.Join(disk.Remove(c.snapshotPath(stage, 0)), disk.Remove(c.snapshotPath(stage, 1)))
}

// Sample is Temporary for a run that does some tasks only of a stage: it takes the others as done.
func Sample(p *plan.Plan, stage int, tasks Tasks) *Checkpoint {
	c := Temporary(p)
	c.state.add(stage, Tasks{{0, p.Stages[stage].Tasks()}}.Without(tasks)...)
	return c
}
