package slots

import (
	"context"
	"errors"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
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
	task    int                   // index of the task in flight
	reused  bool                  // the task has taken what an earlier run had folded
	digest  xxh3.Hasher           // of what it has written, where somebody observes it
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

// ErrGoexit is the failure of a Go function that ends the goroutine it is called in.
var ErrGoexit = errors.New("the function called runtime.Goexit")

func (s *Slot) begin(task, chunk int) {
	s.task, s.Row.Chunk = task, int64(chunk)
	s.Row.Start = time.Since(s.Run.Start)
	s.Row.Reading, s.Row.Computing, s.Row.Writing = 0, 0, 0
	s.Row.Upload, s.Row.Download = 0, 0
	s.Row.Read, s.Row.Written, s.Row.Moved = 0, 0, 0
	s.digest.Reset()
	s.reused = false
}

func (s *Slot) finish() {
	s.Row.Duration = time.Since(s.Run.Start) - s.Row.Start
	if s.reused {
		s.Run.Counts.Skipped.Add(1)
		return
	}
	if o := s.Run.Observer; o != nil {
		o.Wrote(int(s.Row.Stage), s.task, s.digest.Sum64())
	}
	s.Run.Record(&s.Row)
	s.Row.Reuses, s.Row.Allocations = uint32(len(s.Buffers)), 0
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
