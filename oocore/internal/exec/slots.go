package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// counts are the totals of a run, for progress and for its end.
type counts struct {
	tasks, skipped, read, written, oom atomic.Int64
}

// slot is one task in flight: its buffers, and the row of the record that it
// fills in.
type slot struct {
	run     *run
	stage   *size.Stage
	index   int
	buffers []*arena.Buffer
	close   []func() error
	row     record.Task
	held    map[int]chunkInMemory // levels of a pyramid, by their arrays
}

// alloc takes buffers that live as long as the slot; nil for those that are none.
func (s *slot) alloc(declared ...size.Buffer) ([][]byte, error) {
	all := make([][]byte, len(declared))
	for i, d := range declared {
		b, err := d.Alloc(s.run.arena, int(s.row.Stage))
		if err != nil {
			return nil, err
		}
		if b != nil {
			s.buffers, all[i] = append(s.buffers, b), b.Data
			s.row.Requested[d.Class()] += d.Bytes()
			s.row.Reserved[d.Class()] += b.Reserved()
		}
	}
	return all, nil
}

// newSlot is a slot of a stage, without buffers.
func newSlot(r *run, stage, index int) *slot {
	s := &slot{run: r, stage: &r.plan.Stages[stage], index: index}
	s.row.Stage, s.row.Slot, s.row.Chunk = uint16(stage), uint16(index), -1
	return s
}

func (s *slot) free() (err error) {
	for _, f := range s.close {
		err = errors.Join(err, f())
	}
	for _, b := range s.buffers {
		b.Free()
	}
	return err
}

// worker does a slot's tasks.
type worker interface {
	// task does the task of an index, of the chunk at box.
	task(ctx context.Context, index int, box grid.Box) error
}

// slots runs a stage's tasks in the slots of this process, on the CPU.
type slots struct{ run *run }

// Stage allocates the buffers of a stage's slots.
func (e slots) Stage(_ context.Context, stage int) (Runner, error) {
	switch s := &e.run.plan.Stages[stage]; s.Kind {
	case plan.MapStage:
		return newMapRunner(e.run, stage)
	case plan.ReduceStage:
		return newReduceRunner(e.run, stage)
	case plan.MatMulStage:
		return newProductRunner(e.run, stage)
	default:
		return nil, fmt.Errorf("the plan has a stage of kind %q, which this version does not know", s.Kind)
	}
}

// pool is a stage's slots. The first error of a task stops all of them.
type pool struct {
	run   *run
	index int // of the stage
	stage *size.Stage
	all   []prepared
	end   context.CancelCauseFunc // of the context of the last Run, in which writes may go on; nil before the first
}

// newPool prepares the slots of a stage, sized as it is done; make prepares the worker of
// one.
func newPool(r *run, stage int, sized *size.Stage, make func(*slot) (worker, error)) (*pool, error) {
	p := &pool{run: r, index: stage, stage: sized}
	for i := range p.stage.Slots {
		s := newSlot(r, stage, i)
		s.stage = sized
		w, err := make(s)
		p.all = append(p.all, prepared{s, w})
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		s.row.Allocations = uint32(len(s.buffers))
	}
	return p, nil
}

// giveWayAfter is how long the tasks of a stage that gives way compute as others do: a request of a service has ended by then.
const giveWayAfter = 100 * time.Millisecond

// Run lets each slot take the next task until there are none. Its context stays until Close,
// or the next Run, which comes after a Sync: sessions may write what they were given until
// then.
func (p *pool) Run(ctx context.Context, tasks Tasks, done func(index int)) error {
	if partials := p.run.partials; partials != nil {
		if err := partials.begin(tasks); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.release()
	p.end = cancel
	next := &cursor{left: slices.Clone(tasks)}
	begun := time.Now()
	serve := func(w prepared) error {
		gave := !p.run.env.GivesWay
		for ctx.Err() == nil {
			if !gave && time.Since(begun) > giveWayAfter {
				machine.GiveWay()
				gave = true
			}
			index, ok := next.take()
			if !ok {
				return nil
			}
			c, box := chunkOf(p.stage, index)
			w.slot.begin(c)
			if err := w.worker.task(ctx, index, box); err != nil {
				return taskError(ctx, p.stage, box, err)
			}
			w.slot.finish()
			done(index)
		}
		return nil
	}
	var group sync.WaitGroup
	for _, w := range p.all {
		group.Go(func() {
			err := errGoexit // stays where serve never returns
			defer func() {
				if err != nil {
					cancel(err)
				}
			}()
			err = serve(w)
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// release ends the context of the last Run.
func (p *pool) release() {
	if p.end != nil {
		p.end(nil)
	}
}

// Close frees the slots' buffers, after what their sessions still write.
func (p *pool) Close() (err error) {
	defer p.release()
	for _, w := range p.all {
		if failed := w.slot.free(); err == nil {
			err = failed
		}
	}
	return err
}

// cursor hands out the tasks of a set one by one, in order, to many goroutines.
type cursor struct {
	mu   sync.Mutex
	left Tasks
}

func (c *cursor) take() (index int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 {
		return 0, false
	}
	return c.left.Take(1).First, true
}

// errGoexit is the failure of a Go function that ends the goroutine it is called in.
var errGoexit = errors.New("the function called runtime.Goexit")

// prepared is a slot with its worker.
type prepared struct {
	slot   *slot
	worker worker
}

func (s *slot) begin(chunk int) {
	s.row.Chunk = int64(chunk)
	s.row.Start = time.Since(s.run.start)
	s.row.Reading, s.row.Computing, s.row.Writing = 0, 0, 0
	s.row.Upload, s.row.Download = 0, 0
	s.row.Read, s.row.Written, s.row.Moved = 0, 0, 0
}

func (s *slot) finish() {
	s.row.Duration = time.Since(s.run.start) - s.row.Start
	s.run.record(&s.row)
	s.row.Reuses, s.row.Allocations = uint32(len(s.buffers)), 0
}

// write stores a box of an output that is not encoded.
func (s *slot) write(ctx context.Context, array int, src []byte, box grid.Box) error {
	return (&sink{slot: s, array: array}).write(ctx, src, box)
}

// compute runs f with one of the run's workers.
func (s *slot) compute(ctx context.Context, f func() error) error {
	select {
	case s.run.cpu <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.run.cpu }()
	t := time.Now()
	err := f()
	s.row.Computing += time.Since(t)
	return err
}

// taskError says which chunk failed, except where the run was cancelled.
func taskError(ctx context.Context, s *size.Stage, box grid.Box, err error) error {
	if cancelled(ctx, err) {
		return context.Cause(ctx)
	}
	return &TaskError{Stage: s.Name, Chunk: box, Err: err}
}

// cancelled reports an error that only says that ctx has ended.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// TaskError is the failure of one chunk's task.
type TaskError struct {
	Stage string
	Chunk grid.Box
	Err   error
}

func (e *TaskError) Error() string {
	return e.Stage + ", chunk " + e.Chunk.String() + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *TaskError) Unwrap() error { return e.Err }
