// Package exec runs plans within their budget.
//
// A stage has a fixed number of slots. A slot is a goroutine with buffers of its
// own, all allocated before the first task: it takes a task, reads a tile,
// computes it, and writes its output buffer when that is full. Since there are more slots
// than workers, some read and write while others compute; since their number is
// fixed, memory is too. What is allocated is what the plan predicted, to the byte.
//
//   - Where each task waits for an object store, slots have memory for what a request moves, and share what decodes,
//     computes and encodes it: more requests are under way at once.
//   - Elementwise chains are one program over registers of 16,384 elements that stay in
//     a core's cache. Shared parts are computed once; reductions of one array share a
//     pass.
//   - Large outputs are written past the page cache, from huge pages; what must go
//     through it is written back behind the run. Bounded memory is also the fast way.
//   - Partial results of a reduction are merged in the order of chunks, whatever order
//     they finish in.
//   - A matrix product holds the accumulators of many tiles in memory and streams panels of
//     both operands past them: the next one is read while the present one is multiplied.
//   - A budget is of the process. Runs that are active at once and do not fit into it
//     together follow each other.
//
// Package slots runs tasks of map and reduce stages, package matmul those of products, both also by way of package
// device, and package checkpoint notes what is done. This package runs a plan with them, from opening its arrays to committing its
// outputs; package remote is above it: it has worker processes run the tasks.
package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// Run does what the plan says. When it returns an error nothing of the output
// exists, and nothing is left behind but its checkpoint: then it is a *ResumableError. A
// cancelled context ends it within a tile.
func Run(ctx context.Context, p *size.Plan, env Env) (end record.End, err error) {
	c := env.Checkpoint
	if c == nil {
		c = checkpoint.Temporary(p.Plan)
	}
	resumable := c.Resumable() // what an earlier run left stays where this one cannot begin
	defer func() {
		if failed := c.Close(resumable); err == nil {
			err = failed
		}
	}()
	if env.Executor == nil {
		env.Executor = Slots{}
	}
	if err := env.takes(p); err != nil {
		return end, err
	}
	r := newRun(p, &env, env.Record.Task)
	r.checkpoint, r.spent = c, make([]record.Spent, len(p.Stages))
	r.Observer, r.Earlier = c.Observer(), env.Earlier
	r.coordinator = &Coordinator{run: r, memory: map[int]record.Sample{}, peak: map[int]record.Bytes{}}
	if r.executor, err = env.Executor.Open(r.coordinator); err != nil {
		return end, err
	}
	if p.Each.Workers == 0 {
		defer raiseProcessors(p)()
	}
	var running context.Context
	running, r.fail = context.WithCancelCause(ctx)
	if r.coordinator.detached && c.Resumes() {
		c.Detach()
	}
	r.sampler = startSampler(r)
	err = r.all(running)
	r.sampler.stop()
	if fault := context.Cause(running); err != nil && fault != nil && ctx.Err() == nil {
		err = fault
	}
	r.fail(nil)
	if err != nil { // what was on its way may not have come
		err = errors.Join(err, r.kept.Drop())
	}
	if leak := r.Arena.Close(); leak != nil && err == nil {
		err = leak
	}
	if resumable = err != nil && c.Resumable() && c.Exists(); resumable {
		err = &ResumableError{Tasks: int64(c.Tasks()), Of: int64(p.Tasks()), Err: err}
	}
	end = r.end(ctx, err)
	_ = env.Record.End(end) // no run fails for want of a record
	return end, err
}

// raiseProcessors has a processor of Go's scheduler for each slot until done is called; further slots, which wait for
// a network, need none.
func raiseProcessors(p *size.Plan) (done func()) {
	most := 0
	for i := range p.Stages {
		most = max(most, p.Stages[i].Slots)
	}
	return machine.RaiseProcessors(min(most, p.MostLocalSlots()))
}

// run is one execution of a plan.
type run struct {
	*slots.Shared
	env        *Env
	checkpoint *checkpoint.Checkpoint
	arrays     *arrays
	sampler    *sampler
	current    atomic.Int64 // index of the stage that runs

	executor    Stages
	coordinator *Coordinator
	fail        context.CancelCauseFunc // ends the run
	device      device.Device
	kept        *device.KeptInputs // nil for none
	ranges      *rangeMerger       // of the present stage, where processes leave its partial results in files

	spent      []record.Spent // on each stage
	unsaved    time.Duration  // of the stages since the last one whose results were saved
	devicePeak int64          // bytes of the device's memory that a stage has taken, at the most
}

func newRun(p *size.Plan, env *Env, note func(*record.Task)) *run {
	r := &run{Shared: slots.NewShared(p, note), env: env, device: device.CPU{}}
	r.GivesWay = env.GivesWay
	return r
}

func (r *run) all(ctx context.Context) (err error) {
	r.arrays, err = openArrays(r.Shared, r.env, r.checkpoint)
	if err == nil {
		r.arrays.detached = r.coordinator.detached
	}
	if err != nil {
		return errors.Join(err, r.executor.Close())
	}
	defer func() {
		if failed := r.arrays.close(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	if r.arrays.placed {
		r.Counts.Skipped.Add(int64(r.Plan.Tasks()))
	} else {
		if err = r.stages(ctx); err != nil {
			err = errors.Join(err, r.arrays.notePending(context.WithoutCancel(ctx)))
		}
	}
	if err = errors.Join(err, r.executor.Close(), r.coordinator.close()); err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if r.env.Check != nil {
		if err := r.env.Check(ctx); err != nil {
			r.checkpoint.Invalidate()
			return err
		}
	}
	return r.arrays.commit(ctx)
}

// stages runs all stages, one after the other.
func (r *run) stages(ctx context.Context) error {
	for i := range r.Plan.Stages {
		if err := r.stage(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) stage(ctx context.Context, i int) error {
	s := &r.Plan.Stages[i]
	r.current.Store(int64(i))
	r.logStage(ctx, i)
	if r.checkpoint.Finished(i) {
		r.Counts.Skipped.Add(int64(s.Tasks()))
		return errors.Join(r.arrays.restore(ctx, i), r.arrays.dropUsed(i))
	}
	if i > 0 && r.Plan.Heap() > 0 {
		emptyPools()
	}
	if err := r.arrays.begin(ctx, i); err != nil {
		return err
	}
	start, cpu, before := time.Now(), machine.CPUTime(), r.Counts.Tasks.Load()
	if err := r.tasks(ctx, i); err != nil {
		return err
	}
	if !r.coordinator.detached { // what others have spent, and waited for, is not known here
		r.spent[i] = record.Spent{Tasks: int(r.Counts.Tasks.Load() - before), Seconds: time.Since(start).Seconds()}
	}
	if r.Plan.Each.Workers == 0 { // the time of others is not this process's
		r.spent[i].CPU = (machine.CPUTime() - cpu).Seconds()
	}
	r.unsaved += time.Since(start)
	costly := r.unsaved > checkpoint.SaveAfter
	if costly {
		r.unsaved = 0
	}
	return r.arrays.end(ctx, i, costly)
}

// emptyPools lets go of what codecs and buffers of the stage before have left in Go's pools, which the next stage has no room for:
// that takes two collections. A program with a large heap of its own has a large budget, and is spared them.
func emptyPools() {
	const small = 64 << 20
	var stats runtime.MemStats
	if runtime.ReadMemStats(&stats); stats.HeapAlloc < small {
		runtime.GC()
		debug.FreeOSMemory()
	}
}

// tasks runs those tasks of a stage that an earlier run has not done.
func (r *run) tasks(ctx context.Context, stage int) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // when the runner is closed: until then writes may go on
	s := &r.Plan.Stages[stage]
	leftOut := r.checkpoint.LeftOut(stage)
	if n := leftOut.Len(); n > 0 && n == s.Tasks() {
		r.Counts.Skipped.Add(int64(n))
		return nil
	}
	m, err := newMerger(r, stage)
	if err != nil {
		return err
	}
	r.Partials, r.ranges = nil, nil
	if m != nil {
		r.Partials = m
		defer func() { err = errors.Join(err, m.free()) }()
	}
	snapshot, file, failed := r.checkpoint.Snapshot(stage)
	if file != nil {
		defer file.Close()
	}
	recorded := checkpoint.Stage{Index: stage, InMemory: r.arrays.fillsMemory(stage), Merges: m != nil}
	if m != nil {
		if s.Kind == plan.ReduceStage && s.Tasks() == 0 {
			return m.empty(ctx)
		}
		if r.checkpoint.Done(stage).Len() > 0 && (failed != nil || snapshot == nil || m.restore(file) != nil) {
			if err := r.checkpoint.Forget(stage); err != nil {
				return err
			}
		}
		recorded.Accumulators = m
		if r.Plan.Each.Workers > 0 {
			if r.ranges, err = newRangeMerger(m); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.ranges.free()) }()
		}
	}
	tasks := checkpoint.All(s.Tasks()).Without(leftOut)
	if done := r.checkpoint.Done(stage); len(done) > 0 {
		tasks = tasks.Without(done)
	}
	r.Counts.Skipped.Add(int64(s.Tasks() - tasks.Len()))
	if tasks.Len() > 0 {
		r.Unfinished = nil
		runner, err := r.executor.Stage(ctx, stage)
		if err != nil {
			return err
		}
		if r.Unfinished != nil {
			recorded.Accumulators = r.Unfinished
			if file != nil {
				r.Unfinished.Restore(snapshot.Meta, file, tasks)
			}
		}
		r.sampler.stage()
		r.coordinator.given = slices.Clone(tasks)
		reported := &ledger{stage: s.Name, given: slices.Clone(tasks), fail: r.fail}
		err = r.recorded(ctx, cancel, recorded, func(done func(int)) error {
			reported.take = done
			err := runner.Run(ctx, tasks, reported.done)
			if errors.Is(err, ErrLeft) {
				r.checkpoint.Detach()
			}
			if err == nil {
				err = context.Cause(ctx) // such as a task that was reported twice
			}
			if missing := reported.close(); err == nil {
				err = missing
			}
			return err
		})
		r.sampler.stage()
		if err = errors.Join(err, runner.Close()); err != nil {
			return err
		}
	}
	if m != nil {
		if err := m.complete(); err != nil {
			return err
		}
		if s.Kind == plan.MapStage {
			m.deliver(r.env.SideReductions)
		}
	}
	return nil
}

// event records what happened to a stage on the device.
func (r *run) event(stage int, action record.Action, bytes int64) {
	r.env.Record.Event(record.Event{At: time.Since(r.Start), Stage: uint16(stage), Action: action, Bytes: bytes, Free: r.device.Usage().Free})
}

// recorded does a stage's work, while the checkpoint notes its progress; fail ends the
// work.
func (r *run) recorded(ctx context.Context, fail func(error), s checkpoint.Stage, work func(done func(task int)) error) error {
	if !r.checkpoint.Enabled() || r.arrays.uncopied {
		return work(func(int) {})
	}
	s.Sync = func(done Tasks) error { return r.arrays.sync(context.WithoutCancel(ctx), s.Index, done) }
	recorder := r.checkpoint.Record(s, fail)
	err := work(recorder.Done)
	if failed := recorder.End(err != nil); err == nil {
		err = failed
	}
	return err
}

func (r *run) end(ctx context.Context, err error) record.End {
	e := record.End{Status: record.Done, Duration: time.Since(r.Start), DevicePeak: r.devicePeak,
		OOMEvents: int(r.Counts.OOM.Load()), ProcessPeak: r.sampler.processPeak,
		Computed: r.Counts.Tasks.Load(), Skipped: r.Counts.Skipped.Load(), Read: r.Counts.Read.Load(), Written: r.Counts.Written.Load(), Stages: r.spent}
	e.Peak, e.PeakBy = r.Arena.Peak()
	r.coordinator.addPeaks(&e)
	if err != nil {
		e.Status, e.Error = record.Failed, err.Error()
		if slots.Cancelled(ctx, err) {
			e.Status = record.Cancelled
		}
	}
	return e
}

// ResumableError is the error of a run that the next attempt can resume.
type ResumableError struct {
	Tasks, Of int64
	Err       error
}

func (e *ResumableError) Error() string {
	if errors.Is(e.Err, ErrBusy) {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v (%s: the same again resumes there)", e.Err, e.Saved())
}

// Saved says what the next attempt finds done.
func (e *ResumableError) Saved() string {
	if e.Tasks == 0 {
		return "the first chunks are saved as far as they are computed"
	}
	return fmt.Sprintf("%d of %d chunks are saved", e.Tasks, e.Of)
}

// Unwrap gives the cause.
func (e *ResumableError) Unwrap() error { return e.Err }
