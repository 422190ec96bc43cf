package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// FinalError is an error of a job that would fail again in the same way.
type FinalError struct{ Err error }

// Error says what has failed.
func (e *FinalError) Error() string { return fmt.Sprint(e.Err) }

// Unwrap returns the cause.
func (e *FinalError) Unwrap() error { return e.Err }

// Element runs an element of a round: its tasks, and their report.
func Element(ctx context.Context, plan string, memory int64, workers, stage, round, element int) error {
	dieWithParent()
	r, err := load(filepath.Dir(plan))
	if err != nil {
		return &FinalError{fmt.Errorf("the run of %s was cancelled, or has ended: %w", plan, err)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // until the run is cancelled
		for ctx.Err() == nil {
			if _, err := os.Stat(runFile(filepath.Dir(plan))); errors.Is(err, fs.ErrNotExist) {
				cancel()
			}
			time.Sleep(pause)
		}
	}()
	if r.failure() != nil {
		return &FinalError{errors.New("the run has failed in another job")}
	}
	if stage < 0 || stage >= len(r.Stages) || round < 0 || round >= len(r.Stages[stage].Rounds) {
		return &FinalError{fmt.Errorf("the run has no stage %d with a round %d", stage, round)}
	}
	if stage > r.Ready { // a batch system may start jobs after others that have failed
		return &FinalError{fmt.Errorf("%s cannot run: the stage before is not complete", r.Stages[stage].Name)}
	}
	st := &r.Stages[stage]
	elements := st.Rounds[round].Elements
	if element < 0 || element >= elements.Len() {
		return &FinalError{fmt.Errorf("%s has no element %d in round %d", st.Name, element, round)}
	}
	for e := range elements.All() {
		if element--; element < 0 {
			element = e
			break
		}
	}
	missing := slices.DeleteFunc(st.steps(element), func(t exec.Range) bool { // a twin of this job, or one that was killed, has done the others
		_, ok, _ := r.readReport(stage, t)
		return ok
	})
	if len(missing) == 0 {
		return nil
	}
	began, again := time.Now(), r.attempts(stage, element)-1
	w, err := exec.NewWorker(plan, memory, workers)
	if err != nil {
		return r.finish(ctx, stage, missing[0], began, exec.Failure(err))
	}
	if now, err := load(filepath.Dir(plan)); err != nil || now.ID != r.ID || stage > now.Ready { // it was about to end, and knows nothing of this process
		return &FinalError{errors.Join(errors.New("the run has ended, or has begun anew"), w.Close())}
	}
	w.KeepPartials()
	for _, t := range missing {
		began := time.Now()
		done, err := w.Run(ctx, stage, t)
		rep := w.Report(done, err)
		rep.Retries, again = again, 0
		if err := r.finish(ctx, stage, t, began, rep); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// finish puts the report of a step in its place. It returns the step's error.
func (r *run) finish(ctx context.Context, stage int, t exec.Range, began time.Time, rep exec.Report) error {
	err := rep.Err()
	if err != nil && ctx.Err() != nil {
		return err
	}
	if failed := r.putReport(stage, t, report{span{began, time.Now()}, rep}); failed != nil {
		return errors.Join(err, failed)
	}
	if err != nil {
		return &FinalError{err}
	}
	return nil
}

// Probe looks for what all machines must see, answers, and waits until all jobs are submitted: they wait for it to end.
func Probe(ctx context.Context, plan string) error {
	dieWithParent()
	r, err := load(filepath.Dir(plan))
	if err == nil {
		err = r.look(ctx)
	}
	if err != nil {
		return &FinalError{err}
	}
	for began := time.Now(); !r.Whole && ctx.Err() == nil; time.Sleep(pauseSince(began)) {
		if time.Since(began) > submitTime {
			err = errors.New("the process that submitted the run ended before it had submitted all: the same command again submits the rest")
		} else {
			r, err = load(filepath.Dir(plan))
		}
		if err != nil {
			return &FinalError{err}
		}
	}
	return nil
}

// look answers, in a file, whether this machine sees what all must see: that it does, or why the run has failed.
func (r *run) look(ctx context.Context) error {
	err := r.sees(ctx)
	if err == nil {
		return disk.WriteFile(filepath.Join(r.folder(), seenFile), nil)
	}
	failed := r.noteFailure(err)
	for began := time.Now(); !r.Whole && time.Since(began) < submitTime && ctx.Err() == nil; time.Sleep(pauseSince(began)) {
		now, gone := load(filepath.Dir(r.Plan))
		if gone != nil { // who submits has read the answer
			return errors.Join(err, failed)
		}
		r = now
	}
	return errors.Join(err, failed, r.fail(ctx, err, r.Probe))
}

// sees reads the plan and opens the inputs.
func (r *run) sees(ctx context.Context) error {
	host, _ := os.Hostname()
	if _, err := exec.ReadPlan(r.Plan); err != nil {
		return fmt.Errorf("%s cannot read the plan, such as with another gonbext than here: %w", host, err)
	}
	text, err := os.ReadFile(filepath.Join(r.folder(), filesFile))
	var paths []string
	if err == nil {
		err = json.Unmarshal(text, &paths)
	}
	if err != nil {
		return fmt.Errorf("%s cannot read what it is to look for: %w", host, err)
	}
	for _, path := range paths {
		a, err := store.OpenContext(ctx, path)
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			return fmt.Errorf("%s does not see %s as this machine does: put it on storage that all machines share: %w", host, path, err)
		}
	}
	return nil
}

// Merge completes a stage whose elements have ended, and prepares the next, or submits what is missing.
func Merge(ctx context.Context, plan string, stage int) error {
	dieWithParent()
	if _, err := os.Stat(plan); errors.Is(err, fs.ErrNotExist) {
		return sweep(filepath.Dir(plan))
	}
	r, err := load(filepath.Dir(plan))
	if errors.Is(err, fs.ErrNotExist) { // a twin of this job has completed the run, or it was cancelled
		return nil
	}
	if err != nil {
		return &FinalError{err}
	}
	self := os.Getenv(r.batch().Self)
	m := &merging{run: r, stage: stage, self: self}
	err = internals.Resume(ctx, plan, r.Saved, m)
	for began := time.Now(); errors.As(err, new(*store.LockedError)) && time.Since(began) < lockTime && ctx.Err() == nil; { // a process that submitted may not have ended yet
		time.Sleep(time.Second)
		err = internals.Resume(ctx, plan, r.Saved, m)
	}
	if errors.Is(err, exec.ErrLeft) {
		return nil
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if now, failed := load(filepath.Dir(plan)); failed == nil {
		r = now
	}
	return &FinalError{errors.Join(err, r.fail(ctx, err, self))}
}

// sweep removes what is left of a run's folder where the last job was killed while it removed that: the plan goes
// first, the run's file last.
func sweep(staging string) error {
	output := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(staging), "."), ".gonbext")
	dir, err := storage.ExistingStagingDir(filepath.Join(filepath.Dir(staging), output))
	if dir == nil { // nothing is left, or another run has it
		return err
	}
	if _, err := os.Stat(runFile(staging)); err == nil {
		return dir.Remove()
	}
	_ = os.Remove(filepath.Dir(runFile(staging))) // where it is empty; then so is all
	return dir.Close()
}

// submitTime is how long the first job waits for the others to be submitted.
const submitTime = 5 * time.Minute

// lockTime is how long a job waits for a process that still has the run.
var lockTime = time.Minute

// merging is a job that merges.
type merging struct {
	run   *run
	stage int
	self  string
}

func (m *merging) Executor(saved json.RawMessage) exec.Executor {
	return &executor{batch: m.run.On, options: m.run.Options, saved: saved, run: m.run, step: m.stage, self: m.self}
}

// Wait leaves: later jobs go on.
func (m *merging) Wait(context.Context) error { return exec.ErrLeft }

func (m *merging) Predict(h *record.Header, p *size.Plan) { predict(h, m.run.On, &m.run.Options, p) }

// Records reports whether this job may be the last.
func (m *merging) Records() bool { return m.stage == len(m.run.Stages)-1 }
