package slots

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// Slot is one task in flight: its buffers, and the row of the record that it
// fills in.
type Slot struct {
	Run     *Shared
	Stage   *size.Stage
	Index   int
	Buffers []*arena.Buffer
	close   []func() error
	Row     record.Task
	held    map[int]chunkInMemory // levels of a pyramid, by their arrays
}

// Alloc takes buffers that live as long as the slot; nil for those that are none.
func (s *Slot) Alloc(declared ...size.Buffer) ([][]byte, error) {
	all := make([][]byte, len(declared))
	for i, d := range declared {
		b, err := d.Alloc(s.Run.Arena, int(s.Row.Stage))
		if err != nil {
			return nil, err
		}
		if b != nil {
			s.Buffers, all[i] = append(s.Buffers, b), b.Data
			s.Row.Requested[d.Class()] += d.Bytes()
			s.Row.Reserved[d.Class()] += b.Reserved()
		}
	}
	return all, nil
}

// NewSlot is a slot of a stage, without buffers.
func NewSlot(r *Shared, stage, index int) *Slot {
	s := &Slot{Run: r, Stage: &r.Plan.Stages[stage], Index: index}
	s.Row.Stage, s.Row.Slot, s.Row.Chunk = uint16(stage), uint16(index), -1
	return s
}

// AtEnd calls a function when the slot is freed.
func (s *Slot) AtEnd(f func() error) { s.close = append(s.close, f) }

// Free gives the buffers back.
func (s *Slot) Free() (err error) {
	for _, f := range s.close {
		err = errors.Join(err, f())
	}
	for _, b := range s.Buffers {
		b.Free()
	}
	return err
}

// Task does the task of an index, of the chunk at box, in a slot.
type Task func(ctx context.Context, index int, box grid.Box) error

// Pool is a stage's slots. The first error of a task stops all of them.
type Pool struct {
	run   *Shared
	index int // of the stage
	stage *size.Stage
	all   []prepared
	end   context.CancelCauseFunc // of the context of the last Run, in which writes may go on; nil before the first
}

// NewPool prepares the slots of a stage, sized as it is done; make prepares the tasks of
// one.
func NewPool(r *Shared, stage int, sized *size.Stage, make func(*Slot) (Task, error)) (*Pool, error) {
	p := &Pool{run: r, index: stage, stage: sized}
	for i := range p.stage.Slots {
		s := NewSlot(r, stage, i)
		s.Stage = sized
		w, err := make(s)
		p.all = append(p.all, prepared{s, w})
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		s.Row.Allocations = uint32(len(s.Buffers))
	}
	return p, nil
}

// giveWayAfter is how long the tasks of a stage that gives way compute as others do: a request of a service has ended by then.
const giveWayAfter = 100 * time.Millisecond

// Run lets each slot take the next task until there are none. Its context stays until Close,
// or the next Run, which comes after a Sync: sessions may write what they were given until
// then.
func (p *Pool) Run(ctx context.Context, tasks checkpoint.Tasks, done func(index int)) error {
	if partials := p.run.Partials; partials != nil {
		if err := partials.Begin(tasks); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.release()
	p.end = cancel
	next := &cursor{left: slices.Clone(tasks)}
	begun := time.Now()
	serve := func(w prepared) error {
		gave := !p.run.GivesWay
		for ctx.Err() == nil {
			if !gave && time.Since(begun) > giveWayAfter {
				machine.GiveWay()
				gave = true
			}
			index, ok := next.take()
			if !ok {
				return nil
			}
			c, box := ChunkOf(p.stage, index)
			w.slot.begin(c)
			if err := w.task(ctx, index, box); err != nil {
				return NewTaskError(ctx, p.stage, box, err)
			}
			w.slot.finish()
			done(index)
		}
		return nil
	}
	var group sync.WaitGroup
	for _, w := range p.all {
		group.Go(func() {
			err := ErrGoexit // stays where serve never returns
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
func (p *Pool) release() {
	if p.end != nil {
		p.end(nil)
	}
}

// Close frees the slots' buffers, after what their sessions still write.
func (p *Pool) Close() (err error) {
	defer p.release()
	for _, w := range p.all {
		if failed := w.slot.Free(); err == nil {
			err = failed
		}
	}
	return err
}

// cursor hands out the tasks of a set one by one, in order, to many goroutines.
type cursor struct {
	mu   sync.Mutex
	left checkpoint.Tasks
}

func (c *cursor) take() (index int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 {
		return 0, false
	}
	return c.left.Take(1).First, true
}

// ErrGoexit is the failure of a Go function that ends the goroutine it is called in.
var ErrGoexit = errors.New("the function called runtime.Goexit")

// prepared is a slot with what does its tasks.
type prepared struct {
	slot *Slot
	task Task
}

func (s *Slot) begin(chunk int) {
	s.Row.Chunk = int64(chunk)
	s.Row.Start = time.Since(s.Run.Start)
	s.Row.Reading, s.Row.Computing, s.Row.Writing = 0, 0, 0
	s.Row.Upload, s.Row.Download = 0, 0
	s.Row.Read, s.Row.Written, s.Row.Moved = 0, 0, 0
}

func (s *Slot) finish() {
	s.Row.Duration = time.Since(s.Run.Start) - s.Row.Start
	s.Run.Record(&s.Row)
	s.Row.Reuses, s.Row.Allocations = uint32(len(s.Buffers)), 0
}

// Write stores a box of an output that is not encoded.
func (s *Slot) Write(ctx context.Context, array int, src []byte, box grid.Box) error {
	return (&Sink{slot: s, array: array}).Write(ctx, src, box)
}

// Compute runs f with one of the run's workers.
func (s *Slot) Compute(ctx context.Context, f func() error) error {
	select {
	case s.Run.cpu <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.Run.cpu }()
	t := time.Now()
	err := f()
	s.Row.Computing += time.Since(t)
	return err
}

// NewTaskError says which chunk failed, except where the run was cancelled.
func NewTaskError(ctx context.Context, s *size.Stage, box grid.Box, err error) error {
	if Cancelled(ctx, err) {
		return context.Cause(ctx)
	}
	return &TaskError{Stage: s.Name, Chunk: box, Err: err}
}

// Cancelled reports an error that only says that ctx has ended.
func Cancelled(ctx context.Context, err error) bool {
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
