package checkpoint

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Read is what a task has read of a stored array: the numbers of units, which are the objects that its
// chunks lie in.
type Read struct {
	Stage, Task, Array int
	Units              Tasks
}

// reads gathers what tasks read, until it is noted.
type reads struct {
	units map[int]grid.Grid // of the arrays that are followed
	mu    sync.Mutex
	of    map[taskOf]map[int]*Tasks // units by array
}

type taskOf struct{ stage, task int }

// Follow has the journal note what tasks read of arrays with units: what a later run computes
// again where some of them have changed.
func (c *Checkpoint) Follow(units map[int]grid.Grid) {
	c.reads = &reads{units: units, of: map[taskOf]map[int]*Tasks{}}
}

// Observer takes in that a task reads a region of an array; nil where nothing is followed.
func (c *Checkpoint) Observer() func(stage, task, array int, region grid.Region) {
	if c.reads == nil {
		return nil
	}
	return c.reads.add
}

func (r *reads) add(stage, task, array int, region grid.Region) {
	g, ok := r.units[array]
	if !ok || slices.Contains(region.Count, 0) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	arrays := r.of[taskOf{stage, task}]
	if arrays == nil {
		arrays = map[int]*Tasks{}
		r.of[taskOf{stage, task}] = arrays
	}
	if arrays[array] == nil {
		arrays[array] = new(Tasks)
	}
	addChunks(arrays[array], g, region)
}

// Chunks are the numbers of the chunks of a grid that a region lies in; of one with steps, those between too.
func Chunks(g grid.Grid, region grid.Region) (all Tasks) {
	addChunks(&all, g, region)
	return all
}

func addChunks(to *Tasks, g grid.Grid, region grid.Region) {
	first, count := make([]int, len(g.Shape)), make([]int, len(g.Shape))
	for d := range first {
		from, last := region.Start[d], region.Start[d]+(region.Count[d]-1)*region.Step[d]
		from, last = min(from, last)/g.Chunks[d], max(from, last)/g.Chunks[d]
		first[d], count[d] = from, last-from+1
	}
	addRuns(to, g, first, count, 0, 0)
}

func addRuns(to *Tasks, g grid.Grid, first, count []int, d, at int) {
	if d >= len(first)-1 {
		n := 1
		if d < len(first) {
			at, n = at*g.Count(d)+first[d], count[d]
		}
		to.Add(at, n)
		return
	}
	for i := range count[d] {
		addRuns(to, g, first, count, d+1, at*g.Count(d)+first[d]+i)
	}
}

// take returns what is gathered of tasks that are done, and forgets it; of a nil done, of all tasks.
func (r *reads) take(stage int, done Tasks) (all []Read) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for t, arrays := range r.of {
		if done != nil && (t.stage != stage || !done.Has(t.task)) {
			continue
		}
		for a, units := range arrays {
			all = append(all, Read{t.stage, t.task, a, *units})
		}
		delete(r.of, t)
	}
	return all
}

// noteReads notes what was read. It is durable with the next sync.
func (c *Checkpoint) noteReads(all []Read) error {
	for i := range all {
		if err := c.journal.read(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Reads writes what all tasks have read, for EachRead.
func (c *Checkpoint) Reads(to io.Writer) error {
	if err := c.noteReads(c.reads.take(0, nil)); err != nil {
		return err
	}
	b := bufio.NewReader(io.NewSectionReader(c.journal.file, 0, c.journal.end))
	if _, err := b.ReadSlice('\n'); err != nil {
		return err
	}
	w := bufio.NewWriter(to)
	_, err := eachEntry(b, func(payload []byte) bool {
		return payload[0] != readKind || writeEntry(w, payload) == nil
	})
	return errors.Join(err, w.Flush())
}

// EachRead reads what Reads wrote, as far as it is whole, until each returns false.
func EachRead(from io.Reader, each func(Read) bool) error {
	_, err := eachEntry(bufio.NewReader(from), func(payload []byte) bool {
		r, ok := parseRead(payload)
		return ok && each(r)
	})
	return err
}

// Adopt begins with tasks of a stage that an earlier run of another fingerprint has done, whose results are
// in the staging folder, and with what they have read. The run resumes from there.
func (c *Checkpoint) Adopt(stage int, done Tasks, read io.Reader) error {
	failed := error(nil)
	err := EachRead(read, func(r Read) bool {
		if r.Stage == stage && done.Has(r.Task) {
			failed = c.journal.read(&r)
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		err = c.note(stage, done, nil)
	}
	if c.resumes = err == nil; c.resumes {
		c.Reason = ""
	}
	return err
}
