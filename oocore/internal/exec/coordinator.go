package exec

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// Coordinator is a run as its executor sees it. An executor of other processes gives each of
// them the plan's file, and the coordinator what they report.
type Coordinator struct {
	run  *run
	file string // of the plan; "" before the executor has asked for it

	detached bool  // tasks may outlive this process
	given    Tasks // of the present stage

	mu     sync.Mutex // of what follows
	memory map[int]record.Sample
	peak   map[int]record.Bytes

	taking sync.Mutex // held while a report is taken
}

// Detach says that tasks may outlive this process: what they have written stays for a run that
// resumes this one, and the plan's file with it. An executor calls it in Open.
func (c *Coordinator) Detach() { c.detached = true }

// Began says when the first of the runs was begun of which this one is the last: times in its
// record count from there. An executor calls it in Open.
func (c *Coordinator) Began(at time.Time) { c.run.Start = at }

// Replay adds to the record what a process reports of tasks that an earlier run has taken.
func (c *Coordinator) Replay(stage, process int, begun time.Time, report Report) {
	c.NoteMemory(process, report)
	c.note(stage, process, begun, report)
	c.run.Counts.Skipped.Add(-int64(report.Done.Len()))
}

// note adds a report's rows to the record.
func (c *Coordinator) note(stage, process int, begun time.Time, report Report) {
	r := c.run
	for row := range report.Rows.All() {
		row.Stage = uint16(stage)
		row.Slot += uint16(process * r.Plan.Stages[stage].Slots * r.Plan.Each.Workers / r.Plan.Workers)
		row.Start += begun.Sub(r.Start)
		row.Retries += uint8(min(report.Retries, 255))
		report.Retries = 0
		r.Counts.Read.Add(row.Read)
		r.Counts.Written.Add(row.Written)
		r.Record(row)
	}
}

// Lost reports whether something that tasks of the present stage have written for an earlier run is not
// there any more: what they have reported is void.
func (c *Coordinator) Lost() bool { return c.run.arrays.lost }

// Plan is the plan that is run.
func (c *Coordinator) Plan() *size.Plan { return c.run.Plan }

// PlanFile writes the plan for other processes, and returns the file's path. Its folder has,
// or names, all that they write.
func (c *Coordinator) PlanFile() (string, error) {
	if c.file != "" {
		return c.file, nil
	}
	encoded, err := c.run.Plan.Encode()
	if err == nil {
		err = c.run.arrays.makeSpill()
	}
	if err != nil {
		return "", err
	}
	c.file = c.run.arrays.spill.Join(planFile)
	return c.file, writePlan(c.file, encoded)
}

// Files are the paths that a stage's tasks read and write, for whoever runs them on another
// machine.
type Files struct{ Reads, Writes []string }

// Files returns those of a stage. What tasks leave for other tasks lies in the folder of the
// plan's file.
func (c *Coordinator) Files(stage int) Files {
	p, dir := c.run.Plan, filepath.Dir(c.file)
	path := func(i int) string {
		if p.Place(i) == size.InSpill {
			return filepath.Join(dir, checkpoint.ArrayFile(i))
		}
		return p.Arrays[i].Path
	}
	var f Files
	for l := range p.Stages[stage].Arrays() {
		if at := path(l.Array); at != "" && !slices.Contains(f.Reads, at) { // "" is data of the plan
			f.Reads = append(f.Reads, at)
		}
	}
	for _, i := range p.Stages[stage].Outputs {
		f.Writes = append(f.Writes, path(i))
	}
	if p.Stages[stage].Merges() {
		f.Writes = append(f.Writes, partialsDir(dir, stage))
	}
	return f
}

// close removes the plan's file, if there is one.
func (c *Coordinator) close() error {
	if c.file == "" || c.detached {
		return nil
	}
	return disk.Remove(c.file)
}

// Take takes what a process reports of tasks that it was given at a time: it adds the rows to
// the record, merges the partial results, and calls done for each task that is done. An error
// of a task is returned, and so is a report that does not have all tasks. Tasks that an earlier
// run has taken are ignored.
func (c *Coordinator) Take(ctx context.Context, stage, process int, begun time.Time, tasks Range, report Report, done func(index int)) error {
	c.taking.Lock()
	defer c.taking.Unlock()
	r := c.run
	s := &r.Plan.Stages[stage]
	c.NoteMemory(process, report)
	if err := report.Rows.Check(); err != nil {
		return fmt.Errorf("a worker process answers what is no record: %w", err)
	}
	c.note(stage, process, begun, report)
	wanted := report.Done.Without(report.Done.Without(c.given))
	if r.ranges != nil {
		if err := r.ranges.take(context.WithoutCancel(ctx), tasks.First, wanted); err != nil {
			return err
		}
	}
	for index := range wanted.All() {
		done(index)
	}
	switch {
	case report.Error != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case report.Error != nil:
		return report.Error.err
	case report.Done.Len() != tasks.Len():
		return fmt.Errorf("a worker process has done %d of %s of %s, and says nothing of the others", report.Done.Len(), tasks, s.Name)
	}
	return nil
}

// NoteMemory notes what memory a process has, for samples of the run. A process that ended
// has none: its report is empty.
func (c *Coordinator) NoteMemory(process int, report Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory[process] = report.Memory
	if report.Peak.Host() > c.peak[process].Host() {
		c.peak[process] = report.Peak
	}
}

// sample adds the processes' memory to that of the coordinator.
func (c *Coordinator) sample(s *record.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := range maps.Values(c.memory) {
		addBytes(&s.Arena, m.Arena)
		s.Anonymous += m.Anonymous
		s.Mapped += m.Mapped
		s.GoHeap += m.GoHeap
		s.GoRuntime += m.GoRuntime
	}
}

// addPeaks adds the most that each process has reserved to that of the coordinator.
func (c *Coordinator) addPeaks(e *record.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range maps.Values(c.peak) {
		e.Peak += b.Host()
		addBytes(&e.PeakBy, b)
	}
}

func addBytes(sum *record.Bytes, b record.Bytes) {
	for class := range sum {
		sum[class] += b[class]
	}
}

// ledger holds an executor to its contract: each task of a stage is reported once.
type ledger struct {
	stage string
	given Tasks
	take  func(index int)
	fail  func(error) // ends the run

	mu     sync.Mutex
	seen   Tasks
	closed bool
}

// done takes the report of a task.
func (l *ledger) done(index int) {
	l.mu.Lock()
	var fault string
	switch {
	case l.closed:
		fault = "after its runner was closed"
	case !l.given.Has(index):
		fault = "which it was not given"
	case l.seen.Has(index):
		fault = "twice"
	}
	if fault == "" {
		l.seen.Add(index, 1)
	}
	l.mu.Unlock()
	if fault != "" {
		l.fail(fmt.Errorf("%s: the executor reports task %d %s: this is a fault of the executor", l.stage, index, fault))
		return
	}
	l.take(index)
}

// close ends the reports. It returns an error where a task is missing.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.seen.Len() == l.given.Len() {
		return nil
	}
	missing := l.given.Without(l.seen)
	return fmt.Errorf("%s: the executor ends and has not reported %s: this is a fault of the executor", l.stage, missing[0])
}
