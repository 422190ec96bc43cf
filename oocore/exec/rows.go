package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/plan"
)

// rowFile has a row of fixed size for each task of a stage: its partial results, as
// worker processes leave them for the coordinator.
type rowFile struct {
	path string
	file disk.Handle
	size int64 // of a row
}

// openRows opens a stage's file, of rows with the given states, in the staging folder;
// create makes it anew.
func openRows(r *run, stage int, states []plan.Buffer, create bool) (*rowFile, error) {
	f := &rowFile{path: r.arrays.spill.Join(fmt.Sprintf("partials-%d", stage))}
	for _, b := range states {
		f.size += b.Bytes()
	}
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE | os.O_TRUNC
	}
	file, err := disk.OpenFile(f.path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	f.file = file
	return f, nil
}

// add writes a task's row.
func (f *rowFile) add(_ context.Context, _ *slot, index int, states [][]byte) error {
	at := int64(index) * f.size
	for _, state := range states {
		if _, err := f.file.WriteAt(state, at); err != nil {
			return err
		}
		at += int64(len(state))
	}
	return nil
}

// read fills accumulators from a task's row.
func (f *rowFile) read(index int, states [][]byte) error {
	if err := readAll(f.file, int64(index)*f.size, states); err != nil {
		return fmt.Errorf("the partial results of task %d: %w", index, err)
	}
	return nil
}

// readAll fills buffers, one after the other, from an offset of a file on.
func readAll(from io.ReaderAt, at int64, into [][]byte) error {
	for _, b := range into {
		if _, err := from.ReadAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}

// length returns the number of bytes of all buffers.
func length(all [][]byte) (n int64) {
	for _, b := range all {
		n += int64(len(b))
	}
	return n
}

// rowMerger merges the rows that worker processes leave, in the order of the tasks.
type rowMerger struct {
	*merger
	rows    *rowFile
	slot    *slot    // holds the states
	states  [][]byte // of the present row
	arrived Tasks    // tasks whose rows are there
}

// newRowMerger makes a stage's file and the buffers for one of its rows.
func newRowMerger(m *merger) (_ *rowMerger, err error) {
	r := &rowMerger{merger: m, slot: newSlot(m.run, m.index, 0)}
	declared := m.stage.Buffers.Row
	if r.states, err = r.slot.alloc(declared...); err == nil {
		r.rows, err = openRows(m.run, m.index, declared, true)
	}
	if err != nil {
		return nil, errors.Join(err, r.slot.free())
	}
	return r, nil
}

// take merges the rows of tasks that are done, as far as those of all tasks before are
// there. One goroutine at a time calls it.
func (r *rowMerger) take(ctx context.Context, done Tasks) error {
	for index := range done.All() {
		r.arrived.Add(index, 1)
	}
	for r.arrived.Has(r.next) {
		if err := r.rows.read(r.next, r.states); err != nil {
			return err
		}
		if err := r.add(ctx, r.slot, r.next, r.states); err != nil {
			return err
		}
	}
	return nil
}

// close removes the file.
func (r *rowMerger) close() error {
	return errors.Join(r.slot.free(), r.rows.file.Close(), disk.Remove(r.rows.path))
}
