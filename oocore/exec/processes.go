package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// Processes are worker processes that run a plan's tasks.
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
		if a, err := w.ask(request{Leave: true}); err == nil && a.Error == "" {
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

// planFile is in the staging folder.
const planFile = "plan"

// processes is the executor of worker processes. All of them serve one plan.
type processes struct {
	run     *run
	command []string
	file    string
	pool    *Processes

	mu     sync.Mutex
	all    []*process      // by number; nil for one that ended
	memory []record.Sample // of each
	peak   []record.Bytes
}

// newProcesses writes the plan into the staging folder, and starts the workers.
func newProcesses(ctx context.Context, r *run) (p *processes, err error) {
	conf := r.env.Processes
	encoded, err := r.plan.Encode()
	if err != nil {
		return nil, err
	}
	if err := r.arrays.makeSpill(); err != nil {
		return nil, err
	}
	p = &processes{run: r, pool: conf, file: r.arrays.spill.Join(planFile), all: make([]*process, conf.N),
		memory: make([]record.Sample, conf.N), peak: make([]record.Bytes, conf.N)}
	p.command = conf.Command(p.file, r.plan.Each.Budget, r.plan.Each.Workers)
	if err := writePlan(p.file, encoded); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
			p = nil
		}
	}()
	errs := make([]error, conf.N)
	var group sync.WaitGroup
	for i := range p.all {
		group.Go(func() { errs[i] = p.start(ctx, i) })
	}
	group.Wait()
	for i, err := range errs {
		if errors.As(err, new(*deadWorker)) { // it is started again when there is work for it
			p.drop(i)
		} else if err != nil {
			return p, err
		}
	}
	return p, nil
}

// start starts a worker, or takes one that waits, and waits until it is ready.
func (p *processes) start(ctx context.Context, number int) (err error) {
	w := p.pool.take()
	kept := w != nil
	if !kept {
		if w, err = startProcess(p.command); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.all[number] = w
	p.mu.Unlock()
	defer context.AfterFunc(ctx, w.hang)()
	var a answer
	if kept {
		each := p.run.plan.Each
		a, err = w.ask(request{Open: &assignment{p.file, each.Budget, each.Workers}})
	} else {
		err = w.lines.Decode(&a)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &deadWorker{how: w.wait(), words: w.words.String()}
	}
	p.noteMemory(number, a)
	switch {
	case a.Need > 0:
		return &plan.MemoryError{Op: "a worker process", Need: a.Need, Limit: p.run.plan.Each.Budget}
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
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

func (p *processes) noteMemory(number int, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory[number], p.peak[number] = a.Memory, a.Peak
}

// sample adds the workers' memory to that of the coordinator.
func (p *processes) sample(s *record.Sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, m := range p.memory {
		if p.all[i] == nil {
			continue
		}
		for c := range s.Arena {
			s.Arena[c] += m.Arena[c]
		}
		s.Anonymous += m.Anonymous
		s.Mapped += m.Mapped
		s.GoHeap += m.GoHeap
		s.GoRuntime += m.GoRuntime
	}
}

// peaks is the sum of the most that each worker has reserved.
func (p *processes) peaks() (sum record.Bytes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.peak {
		for c := range sum {
			sum[c] += b[c]
		}
	}
	return sum
}

// close gives the workers back.
func (p *processes) close() error {
	var group sync.WaitGroup
	p.mu.Lock()
	all := slices.Clone(p.all)
	clear(p.all)
	p.mu.Unlock()
	for _, w := range all {
		if w != nil {
			group.Go(func() { p.pool.release(w) })
		}
	}
	group.Wait()
	return disk.Remove(p.file)
}

// Stage prepares for what workers leave of a stage.
func (p *processes) Stage(_ context.Context, stage int) (Runner, error) {
	r := &processRunner{processes: p, index: stage, stage: &p.run.plan.Stages[stage]}
	if !r.stage.Merges() {
		return r, nil
	}
	var err error
	if r.rows, err = newRowMerger(p.run.partials.(*merger)); err != nil {
		return nil, err
	}
	return r, nil
}

// processRunner lets the workers run tasks of a stage.
type processRunner struct {
	*processes
	index int
	stage *plan.SizedStage

	taking sync.Mutex
	rows   *rowMerger // of partial results; nil where there are none
}

// Run hands out ranges of tasks to the workers.
func (r *processRunner) Run(ctx context.Context, tasks Tasks, done func(index int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := newRanges(r.stage, len(r.all), tasks)
	var group sync.WaitGroup
	for number := range r.all {
		group.Go(func() {
			if err := r.feed(ctx, number, queue, done); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// Close removes what workers left for the coordinator.
func (r *processRunner) Close() error {
	if r.rows == nil {
		return nil
	}
	return r.rows.close()
}

// maxDeaths is how many workers in a row may end with a range of tasks before that is
// the run's error. Each time less is asked for at once.
const maxDeaths = 5

// feed gives one worker range after range.
func (r *processRunner) feed(ctx context.Context, number int, queue *ranges, done func(index int)) error {
	for {
		tasks, ok := queue.take()
		if !ok {
			return nil
		}
		if err := r.finish(ctx, number, tasks, 0, queue, done); err != nil {
			return err
		}
	}
}

// finish lets a worker do tasks. One that ends is replaced, and does them again, half of them at
// a time; deaths is how many have ended in a row.
func (r *processRunner) finish(ctx context.Context, number int, tasks Range, deaths int, queue *ranges, done func(index int)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	begun := time.Now()
	a, err := r.do(ctx, number, tasks)
	switch {
	case err == nil:
		if a.Error == "" {
			queue.took(tasks.Len(), time.Since(begun))
		}
		return r.take(ctx, number, begun, tasks, a, done)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.As(err, new(*deadWorker)):
		return err
	}
	if deaths++; deaths >= maxDeaths {
		return fmt.Errorf("%s, %s: %d worker processes in a row ended without progress: %w", r.stage.Name, tasks, deaths, err)
	}
	rest := Tasks{tasks}
	first := rest.Take((tasks.Len() + 1) / 2)
	err = r.finish(ctx, number, first, deaths, queue, done)
	if err == nil && len(rest) > 0 {
		err = r.finish(ctx, number, rest[0], 0, queue, done)
	}
	return err
}

// do asks a worker for tasks, and starts it where there is none. A worker that ended is
// a *deadWorker.
func (r *processRunner) do(ctx context.Context, number int, tasks Range) (answer, error) {
	r.mu.Lock()
	w := r.all[number]
	r.mu.Unlock()
	if w == nil {
		if err := r.start(ctx, number); err != nil {
			r.drop(number)
			return answer{}, err
		}
		return r.do(ctx, number, tasks)
	}
	defer context.AfterFunc(ctx, w.hang)()
	a, err := w.ask(request{Stage: r.index, Tasks: tasks})
	if err != nil {
		dead := &deadWorker{how: w.wait(), words: w.words.String()}
		r.drop(number)
		return a, dead
	}
	r.noteMemory(number, a)
	return a, nil
}

// drop forgets a worker that ended.
func (p *processes) drop(number int) {
	p.mu.Lock()
	w := p.all[number]
	p.all[number] = nil
	p.mu.Unlock()
	if w != nil {
		_ = w.wait()
	}
}

// take notes what a worker has done of tasks.
func (r *processRunner) take(ctx context.Context, number int, begun time.Time, tasks Range, a answer, done func(index int)) error {
	r.taking.Lock()
	defer r.taking.Unlock()
	if err := a.Rows.Check(); err != nil {
		return fmt.Errorf("a worker process answers what is no record: %w", err)
	}
	for row := range a.Rows.All() {
		row.Stage = uint16(r.index)
		row.Slot += uint16(number * r.stage.Slots / len(r.all))
		row.Start += begun.Sub(r.run.start)
		r.run.counts.read.Add(row.Read)
		r.run.counts.written.Add(row.Written)
		r.run.record(row)
	}
	if r.rows != nil {
		if err := r.rows.take(context.WithoutCancel(ctx), a.Done); err != nil {
			return err
		}
	}
	for index := range a.Done.All() {
		done(index)
	}
	switch {
	case a.Error != "" && ctx.Err() != nil:
		return context.Cause(ctx)
	case a.Error != "":
		return errors.New(a.Error)
	case a.Done.Len() != tasks.Len():
		return fmt.Errorf("a worker process has done %d of %s of %s, and says nothing of the others", a.Done.Len(), tasks, r.stage.Name)
	}
	return nil
}
