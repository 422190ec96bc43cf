package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
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
	stage   *plan.SizedStage
	index   int
	buffers []*arena.Buffer
	close   []func() error
	row     record.Task
}

// alloc takes a buffer that lives as long as the slot.
func (s *slot) alloc(class record.Class, n int64) ([]byte, error) {
	b, err := s.run.arena.Alloc(arena.Tag{Stage: int(s.row.Stage), Chunk: s.row.Chunk, Class: class}, n)
	if err != nil {
		return nil, err
	}
	s.buffers = append(s.buffers, b)
	s.row.Requested[class] += n
	s.row.Reserved[class] += b.Reserved()
	return b.Data, nil
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
	// task does the ticket-th task, of the chunk of the stage's grid at box.
	task(ctx context.Context, ticket int, box grid.Box) error
}

// pool runs the tickets 0 … n−1 of a stage on its slots. chunk gives a ticket's
// chunk and its box; make prepares a slot's worker. The first error stops all.
func (r *run) pool(ctx context.Context, stage, n int, chunk func(ticket int) (int, grid.Box), make func(*slot) (worker, error)) (err error) {
	s := &r.plan.Stages[stage]
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots, err := r.slots(stage, make)
	defer func() {
		for _, w := range slots {
			if failed := w.slot.free(); err == nil {
				err = failed
			}
		}
	}()
	if err != nil {
		return err
	}
	r.sampler.sample()
	defer r.sampler.sample()
	var next atomic.Int64
	serve := func(w prepared) error {
		for ctx.Err() == nil {
			ticket := int(next.Add(1)) - 1
			if ticket >= n {
				return nil
			}
			if r.keep.has(stage, ticket) {
				r.counts.skipped.Add(1)
				continue
			}
			c, box := chunk(ticket)
			w.slot.begin(c)
			if err := w.worker.task(ctx, ticket, box); err != nil {
				return taskError(ctx, s, box, err)
			}
			w.slot.finish()
			r.keep.done(ticket)
		}
		return nil
	}
	var group sync.WaitGroup
	for _, w := range slots {
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

// errGoexit is the failure of a Go function that ends the goroutine it is called in.
var errGoexit = errors.New("the function called runtime.Goexit")

// prepared is a slot with its worker.
type prepared struct {
	slot   *slot
	worker worker
}

func (r *run) slots(stage int, make func(*slot) (worker, error)) (all []prepared, err error) {
	for i := range r.plan.Stages[stage].Slots {
		s := &slot{run: r, stage: &r.plan.Stages[stage], index: i}
		s.row.Stage, s.row.Slot, s.row.Chunk = uint16(stage), uint16(i), -1
		w, err := make(s)
		all = append(all, prepared{s, w})
		if err != nil {
			return all, err
		}
		s.row.Allocations = uint32(len(s.buffers))
	}
	return all, nil
}

func (s *slot) begin(chunk int) {
	s.row.Chunk = int64(chunk)
	s.row.Start = time.Since(s.run.start)
	s.row.Reading, s.row.Computing, s.row.Writing = 0, 0, 0
	s.row.Read, s.row.Written, s.row.Moved = 0, 0, 0
	s.row.Retries, s.row.Splits = 0, 0
}

func (s *slot) finish() {
	s.row.Duration = time.Since(s.run.start) - s.row.Start
	s.run.env.Record.Task(&s.row)
	s.row.Reuses, s.row.Allocations = uint32(len(s.buffers)), 0
	s.run.counts.tasks.Add(1)
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
func taskError(ctx context.Context, s *plan.SizedStage, box grid.Box, err error) error {
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
