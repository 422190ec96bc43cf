// Package remote runs tasks in worker processes of this machine: it starts them, gives them ranges of tasks, takes their
// reports, and replaces those that end.
package remote

import (
	"context"
	"errors"
	"fmt"

	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/types"
)

// Processes is the executor of worker processes of this machine.
type Processes struct {
	N int
	// Command starts a worker for the plan in a file, with a budget of memory and so many
	// tasks that compute at once: a program that calls Serve on its standard input and
	// output.
	Command func(file string, budget int64, workers int) []string
	// Keep leaves the workers of a run waiting for the next one, until Close.
	Keep bool

	mu   sync.Mutex
	idle []*process
}

// take returns a worker that waits for a plan; nil where there is none.
func (p *Processes) take() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return w
}

// release ends a worker, or lets it wait for another plan.
func (p *Processes) release(w *process) {
	if p.Keep {
		if a, err := w.ask(request{Leave: true}); err == nil && a.Error == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.idle = append(p.idle, w)
			return
		}
	}
	_ = w.wait() // what it did is known from its answers
}

// Close ends the workers that wait for another run.
func (p *Processes) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var group sync.WaitGroup
	for _, w := range idle {
		group.Go(func() { _ = w.wait() })
	}
	group.Wait()
}

// Open returns an error for a plan that was not sized for so many processes.
func (p *Processes) Open(c *exec.Coordinator) (exec.Stages, error) {
	if c.Plan().Each.Workers == 0 {
		return nil, errors.New("the plan is sized for this process, and the executor is of worker processes")
	}
	return &processes{Coordinator: c, pool: p, all: make([]*process, p.N)}, nil
}

// processes are the workers of a run. All of them serve one plan.
type processes struct {
	*exec.Coordinator
	file string // of the plan; "" before the first stage
	pool *Processes
	all  []*process // by number; nil for one that ended
}

// begin writes the plan, and starts the workers.
func (p *processes) begin(ctx context.Context) error {
	var err error
	if p.file, err = p.PlanFile(); err != nil {
		return err
	}
	errs := make([]error, len(p.all))
	var group sync.WaitGroup
	for i := range p.all {
		group.Go(func() { errs[i] = p.start(ctx, i) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil && !errors.As(err, new(*deadWorker)) { // which is started again when there is work for it
			return err
		}
	}
	return nil
}

// start starts a worker, or takes one that waits, and waits until it is ready.
func (p *processes) start(ctx context.Context, number int) (err error) {
	each := p.Plan().Each
	w := p.pool.take()
	kept := w != nil
	if !kept {
		if w, err = startProcess(p.pool.Command(p.file, each.Budget, each.Workers)); err != nil {
			return err
		}
	}
	p.all[number] = w
	defer context.AfterFunc(ctx, w.hang)()
	var a exec.Report
	if kept {
		a, err = w.ask(request{Open: &assignment{p.file, each.Budget, each.Workers}})
	} else {
		a, err = w.answer()
	}
	if err != nil {
		dead := p.drop(number)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return dead
	}
	p.NoteMemory(number, a)
	if short, ok := errors.AsType[*types.MemoryError](a.Err()); ok {
		return &types.MemoryError{Op: "a worker process", Need: short.Need, Limit: each.Budget}
	}
	return a.Err()
}

// deadWorker is a worker process that ended without an answer.
type deadWorker struct {
	how   error
	words string
}

func (e *deadWorker) Error() string {
	text := "a worker process ended"
	if e.how != nil {
		text += ": " + e.how.Error()
	}
	if e.words != "" {
		text += "; its last words: " + e.words
	}
	return text
}

// drop forgets a worker that ended or is to end, and says how it did.
func (p *processes) drop(number int) *deadWorker {
	w := p.all[number]
	p.all[number] = nil
	p.NoteMemory(number, exec.Report{})
	return &deadWorker{how: w.wait(), words: w.words.String()}
}

// Close gives the workers back.
func (p *processes) Close() error {
	var group sync.WaitGroup
	for _, w := range p.all {
		if w != nil {
			group.Go(func() { p.pool.release(w) })
		}
	}
	group.Wait()
	return nil
}

// Stage starts the workers at the first stage. They take the memory of a stage with its first
// tasks.
func (p *processes) Stage(ctx context.Context, stage int) (exec.Runner, error) {
	if p.file == "" {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	return &processRunner{processes: p, index: stage, stage: &p.Plan().Stages[stage]}, nil
}

// processRunner lets the workers run tasks of a stage.
type processRunner struct {
	*processes
	index int
	stage *size.Stage
	queue *ranges
	done  func(index int)
}

// Run hands out ranges of tasks to the workers.
func (r *processRunner) Run(ctx context.Context, tasks exec.Tasks, done func(index int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.queue, r.done = newRanges(r.stage, len(r.all), tasks), done
	var group sync.WaitGroup
	for number := range r.all {
		group.Go(func() {
			if err := r.feed(ctx, number); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// Close does nothing: workers give the memory of a stage back when they are given another.
func (r *processRunner) Close() error { return nil }

// maxDeaths is how many workers in a row may end with a range of tasks before that is
// the run's error. Each time less is asked for at once.
const maxDeaths = 5

// feed gives one worker range after range.
func (r *processRunner) feed(ctx context.Context, number int) error {
	for {
		tasks, ok := r.queue.take()
		if !ok {
			return nil
		}
		if err := r.finish(ctx, number, tasks, 0); err != nil {
			return err
		}
	}
}

// finish lets a worker do tasks. One that ends is replaced, and does them again, half of them at
// a time; deaths is how many have ended in a row.
func (r *processRunner) finish(ctx context.Context, number int, tasks exec.Range, deaths int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	begun := time.Now()
	a, err := r.do(ctx, number, tasks)
	switch {
	case err == nil:
		if a.Error == nil {
			r.queue.took(tasks.Len(), time.Since(begun))
		}
		return r.Take(ctx, r.index, number, begun, tasks, a, r.done)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.As(err, new(*deadWorker)):
		return err
	}
	if deaths++; deaths >= maxDeaths {
		return fmt.Errorf("%s, %s: %d worker processes in a row ended without progress: %w", r.stage.Name, tasks, deaths, err)
	}
	rest := exec.Tasks{tasks}
	first := rest.Take((tasks.Len() + 1) / 2)
	err = r.finish(ctx, number, first, deaths)
	if err == nil && len(rest) > 0 {
		err = r.finish(ctx, number, rest[0], 0)
	}
	return err
}

// do asks a worker for tasks, and starts it where there is none. A worker that ended is
// a *deadWorker.
func (r *processRunner) do(ctx context.Context, number int, tasks exec.Range) (exec.Report, error) {
	w := r.all[number] // which only this goroutine changes
	if w == nil {
		if err := r.start(ctx, number); err != nil {
			return exec.Report{}, err
		}
		return r.do(ctx, number, tasks)
	}
	defer context.AfterFunc(ctx, w.hang)()
	a, err := w.ask(request{Stage: r.index, Tasks: tasks})
	if err != nil {
		return a, r.drop(number)
	}
	return a, nil
}
