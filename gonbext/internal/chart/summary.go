package chart

import (
	"math"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// How many marks a report's figures have at most, over all the runs drawn.
const (
	maxPoints = 160  // of a timeline
	maxCells  = 1600 // of the heat maps
	maxGrids  = 4    // heat maps of one run
	maxSlots  = 4096 // slots told apart
)

// summary is a run boiled down, in one walk over its rows, to what is drawn.
// Its size does not depend on the number of rows.
type summary struct {
	run    *record.Run
	h      *record.Header
	status record.Status
	stages []*stageSummary

	sums
	retries       int64
	halved, onCPU int64         // tasks that a device did in smaller tiles, or left to the CPU, for want of memory
	last          time.Duration // the latest moment that a row speaks of
	offset        time.Duration // of its start, in its report
	lastTask      record.Task

	timeline  []record.Sample
	perPoint  int           // samples behind one point of the timeline
	largest   record.Sample // with the most private memory of the process
	peak      int64         // of the arena, host classes; sampled where there is no End
	device    int64         // peak of the device's memory
	hasSample bool
	lanes     lanes // of the device
	workers   lanes // of worker processes
	lines     []line
	bands     []band // of the tasks
	perBand   int64  // tasks in one, at most
	bandsLeft int64  // tasks in none
	inSlot    map[[2]uint16]int
}

// sums are what tasks did together.
type sums struct{ done, read, written, moved int64 }

func (s *sums) add(t *record.Task) {
	s.done++
	s.read += t.Read
	s.written += t.Written
	s.moved += t.Moved
}

// stageSummary is what the tasks of one stage took and did.
type stageSummary struct {
	*record.Stage
	sums
	reading, computing, writing time.Duration
	busy                        time.Duration // the tasks' own durations together
	first, end                  time.Duration // when its first task started and its last one ended
	allocations, reuses         int64
	// What the slots held together: each the most that one of its tasks did.
	requested, reserved record.Bytes
	held                map[uint16]*[2]record.Bytes

	grid *gridMap // nil where there is nothing to see
}

// summarize walks over a run once; of is the number of runs that share a report.
func summarize(r *record.Run, of int) *summary {
	s := &summary{run: r, h: &r.Header, status: r.Status(), inSlot: map[[2]uint16]int{}}
	if s.h.PlanOnly {
		s.status = record.Planned
	}
	if s.h.Device.Memory > 0 {
		of *= 2 // of the device are two figures more
	}
	grids, tasks := 0, 0.0
	for i := range s.h.Stages {
		st := &stageSummary{Stage: &s.h.Stages[i], held: map[uint16]*[2]record.Bytes{}}
		tasks += float64(st.Tasks)
		if st.Tasks > 1 && grids < maxGrids {
			grids++
			st.grid = newGridMap(st.Stage, maxCells/(of*min(len(s.h.Stages), maxGrids)))
		}
		s.stages = append(s.stages, st)
	}
	s.perBand = int64(min(max(math.Ceil(tasks*float64(of)/maxBands), 1), math.MaxInt64/2))
	for t := range r.Tasks() {
		for _, d := range []*time.Duration{&t.Start, &t.Duration, &t.Reading, &t.Computing, &t.Writing, &t.Upload, &t.Download} {
			*d = possible(*d)
		}
		s.task(t)
	}
	line := thinner{limit: maxPoints / (2 * of), per: 1}
	if s.h.Process { // it has no arena of its own
		line.load = func(m *record.Sample) int64 { return m.Anonymous }
	}
	for m := range r.Samples() {
		m.At = possible(m.At)
		s.sample(m)
		line.add(m)
	}
	s.timeline, s.perPoint = line.points()
	s.heapLines()
	if r.End != nil {
		s.peak, s.device = r.End.Peak, r.End.DevicePeak
		s.last = possible(r.End.Duration)
	}
	if s.h.Process {
		s.peak = s.processPeak()
	}
	for _, st := range s.stages {
		for _, b := range st.held {
			add(&st.requested, &b[0])
			add(&st.reserved, &b[1])
		}
	}
	return s
}

// longest is a time that no run takes. Sums of a few of them do not overflow.
const longest = 10 * 365 * 24 * time.Hour

// possible clamps a time to what a run can take: a damaged record may hold any.
func possible(d time.Duration) time.Duration { return min(max(d, 0), longest) }

// task adds a row to the sums.
func (s *summary) task(t *record.Task) {
	s.add(t)
	s.retries += int64(t.Retries)
	if t.Splits > 0 {
		s.halved++
	}
	s.last = max(s.last, t.Start+t.Duration)
	s.lastTask = *t
	if t.Device > 0 {
		s.lanes.add(t, 0, t.Upload, t.Computing, t.Download)
	}
	s.work(t)
	if int(t.Stage) >= len(s.stages) {
		return
	}
	st := s.stages[t.Stage]
	if t.Device == 0 && s.h.Device.Memory > 0 && st.Device == s.h.Device.Name {
		s.onCPU++
	}
	if st.done == 0 || t.Start < st.first {
		st.first = t.Start
	}
	st.end = max(st.end, t.Start+t.Duration)
	st.add(t)
	s.addBand(t)
	st.reading += t.Reading
	st.computing += t.Computing
	st.writing += t.Writing
	st.busy += t.Duration
	st.allocations += int64(t.Allocations)
	st.reuses += int64(t.Reuses)
	slot := st.held[t.Slot]
	if slot == nil {
		if len(st.held) == maxSlots {
			slot = st.held[0]
		}
		if slot == nil {
			slot = new([2]record.Bytes)
			st.held[t.Slot] = slot
		}
	}
	atLeast(&slot[0], &t.Requested)
	atLeast(&slot[1], &t.Reserved)
	if t.Chunk >= 0 && t.Chunk < int64(st.Tasks) {
		if st.grid != nil {
			st.grid.add(t, s.worker(t))
		}
	}
}

// sample keeps the extremes.
func (s *summary) sample(m *record.Sample) {
	s.hasSample = true
	s.last = max(s.last, m.At)
	s.peak = max(s.peak, m.Arena.Host())
	s.device = max(s.device, m.Device)
	if m.Anonymous >= s.largest.Anonymous {
		s.largest = *m
	}
}

// product reports whether the stage is a matrix product: its tasks read their operands in
// strips, several times over, and share what they hold.
func (st *stageSummary) product() bool { return st.Kind == "matmul" }

// took is the time that passed while the stage's tasks ran.
func (st *stageSummary) took() time.Duration { return st.end - st.first }

// processPeak is the most private memory that the process was seen to take.
func (s *summary) processPeak() int64 {
	if e := s.run.End; e != nil {
		return max(e.ProcessPeak, s.largest.Anonymous)
	}
	return s.largest.Anonymous
}

// modelled says whether the device's memory is the process's, and in the budget.
func (s *summary) modelled() bool { return strings.HasPrefix(s.h.Device.Name, "model:") }

func atLeast(a, b *record.Bytes) {
	for c := range a {
		a[c] = max(a[c], b[c])
	}
}

func add(a, b *record.Bytes) {
	for c := range a {
		a[c] += b[c]
	}
}

// ceilDiv is a/b rounded up, 1 at least.
func ceilDiv(a, b int64) int64 {
	if a <= b || b <= 0 {
		return 1
	}
	return (a-1)/b + 1
}

// thinner keeps at most limit buckets of equally many samples, and of each
// bucket the samples with the least and the most memory: no peak is lost.
type thinner struct {
	limit, per int
	buckets    []bucket
	load       func(*record.Sample) int64 // what it keeps the extremes of; nil: arena and device
}

type bucket struct {
	n           int
	least, most record.Sample
}

func (t *thinner) add(s *record.Sample) {
	if n := len(t.buckets); n > 0 && t.buckets[n-1].n < t.per {
		t.merge(&t.buckets[n-1], bucket{1, *s, *s})
		return
	}
	if len(t.buckets) == t.limit {
		t.buckets = halved(t.buckets, func(a, b bucket) bucket { t.merge(&a, b); return a })
		t.per *= 2
		t.add(s)
		return
	}
	t.buckets = append(t.buckets, bucket{1, *s, *s})
}

// halved makes one element of two, in their place.
func halved[T any](all []T, merge func(a, b T) T) []T {
	half := all[:0]
	for i, a := range all {
		if i%2 == 0 {
			half = append(half, a)
		} else {
			half[i/2] = merge(half[i/2], a)
		}
	}
	return half
}

func (t *thinner) merge(b *bucket, c bucket) {
	load := t.load
	if load == nil {
		load = func(s *record.Sample) int64 { return s.Arena.Host() + s.Device }
	}
	b.n += c.n
	if load(&c.least) < load(&b.least) {
		b.least = c.least
	}
	if load(&c.most) > load(&b.most) {
		b.most = c.most
	}
}

// points are the samples kept, in the order of time, and how many samples one
// bucket stands for.
func (t *thinner) points() ([]record.Sample, int) {
	var all []record.Sample
	for _, b := range t.buckets {
		first, second := b.least, b.most
		if first.At > second.At {
			first, second = second, first
		}
		all = append(all, first)
		if second.At != first.At {
			all = append(all, second)
		}
	}
	return all, t.per
}
