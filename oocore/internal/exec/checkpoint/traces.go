package checkpoint

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Trace is what a task has read and written.
type Trace struct {
	Stage, Task int
	// Digest is that of the elements which it has written, in the order of Form.
	Digest uint64
	// Sum is their SHA-256, in the same order; nil where the receipt has none.
	Sum []byte
	// Form is how a task's box is written: cut into boxes of the first lengths, each of these into boxes of
	// the next, and so on.
	Form [][]int
	// Reads are the arrays that it has read, in order, of those that have units.
	Reads []Read
	// Folded are the accumulators of a task that folds; nil where they are not kept.
	Folded []byte
}

// Read is the units of a stored array, the objects that its chunks lie in, by their numbers.
type Read struct {
	Array int
	Units Tasks
}

// traces gathers what tasks read and write, until it is noted.
type traces struct {
	units map[int]grid.Grid // of the arrays that are followed
	folds bool              // accumulators are kept
	holes map[int]Tasks     // units of temporary arrays that are not made
	note  func([]Trace) error
	mu    sync.Mutex
	of    map[taskOf]*trace
	whole []taskOf // tasks that have written since some were noted
	err   error    // of noting them
}

// mostGathered is how many tasks are followed in memory: a plan can have millions.
const mostGathered = 4096

type taskOf struct{ stage, task int }

type trace struct {
	digest uint64
	reads  map[int]*Tasks // units by array
	folded []byte
}

// Follow has the journal note what tasks read of arrays with units, and a digest of what they write: a later run
// computes again where some of what was read has changed. forms are how the tasks of each stage write. With
// folds the accumulators of tasks are kept too, in memory until they are noted: they have to be few.
func (c *Checkpoint) Follow(units map[int]grid.Grid, forms [][][]int, folds bool) error {
	c.traces = &traces{units: units, folds: folds, note: c.journal.traces, of: map[taskOf]*trace{}}
	c.forms = forms
	for stage, form := range forms {
		if err := c.journal.form(stage, form); err != nil {
			return err
		}
	}
	return nil
}

// Observer is told what tasks read and write.
type Observer interface {
	Read(stage, task, array int, region grid.Region) error
	Wrote(stage, task int, digest uint64)
	Folded(stage, task int, states [][]byte)
}

// Observer takes in what tasks read and write; nil where nobody asks.
func (c *Checkpoint) Observer() Observer {
	if c.traces == nil {
		return nil
	}
	return c.traces
}

// ErrLeftOut is that a task reads a part of a temporary array that LeaveOut has left out, since elements which have changed lead
// it there: all has to be computed.
var ErrLeftOut = errors.New("a part of a temporary array is read that was left out")

func (r *traces) Read(stage, task, array int, region grid.Region) error {
	g, ok := r.units[array]
	if !ok || slices.Contains(region.Count, 0) {
		return nil
	}
	if holes := r.holes[array]; len(holes) > 0 && holes.Meets(Chunks(g, region)) {
		return ErrLeftOut
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.at(stage, task)
	if t.reads[array] == nil {
		t.reads[array] = new(Tasks)
	}
	addChunks(t.reads[array], g, region)
	return nil
}

func (r *traces) Wrote(stage, task int, digest uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at(stage, task).digest = digest
	if r.whole = append(r.whole, taskOf{stage, task}); len(r.whole) < mostGathered {
		return
	}
	all := make([]Trace, 0, len(r.whole))
	for _, of := range r.whole {
		if t := r.of[of]; t != nil {
			all = append(all, t.trace(of))
			delete(r.of, of)
		}
	}
	r.whole, r.err = r.whole[:0], errors.Join(r.err, r.note(all))
}

func (r *traces) Folded(stage, task int, states [][]byte) {
	if !r.folds {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at(stage, task).folded = slices.Concat(states...)
}

func (r *traces) at(stage, task int) *trace {
	t := r.of[taskOf{stage, task}]
	if t == nil {
		t = &trace{reads: map[int]*Tasks{}}
		r.of[taskOf{stage, task}] = t
	}
	return t
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
func (r *traces) take(stage int, done Tasks) (all []Trace) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for of, t := range r.of {
		if done != nil && (of.stage != stage || !done.Has(of.task)) {
			continue
		}
		all = append(all, t.trace(of))
		delete(r.of, of)
	}
	return all
}

func (t *trace) trace(of taskOf) Trace {
	one := Trace{Stage: of.stage, Task: of.task, Digest: t.digest, Folded: t.folded}
	for _, a := range slices.Sorted(maps.Keys(t.reads)) {
		one.Reads = append(one.Reads, Read{a, *t.reads[a]})
	}
	return one
}

// flushBytes is how much of traces is written at once.
const flushBytes = 256 << 10

// noteTraces notes traces. They are durable with the next sync.
func (c *Checkpoint) noteTraces(all []Trace) error {
	if c.traces != nil {
		if err := c.traces.failed(); err != nil {
			return err
		}
	}
	return c.journal.traces(all)
}

func (r *traces) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// traces notes traces, also while others note tasks.
func (j *journal) traces(all []Trace) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range all {
		if err := j.trace(&all[i]); err != nil {
			return err
		}
	}
	return j.flush()
}

// Traces writes those of all tasks, for EachTrace.
func (c *Checkpoint) Traces(to io.Writer) error {
	if err := c.noteTraces(c.traces.take(0, nil)); err != nil {
		return err
	}
	b := bufio.NewReaderSize(io.NewSectionReader(c.journal.file, 0, c.journal.end), maxHeader)
	if _, err := b.ReadSlice('\n'); err != nil {
		return err
	}
	w := bufio.NewWriter(to)
	var entry []byte
	_, err := eachEntry(b, func(payload []byte) bool {
		if payload[0] != formKind && payload[0] != traceKind && payload[0] != sumKind {
			return true
		}
		entry = appendEntry(entry[:0], payload)
		_, err := w.Write(entry)
		return err == nil // Flush says it again
	})
	return errors.Join(err, w.Flush())
}

// EachTrace reads what Traces wrote, as far as it is whole, until each returns false. Of a task with several the last
// holds.
func EachTrace(from io.Reader, each func(Trace) bool) error {
	forms := map[int][][]int{}
	_, err := eachEntry(bufio.NewReader(from), func(payload []byte) bool {
		if payload[0] == formKind {
			stage, form, ok := parseForm(payload)
			forms[stage] = form
			return ok
		}
		t, ok := parseTrace(payload)
		t.Form = forms[t.Stage]
		return ok && each(t)
	})
	return err
}

// Adopt begins with tasks of a stage that an earlier run of another fingerprint has done, whose results are
// in the staging folder, and with their traces. The run resumes from there.
func (c *Checkpoint) Adopt(stage int, done Tasks, earlier func(each func(Trace) bool) error) error {
	err := c.Recall(stage, earlier)
	if err == nil {
		err = c.note(stage, done, nil)
	}
	if c.resumes = err == nil; c.resumes {
		c.Reason = ""
	}
	return err
}

// Recall notes the traces of tasks of a stage that an earlier run has done.
func (c *Checkpoint) Recall(stage int, earlier func(each func(Trace) bool) error) error {
	now, form := c.forms[stage], c.forms[stage]
	failed := error(nil)
	note := func(as [][]int) {
		if !slices.EqualFunc(as, form, slices.Equal) {
			form, failed = as, c.journal.form(stage, as)
		}
	}
	err := earlier(func(t Trace) bool {
		if note(t.Form); failed == nil {
			failed = c.journal.trace(&t)
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		note(now)
		err = failed
	}
	return errors.Join(err, c.journal.flush())
}

// LeaveOut has the run leave out tasks of a stage, which make parts of its results that no other task reads. What the stage makes is
// not kept for a run that resumes.
func (c *Checkpoint) LeaveOut(stage int, tasks, made Tasks) {
	if c.leftOut == nil {
		c.leftOut, c.traces.holes = map[int]Tasks{}, map[int]Tasks{}
	}
	c.leftOut[stage] = tasks
	for _, a := range c.plan.Stages[stage].Outputs {
		c.traces.holes[a] = made
	}
}

// LeftOut are the tasks of a stage that the run leaves out.
func (c *Checkpoint) LeftOut(stage int) Tasks { return c.leftOut[stage] }

// form notes how the tasks of a stage write whose traces follow.
func (j *journal) form(stage int, form [][]int) error {
	j.begin(formKind, stage)
	for _, lengths := range form {
		j.number(len(lengths))
		for _, n := range lengths {
			j.number(n)
		}
	}
	j.gather()
	return nil
}

// trace notes that of a task: of what has read too much for an entry, all from the first unit to the last.
func (j *journal) trace(t *Trace) error {
	kind := traceKind
	if len(t.Sum) == sha256.Size {
		kind = sumKind
	}
	write := func(units func(Tasks) Tasks) {
		j.begin(kind, t.Stage)
		j.number(t.Task)
		j.buf = binary.LittleEndian.AppendUint64(j.buf, t.Digest)
		j.buf = append(j.buf, t.Sum...)
		j.number(len(t.Reads))
		for _, r := range t.Reads {
			r.Units = units(r.Units)
			j.number(r.Array)
			j.number(len(r.Units))
			j.ranges(r.Units)
		}
		j.buf = append(j.buf, t.Folded...)
	}
	if write(func(u Tasks) Tasks { return u }); len(j.buf) > maxEntry {
		write(func(u Tasks) Tasks { return Tasks{{u[0].First, u[len(u)-1].End}} })
	}
	if j.gather(); len(j.more) < flushBytes || j.file == nil {
		return nil
	}
	return j.flush()
}

// WriteTrace writes that of a task, with its form, for EachTrace.
func WriteTrace(w io.Writer, t *Trace) error {
	var j journal
	if err := errors.Join(j.form(t.Stage, t.Form), j.trace(t)); err != nil {
		return err
	}
	_, err := w.Write(j.more)
	return err
}

func parseForm(payload []byte) (stage int, form [][]int, ok bool) {
	e := entry{rest: payload[1:]}
	stage = e.next()
	for len(e.rest) > 0 {
		lengths := make([]int, min(e.next(), grid.MaxDims))
		for d := range lengths {
			if lengths[d] = e.next(); lengths[d] == 0 {
				return stage, nil, false
			}
		}
		form = append(form, lengths)
	}
	return stage, form, !e.bad
}

func parseTrace(payload []byte) (t Trace, ok bool) {
	e := entry{rest: payload[1:]}
	t.Stage, t.Task = e.next(), e.next()
	long := 8
	if payload[0] == sumKind {
		long += sha256.Size
	}
	if payload[0] != traceKind && payload[0] != sumKind || e.bad || len(e.rest) < long {
		return t, false
	}
	t.Digest, t.Sum, e.rest = binary.LittleEndian.Uint64(e.rest), append(t.Sum, e.rest[8:long]...), e.rest[long:]
	for n := e.next(); n > 0 && !e.bad; n-- {
		r := Read{Array: e.next()}
		r.Units = e.tasks(e.next())
		t.Reads = append(t.Reads, r)
	}
	t.Folded = append(t.Folded, e.rest...)
	return t, !e.bad
}
