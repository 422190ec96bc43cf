package exec

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/simd"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// Worker runs tasks of a plan that another process coordinates: that one has opened the
// output in the folder in which the plan's file lies, and commits it. A Worker takes no
// lock, commits nothing and removes nothing.
type Worker struct {
	run    *run
	stage  int // that is open; -1 for none
	runner Runner
	begun  time.Time

	restore func() // Go's runtime as it was
	durable bool

	mu    sync.Mutex
	tasks record.Rows // of the present request
}

// NewWorker opens what the plan in a file reads, to run its tasks within a budget of
// memory, so many at once. It returns a *plan.MemoryError where the budget is too small
// for any stage, before anything is read.
func NewWorker(file string, budget int64, workers int) (*Worker, error) {
	if err := simd.Err(); err != nil {
		return nil, err
	}
	sum, _ := planSum(file)
	logical, err := ReadPlan(file)
	if err != nil {
		return nil, err
	}
	o := size.WorkerOptions(logical, budget, workers)
	p, err := size.New(logical, o)
	if err != nil {
		return nil, err
	}
	ws, err := storage.AttachStagingDir(filepath.Dir(file), p.StagingPath(p.Output))
	if err == nil {
		err = ws.Register()
	}
	if err != nil {
		return nil, err
	}
	// From here on the plan's run waits for this process, or fences it: the plan has to be that run's.
	if now, err := planSum(file); err != nil || now != sum {
		return nil, errors.Join(storage.ErrNotStaged, ws.Close())
	}
	limited, raised := machine.LimitRuntime(o.Overhead+p.Heap()), raiseProcessors(p)
	w := &Worker{stage: -1, restore: func() { raised(); limited() }}
	env := &Env{}
	w.run = newRun(p, env, w.note)
	if w.run.arrays, err = attachArrays(w.run.Shared, env, ws); err != nil {
		w.restore()
		return nil, errors.Join(err, ws.Close())
	}
	return w, nil
}

// note takes the row of a task that is done.
func (w *Worker) note(row *record.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := *row
	r.Start -= w.begun.Sub(w.run.Start)
	w.tasks.Add(&r)
}

// Check returns an error for tasks that the plan does not have.
func (w *Worker) Check(stage int, tasks Range) error {
	stages := w.run.Plan.Stages
	if stage < 0 || stage >= len(stages) {
		return fmt.Errorf("there is no stage %d: the plan has %d, numbered from 0", stage, len(stages))
	}
	if n := stages[stage].Tasks(); tasks.First < 0 || tasks.End > n || tasks.First >= tasks.End {
		return fmt.Errorf("there are no tasks %d..%d in stage %d: it has %d, numbered from 0", tasks.First, tasks.End, stage, n)
	}
	return nil
}

// KeepPartials makes Run make partial results durable, too: their report outlives this machine.
func (w *Worker) KeepPartials() { w.durable = true }

// Run runs tasks of a stage, and makes durable what they wrote to arrays. It returns those that
// are done also with an error.
func (w *Worker) Run(ctx context.Context, stage int, tasks Range) (done Tasks, err error) {
	w.begun, w.tasks = time.Now(), nil
	if err := w.Check(stage, tasks); err != nil {
		return nil, err
	}
	if err := w.open(stage); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = w.runner.Run(ctx, Tasks{tasks}, func(index int) {
		mu.Lock()
		defer mu.Unlock()
		done.Add(index, 1)
	})
	failed := w.run.arrays.sync(context.WithoutCancel(ctx), stage, nil)
	if f, ok := w.run.Partials.(*rangeFile); ok && failed == nil {
		failed = f.end()
	}
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	return done, err
}

// open prepares for the tasks of a stage, in place of the one before.
func (w *Worker) open(stage int) (err error) {
	if w.stage == stage {
		return nil
	}
	if err := w.leave(); err != nil {
		return err
	}
	err = w.run.arrays.attach(stage)
	if err == nil && w.run.arrays.ended() { // then what was opened may be another run's
		err = storage.ErrNotStaged
	}
	if err != nil {
		return errors.Join(err, w.leave())
	}
	w.run.Partials = nil
	if s := &w.run.Plan.Stages[stage]; s.Merges() {
		w.run.Partials = &rangeFile{dir: partialsDir(w.run.arrays.spill.Path, stage), size: rowBytes(s.Buffers.Slot.States), durable: w.durable}
	}
	if w.runner, err = inSlots(w.run.Shared, stage); err != nil {
		return errors.Join(err, w.leave())
	}
	w.stage = stage
	return nil
}

// leave closes the stage that is open.
func (w *Worker) leave() error {
	var errs []error
	if w.runner != nil {
		errs = append(errs, w.runner.Close())
	}
	w.stage, w.runner = -1, nil
	return errors.Join(append(errs, w.run.arrays.leave())...)
}

// Close gives back everything that the worker holds.
func (w *Worker) Close() error {
	defer w.restore()
	return errors.Join(w.leave(), w.run.arrays.close(), w.run.arrays.spill.Close(), w.run.Arena.Close())
}

// Report is what the coordinator is told of what Run has returned.
func (w *Worker) Report(done Tasks, err error) Report {
	a := Report{Done: done, Rows: w.tasks, Error: remote(err)}
	_, a.Peak = w.run.Arena.Peak()
	a.Memory.Arena = w.run.Arena.Now()
	if m, err := machine.Process(); err == nil {
		a.Memory.Anonymous, a.Memory.Mapped = m.Anonymous, m.Mapped
		a.Memory.GoHeap, a.Memory.GoRuntime = m.GoHeap, m.GoRuntime
	}
	return a
}
