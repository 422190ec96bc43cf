package exec

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/journal"
	"github.com/gonbext/gonbext/oocore/plan"
)

// partials takes the partial results of a stage's tasks.
type partials interface {
	// add takes the accumulators of a task's folds. They are the task's again when it
	// returns.
	add(ctx context.Context, s *slot, index int, states [][]byte) error
}

// merger makes a stage's results of partial ones, in the order of the tasks.
type merger struct {
	*folding
	index int   // of the stage
	slot  *slot // holds the buffers

	mu     sync.Mutex // of what follows
	moved  *sync.Cond // next has changed
	next   int        // the task to be merged next
	torn   bool       // a merge failed half-way: states have it and results may not
	states [][]byte   // merged so far
	out    [][]byte   // results, of a reduce stage
}

// newMerger allocates a stage's accumulators. A stage without partial results has none.
func newMerger(r *run, stage int) (_ *merger, err error) {
	s := &r.plan.Stages[stage]
	if !s.Merges() {
		return nil, nil
	}
	m := &merger{folding: newFolding(r, s), index: stage, slot: newSlot(r, stage, 0)}
	m.moved = sync.NewCond(&m.mu)
	d := &s.Buffers.Merge
	if m.states, err = m.slot.alloc(d.States...); err == nil {
		m.out, err = m.slot.alloc(d.Results...)
	}
	if err == nil {
		_, err = m.slot.alloc(d.Write.Heap)
	}
	if err != nil {
		return nil, errors.Join(err, m.free())
	}
	if s.Kind == plan.MapStage {
		for i, folder := range m.folders {
			folder.Init(m.states[i], 1)
		}
	}
	return m, nil
}

// free frees the accumulators; those of a nil merger are none.
func (m *merger) free() error {
	if m == nil {
		return nil
	}
	return m.slot.free()
}

// add merges a task's partial results when those of all tasks before are merged. A task
// that fails never lets the next one through; its error ends ctx, which wakes those that
// wait.
func (m *merger) add(ctx context.Context, s *slot, index int, states [][]byte) error {
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
func (m *merger) merge(ctx context.Context, s *slot, states [][]byte) error {
	n, part := 1, m.next%m.parts
	var result grid.Box
	if m.stage.Kind == plan.ReduceStage {
		_, chunk := m.chunk(m.next)
		result = m.result(chunk)
		n = result.Size()
	}
	m.torn = true
	for i, folder := range m.folders {
		if part == 0 && m.stage.Kind == plan.ReduceStage {
			folder.Init(m.states[i], n)
		}
		folder.Merge(m.states[i], states[i], n)
	}
	if part == m.parts-1 && m.stage.Kind == plan.ReduceStage {
		if err := m.finish(ctx, s, m.states, m.out, n, result); err != nil {
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
	kept := m.result(grid.Box{Start: m.stage.Grid.Shape, Shape: m.stage.Grid.Chunks})
	for _, box := range (grid.Grid{Shape: kept.Start, Chunks: kept.Shape}).All() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := box.Size()
		for i, folder := range m.folders {
			folder.Init(m.states[i], n)
		}
		if err := m.finish(ctx, m.slot, m.states, m.out, n, box); err != nil {
			return err
		}
	}
	return nil
}

// deliver puts the results of reductions beside a map stage where they are wanted.
func (m *merger) deliver(into [][]byte) {
	for i, folder := range m.folders {
		folder.Finish(into[i], m.states[i], 1, m.stage.Folds[i].Count, m.stage.Folds[i].DDof)
	}
}

// snapshotBytes is the most that a snapshot of a reduction may take. Larger ones are
// not taken: their stage starts over.
const snapshotBytes = 4 << 20

// snapshot copies the sums so far, and those results that are in memory.
func (m *merger) snapshot() func(*journal.Journal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parts := m.progress()
	n := len(m.stage.Outputs)
	for _, b := range parts {
		n += len(b)
	}
	if n > snapshotBytes || m.torn {
		return nil
	}
	all := append(make([]byte, 0, n), m.places()...)
	for _, b := range parts {
		all = append(all, b...)
	}
	next := int64(m.next)
	return func(j *journal.Journal) error { return j.Fold(m.index, next, all) }
}

// places has a byte for each result: 1 where it is in memory, and so in a snapshot.
func (m *merger) places() []byte {
	at := make([]byte, len(m.stage.Outputs))
	for i, a := range m.stage.Outputs {
		if m.run.arrays.arenaBuffer(a) != nil {
			at[i] = 1
		}
	}
	return at
}

// progress is all memory that says how far the reduction is.
func (m *merger) progress() [][]byte {
	parts := append([][]byte{}, m.states...)
	for _, a := range m.stage.Outputs {
		if b := m.run.arrays.arenaBuffer(a); b != nil {
			parts = append(parts, b)
		}
	}
	return parts
}

// restore goes on with the sums that an earlier run left, where that had its results
// in the same places.
func (m *merger) restore() error {
	left, ok := m.run.checkpoint.fold(m.index)
	if !ok {
		return nil
	}
	state, ok := bytes.CutPrefix(left.State, m.places())
	parts := m.progress()
	n := 0
	for _, b := range parts {
		n += len(b)
	}
	if !ok || len(state) != n {
		return m.run.checkpoint.forget(m.index)
	}
	for _, b := range parts {
		state = state[copy(b, state):]
	}
	m.next = int(left.Next)
	return nil
}
