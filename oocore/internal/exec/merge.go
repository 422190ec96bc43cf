package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// merger makes a stage's results of partial ones, in the order of the tasks.
type merger struct {
	*slots.Folding
	of    *run
	index int         // of the stage
	slot  *slots.Slot // holds the buffers

	mu     sync.Mutex // of what follows
	moved  *sync.Cond // next has changed
	next   int        // the task to be merged next
	torn   bool       // a merge failed half-way: states have it and results may not
	states [][]byte   // merged so far
	out    [][]byte   // results, of a reduce stage
}

// newMerger allocates a stage's accumulators. A stage without partial results has none.
func newMerger(r *run, stage int) (_ *merger, err error) {
	s := &r.Plan.Stages[stage]
	if !s.Merges() {
		return nil, nil
	}
	m := &merger{Folding: slots.NewFolding(r.Shared, s), of: r, index: stage, slot: slots.NewSlot(r.Shared, stage, 0)}
	m.moved = sync.NewCond(&m.mu)
	d := &s.Buffers.Merge
	if m.states, err = m.slot.Alloc(d.States...); err == nil {
		m.out, err = m.slot.Alloc(d.Results...)
	}
	if err == nil {
		_, err = m.slot.Alloc(d.Write.Heap)
	}
	if err != nil {
		return nil, errors.Join(err, m.free())
	}
	m.clear()
	return m, nil
}

// clear empties the accumulators of a map stage. Those of a reduce stage are emptied by the first
// task of each result.
func (m *merger) clear() {
	if m.Stage.Kind == plan.MapStage {
		for i, folder := range m.Folders {
			folder.Init(m.states[i], 1)
		}
	}
}

// free frees the accumulators.
func (m *merger) free() error { return m.slot.Free() }

// Begin returns an error unless the tasks are the next ones, without a gap: of those that run at
// once, each waits for the one before.
func (m *merger) Begin(tasks Tasks) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(tasks) > 1 || len(tasks) == 1 && tasks[0].First != m.next {
		return fmt.Errorf("%s merges the results of its tasks in order: %d are merged, and the executor runs %s now: this is a fault of the executor",
			m.Stage.Name, m.next, tasks[len(tasks)-1])
	}
	return nil
}

// complete returns an error where the results of some task were never merged.
func (m *merger) complete() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.Stage.Tasks(); m.next != n {
		return fmt.Errorf("%s: the executor has reported all of %d tasks, and the results of %d: this is a fault of the executor", m.Stage.Name, n, m.next)
	}
	return nil
}

// Add merges a task's partial results when those of all tasks before are merged. A task
// that fails never lets the next one through; its error ends ctx, which wakes those that
// wait.
func (m *merger) Add(ctx context.Context, s *slots.Slot, index int, states [][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next != index {
		defer context.AfterFunc(ctx, func() {
			m.mu.Lock() // not between a waiter's look at ctx and its Wait
			defer m.mu.Unlock()
			m.moved.Broadcast()
		})()
		for m.next != index && ctx.Err() == nil {
			m.moved.Wait()
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return m.merge(ctx, s, states)
}

// merge adds the partial results of the next task, and writes what they make whole.
func (m *merger) merge(ctx context.Context, s *slots.Slot, states [][]byte) error {
	n, part := 1, m.next%m.Parts
	var result grid.Box
	if m.Stage.Kind == plan.ReduceStage {
		_, chunk := slots.ChunkOf(m.Stage, m.next)
		result = slots.ResultOf(m.Stage, chunk)
		n = result.Size()
	}
	m.torn = true
	for i, folder := range m.Folders {
		if part == 0 && m.Stage.Kind == plan.ReduceStage {
			folder.Init(m.states[i], n)
		}
		folder.Merge(m.states[i], states[i], n)
	}
	if part == m.Parts-1 && m.Stage.Kind == plan.ReduceStage {
		if err := m.Finish(ctx, s, m.states, m.out, n, result); err != nil {
			return err
		}
	}
	m.next, m.torn = m.next+1, false
	m.moved.Broadcast()
	return nil
}

// empty writes the results of folding nothing, such as sums of an axis of length
// zero: chunk by chunk of the kept axes, since there are no tasks.
func (m *merger) empty(ctx context.Context) error {
	kept := slots.ResultOf(m.Stage, grid.Box{Start: m.Stage.Grid.Shape, Shape: m.Stage.Grid.Chunks})
	for _, box := range (grid.Grid{Shape: kept.Start, Chunks: kept.Shape}).All() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := box.Size()
		for i, folder := range m.Folders {
			folder.Init(m.states[i], n)
		}
		if err := m.Finish(ctx, m.slot, m.states, m.out, n, box); err != nil {
			return err
		}
	}
	return nil
}

// deliver copies the results of a map stage's side reductions into the caller's buffers.
func (m *merger) deliver(into [][]byte) {
	for i, folder := range m.Folders {
		folder.Finish(into[i], m.states[i], 1, m.Stage.Folds[i].Count, m.Stage.Folds[i].DDof)
	}
}

// SnapshotBytes returns the size of the accumulators.
func (m *merger) SnapshotBytes() int64 { return checkpoint.Length(m.states) }

// Snapshot writes the accumulators. The results that they have made are in the arrays.
func (m *merger) Snapshot(w *checkpoint.SnapshotWriter) (meta []byte, merged int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.torn {
		return nil, 0, nil
	}
	for _, state := range m.states {
		if _, err := w.Write(state); err != nil {
			return nil, 0, err
		}
	}
	return []byte{}, m.next, nil
}

// restore resumes the accumulators that an earlier run left after its first tasks.
func (m *merger) restore(from io.ReaderAt) error {
	if err := checkpoint.ReadBuffers(from, 0, m.states); err != nil {
		m.clear()
		return err
	}
	m.next = m.of.checkpoint.Done(m.index).Len()
	return nil
}
