// Package slots runs tasks of map and reduce stages in slots: goroutines with buffers of their own, which read tiles,
// compute them and write what they make.
package slots

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Shared is what the slots of a run have in common.
type Shared struct {
	Plan       *size.Plan
	Arena      *arena.Arena
	Readers    []store.Array // of each array of the plan, while it is open
	Writers    []store.Writer
	Start      time.Time
	cpu        chan struct{} // a token for each task that may compute at once
	Counts     Counts
	note       func(*record.Task)  // takes the row of a task that is done
	GivesWay   bool                // long stages leave processors to the other work of the process first
	Partials   Partials            // of the present stage; nil where it merges none
	Earlier    map[int][]byte      // what tasks of the first stage have folded in an earlier run, whose input is as it was; nil for none
	Observer   checkpoint.Observer // nil for nobody
	Unfinished Resumable           // tasks of the present stage, set as its slots are opened; nil where none can resume
}

// NewShared begins a run, of which note takes the rows.
func NewShared(p *size.Plan, note func(*record.Task)) *Shared {
	n := len(p.Arrays)
	return &Shared{Plan: p, note: note, Arena: arena.New(p.Arena), Start: time.Now(), cpu: make(chan struct{}, p.Workers), Readers: make([]store.Array, n), Writers: make([]store.Writer, n)}
}

// Counts are the totals of a run, for progress and for its end.
type Counts struct {
	Tasks, Skipped, Read, Written, OOM atomic.Int64
}

// Record notes a task that is done.
func (r *Shared) Record(row *record.Task) {
	r.Counts.Tasks.Add(1)
	r.note(row)
}

// stored reports an array whose traffic counts as reading and writing.
func (r *Shared) stored(i int) bool {
	switch r.Plan.Place(i) {
	case plan.InFile, size.InSpill, plan.InResult:
		return true
	}
	return false
}

// Resumable has the accumulators of tasks that can resume from a snapshot.
type Resumable interface {
	checkpoint.Accumulators
	// restore takes what a snapshot has of tasks, before the first of them begins. It may read from
	// until the stage ends.
	Restore(meta []byte, from io.ReaderAt, tasks checkpoint.Tasks)
}

// Partials takes the partial results of a stage's tasks: it merges them, or writes them to a
// file for another process that does.
type Partials interface {
	// begin is told which tasks are to be run. It returns an error where what they make could
	// not be merged in the order of tasks.
	Begin(tasks checkpoint.Tasks) error
	// add takes the accumulators of a task's folds. They are the task's again when it
	// returns.
	Add(ctx context.Context, s *Slot, index int, states [][]byte) error
}

// chunkInMemory is the chunk of a level that the next is made of.
type chunkInMemory struct {
	box  grid.Box
	data []byte
	size int
}

// read fills dst with a region of the array, which is in the chunk.
func (c chunkInMemory) read(dst []byte, region grid.Region) error {
	for d, n := range region.Count {
		from := region.Start[d] - c.box.Start[d]
		if n == 0 || region.Step[d] != 1 || from < 0 || from+n > c.box.Shape[d] {
			return fmt.Errorf("a level is made of more than its chunk %s of the one before", c.box)
		}
	}
	part := grid.Box{Start: region.Start, Shape: region.Count}
	strided.Copy(c.size, part, dst, part, c.data, c.box)
	return nil
}
