package exec

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// A process leaves the partial results of a range of tasks in a file that only this range
// writes: a row of fixed size for each task. It is in its place when the range ends, so that
// the same tasks may run twice at once, and the last file has the same rows as the first. The
// process that coordinates merges the rows, in the order of tasks.

// partialsDir is the folder of a stage's partial results, in the staging folder.
func partialsDir(staging string, stage int) string {
	return filepath.Join(staging, fmt.Sprintf("partials-%d", stage))
}

// partialsFile is the file of the range that begins with a task, in its folder.
func partialsFile(dir string, first int) string { return filepath.Join(dir, strconv.Itoa(first)) }

// rowBytes is the size of a task's row.
func rowBytes(states []size.Buffer) (n int64) {
	for _, b := range states {
		n += b.Bytes()
	}
	return n
}

// rangeFile is the file of a range that is running.
type rangeFile struct {
	dir     string
	size    int64 // of a row
	durable bool  // when it is in its place
	first   int
	name    string      // until it is there
	file    disk.Handle // nil before begin
}

// Begin creates the file of tasks that follow each other.
func (f *rangeFile) Begin(tasks Tasks) (err error) {
	f.first = tasks[0].First
	f.name = filepath.Join(f.dir, "unfinished-"+rand.Text())
	f.file, err = disk.OpenFile(f.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return err
}

// Add writes a task's row.
func (f *rangeFile) Add(_ context.Context, _ *slots.Slot, index int, states [][]byte) error {
	at := int64(index-f.first) * f.size
	for _, state := range states {
		if _, err := f.file.WriteAt(state, at); err != nil {
			return err
		}
		at += int64(len(state))
	}
	return nil
}

// end puts the file in its place.
func (f *rangeFile) end() (err error) {
	if f.file == nil {
		return nil
	}
	if f.durable {
		err = f.file.Sync()
	}
	err = errors.Join(err, f.file.Close())
	f.file = nil
	if err == nil {
		err = disk.Rename(f.name, partialsFile(f.dir, f.first))
	}
	if err == nil && f.durable {
		err = disk.SyncDir(f.dir)
	}
	return err
}

// rangeMerger merges the rows that processes leave.
type rangeMerger struct {
	*merger
	dir     string
	kept    bool            // files stay until the run ends
	slot    *slots.Slot     // holds the states
	states  [][]byte        // of the present row
	size    int64           // of a row
	arrived map[int]arrival // by first task; those that are merged are gone
}

// arrival is tasks that are done, and the first of those that their file has.
type arrival struct {
	Range
	file int
}

// newRangeMerger makes a stage's folder, and allocates the buffers for a row.
func newRangeMerger(m *merger) (_ *rangeMerger, err error) {
	r := &rangeMerger{merger: m, slot: slots.NewSlot(m.Run, m.index, 0), size: rowBytes(m.Stage.Buffers.Row), arrived: map[int]arrival{}}
	if r.states, err = r.slot.Alloc(m.Stage.Buffers.Row...); err == nil {
		if err = m.of.arrays.makeSpill(); err == nil {
			r.dir = partialsDir(m.of.arrays.spill.Path, m.index)
			if r.kept = m.of.coordinator.detached; !r.kept {
				err = os.RemoveAll(r.dir)
			}
			err = errors.Join(err, os.MkdirAll(r.dir, 0o700))
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.slot.Free())
	}
	return r, nil
}

// free frees the buffers, and removes the folder. A detached run keeps it to its end: another process may
// have to merge again, until this one has noted the stage.
func (r *rangeMerger) free() error {
	err := r.slot.Free()
	if r.kept {
		return err
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

// take merges the rows of tasks that are done, as far as those of all tasks before are there;
// file is the first task of their file. One goroutine at a time calls it.
func (r *rangeMerger) take(ctx context.Context, file int, done Tasks) error {
	for _, tasks := range done {
		r.arrived[tasks.First] = arrival{tasks, file}
	}
	for {
		next, ok := r.arrived[r.next]
		if !ok {
			return nil
		}
		delete(r.arrived, r.next)
		if err := r.read(ctx, next); err != nil {
			return err
		}
	}
}

// read merges rows that are next, and removes their file.
func (r *rangeMerger) read(ctx context.Context, tasks arrival) error {
	path := partialsFile(r.dir, tasks.file)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for index := tasks.First; index < tasks.End; index++ {
		if err := checkpoint.ReadBuffers(file, int64(index-tasks.file)*r.size, r.states); err != nil {
			return fmt.Errorf("the partial results of task %d: %w", index, err)
		}
		if err := r.Add(ctx, r.slot, index, r.states); err != nil {
			return err
		}
	}
	if r.kept {
		return nil
	}
	return disk.Remove(path)
}
