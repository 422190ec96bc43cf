package chart

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// timeline is the memory of a cell over time: that of its process and of all of its runs, on
// one clock.
type timeline struct {
	samples  []record.Sample // since the first of the records began
	perPoint int
	last     time.Duration
	budget   int64
	lines    []line // of the Go heap
	heap     []series
	stacks   map[string][]*heapLine // of a line, by its place: what it held by the calls that allocated it
	flame    []leaf
	spans    []span // of the runs
	cell     bool   // there is more than one run

	largest record.Sample // of the looks at the process, by whomever, the one that saw most; with all that the runs' arenas held then
	peak    int64         // the most that the process was seen to take
	model   string        // a modelled device, whose memory is the process's; "" where there is none
}

// span is when a run ran, in seconds, and what it was predicted to hold.
type span struct {
	Name      string  `json:"name"`
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	predicted int64
}

// newTimeline lays the samples of records over each other: each is a point, which has the
// process's memory from there, and the arena from all.
func newTimeline(all []*summary) *timeline {
	t := &timeline{}
	if len(all) == 0 {
		return t
	}
	origin := slices.MinFunc(all, func(a, b *summary) int { return a.h.Start.Compare(b.h.Start) }).h.Start
	type source struct {
		*summary
		at int // the next of its samples
	}
	var runs []*source
	var process *summary // of the cell; nil where it has no record
	for _, s := range all {
		s.offset = possible(s.h.Start.Sub(origin))
		t.last = max(t.last, s.offset+s.last)
		t.perPoint = max(t.perPoint, s.perPoint)
		t.budget = max(t.budget, s.h.Budget)
		if s.h.Process {
			process, t.cell = s, true
		}
		for _, m := range s.timeline {
			m.At += s.offset
			t.samples = append(t.samples, m)
		}
		if !s.h.Process {
			runs = append(runs, &source{summary: s})
			if s.status != record.Planned && s.status != record.Skipped {
				t.spans = append(t.spans, span{s.spanName(), s.offset.Seconds(), (s.offset + s.last).Seconds(), s.h.Predicted.Host()})
			}
		}
	}
	t.cell = t.cell || len(runs) > 1
	t.measure(all)
	if process != nil { // the runs saw the same process
		process.peak = t.peak
	}
	slices.SortStableFunc(t.samples, func(a, b record.Sample) int { return cmp.Compare(a.At, b.At) })
	for i := range t.samples {
		m := &t.samples[i]
		m.Arena = record.Bytes{}
		for _, r := range runs {
			for r.at < len(r.timeline) && r.timeline[r.at].At+r.offset <= m.At {
				r.at++
			}
			b := r.arenaAt(r.at, m.At-r.offset)
			add(&m.Arena, &b)
		}
		if i > 0 && m.Anonymous == 0 { // not known on this system, or then
			m.Anonymous, m.GoHeap = t.samples[i-1].Anonymous, t.samples[i-1].GoHeap
		}
	}
	t.thin()
	if n := len(t.samples); n > 0 && t.cell && t.samples[n-1].At < t.last { // as it was shortly before it died
		m := t.samples[n-1]
		m.At = t.last
		if process != nil {
			m.Anonymous = max(m.Anonymous, process.lastSeen())
		}
		t.samples = append(t.samples, m)
	}
	if process != nil {
		t.addLines(process)
	}
	if t.cell {
		t.flame = t.leaves(all)
	}
	return t
}

// measure finds when the process was largest. All that a report says of that moment is from there.
func (t *timeline) measure(all []*summary) {
	var from *summary
	for _, s := range all {
		if s.h.Cluster != nil { // whose processes are elsewhere
			continue
		}
		t.peak = max(t.peak, s.processPeak())
		if s.hasSample && (from == nil || s.largest.Anonymous > t.largest.Anonymous) {
			from, t.largest = s, s.largest
			t.largest.At += s.offset
		}
	}
	for _, s := range all {
		if s.modelled() {
			t.model = s.h.Device.Name
		}
		if s == from || s.h.Process || from == nil || s.offset > t.largest.At || s.run.End != nil && s.offset+s.last < t.largest.At {
			continue
		}
		// What is taken between two looks is taken at once: the larger of both is nearer than what lies between them.
		var held record.Sample
		for m := range s.run.Samples() {
			if possible(m.At)+s.offset >= t.largest.At {
				atLeast(&held.Arena, &m.Arena)
				held.Device = max(held.Device, m.Device)
				break
			}
			held = *m
		}
		add(&t.largest.Arena, &held.Arena)
		t.largest.Device += held.Device
	}
}

// lastSeen returns the memory of a process that was ended for taking more than its budget, and 0 of any other.
func (s *summary) lastSeen() int64 {
	if e := s.run.End; e != nil && s.status == record.Failed && e.ProcessPeak > s.h.Budget {
		return e.ProcessPeak
	}
	return 0
}

// spanName is what a run saves, or else computes.
func (s *summary) spanName() string {
	if s.h.Output != "" {
		return plain(filepath.Base(s.h.Output))
	}
	return plain(cmp.Or(s.h.Shown, s.h.Title))
}

// maxSpans is how many spans a timeline has at most.
const maxSpans = 32

// thin leaves as many samples and spans as there is room for.
func (t *timeline) thin() {
	if len(t.samples) > maxPoints {
		few := thinner{limit: maxPoints / 2, per: 1, load: func(m *record.Sample) int64 { return m.Arena.Host() + m.Device + m.GoHeap }}
		for i := range t.samples {
			few.add(&t.samples[i])
		}
		per := 0
		t.samples, per = few.points()
		t.perPoint *= per
	}
	slices.SortStableFunc(t.spans, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	if n := len(t.spans); n > maxSpans {
		each := int(ceilDiv(int64(n), maxSpans))
		var few []span
		for some := range slices.Chunk(t.spans, each) {
			all := some[0]
			all.Name = counted(len(some), "run", "runs")
			for _, sp := range some {
				all.To, all.predicted = max(all.To, sp.To), max(all.predicted, sp.predicted)
			}
			few = append(few, all)
		}
		t.spans = few
	}
}

// arenaAt is the arena of a run at a moment between the sample before next and next.
func (s *summary) arenaAt(next int, at time.Duration) (b record.Bytes) {
	switch {
	case next == 0:
		return b
	case next == len(s.timeline):
		if s.run.End == nil || at <= s.last { // it died with what it held
			return s.timeline[next-1].Arena
		}
		return b
	}
	before, after := &s.timeline[next-1], &s.timeline[next]
	share := float64(at-before.At) / float64(max(after.At-before.At, 1))
	for c := range b {
		b[c] = before.Arena[c] + int64(share*float64(after.Arena[c]-before.Arena[c]))
	}
	return b
}

// How many lines of the Go heap are told apart, and drawn by themselves.
const (
	maxLines   = 64
	drawnLines = 5
	maxStacks  = 8       // of a line
	leastLine  = 1 << 20 // bytes of one that is
)

// lineColors are those of lines, and heapColor that of the rest of the Go heap.
var lineColors = [drawnLines]string{"#c36", "#96c", "#e9a", "#657", "#b9d"}

const heapColor = "#999"

// heapLines notes what the lines of a cell held.
func (s *summary) heapLines() {
	at := map[string]int{}
	for l := range s.run.Lines() {
		l.Site, l.Code = plain(l.Site), clip(plain(l.Code), 100)
		i, known := at[l.Site+l.Code]
		if !known {
			if len(at) == maxLines {
				continue
			}
			i = len(s.lines)
			at[l.Site+l.Code] = i
			s.lines = append(s.lines, line{Site: l.Site, Code: l.Code})
		}
		s.lines[i].Live, s.lines[i].Allocated = max(s.lines[i].Live, l.Live), max(s.lines[i].Allocated, l.Allocated)
	}
	slices.SortStableFunc(s.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.Live, a.Live), cmp.Compare(b.Allocated, a.Allocated))
	})
}

// addLines splits the Go heap of a process by lines. Between two looks at them, what they
// hold is taken to change evenly.
func (t *timeline) addLines(s *summary) {
	n := len(t.samples)
	for _, l := range s.lines {
		if l.Live >= leastLine || l.Allocated >= notable {
			t.lines = append(t.lines, l)
		}
	}
	drawn := map[string]*heapLine{}
	t.stacks = map[string][]*heapLine{}
	for i, l := range t.lines[:min(len(t.lines), drawnLines)] {
		if l.Live >= leastLine {
			drawn[l.Site+l.Code] = &heapLine{series: series{kind: asArea, key: key{name: l.Name(), color: lineColors[i]}, y: make([]float64, n)}}
			t.heap = append(t.heap, drawn[l.Site+l.Code].series)
		}
	}
	t.follow(s.run.Lines(), s.offset, func(l *record.Line) *heapLine { return drawn[plain(l.Site)+clip(plain(l.Code), 100)] })
	t.follow(s.run.Stacks(), s.offset, func(l *record.Line) *heapLine {
		site := plain(l.Site)
		for _, st := range t.stacks[site] {
			if st.name == l.Code {
				return st
			}
		}
		if len(t.stacks[site]) == maxStacks {
			return nil
		}
		st := &heapLine{series: series{key: key{name: l.Code}, y: make([]float64, n)}}
		t.stacks[site] = append(t.stacks[site], st)
		return st
	})
	for i := range t.samples {
		var sum float64
		for _, l := range t.heap {
			sum += l.y[i]
		}
		if most := float64(t.samples[i].GoHeap); sum > most {
			for _, l := range t.heap {
				l.y[i] *= most / sum
			}
		}
	}
}

// follow fills the series of rows that were recorded at some looks.
func (t *timeline) follow(rows iter.Seq[*record.Line], offset time.Duration, of func(*record.Line) *heapLine) {
	var last, look time.Duration // the look before, and this one
	var all []*heapLine
	for l := range rows {
		if at := possible(l.At) + offset; at > look {
			last, look = look, at
		}
		if d := of(l); d != nil {
			if d.at == 0 && d.next == 0 {
				all = append(all, d)
				d.fill(t.samples, last, 0)
			}
			d.fill(t.samples, look, l.Live)
		}
	}
	for _, d := range all {
		d.fill(t.samples, longest, d.live)
	}
}

// heapLine is a line's series, so far.
type heapLine struct {
	series
	next int // of its values
	at   time.Duration
	live int64
}

// fill sets the values up to a moment, at which so many bytes were live.
func (l *heapLine) fill(samples []record.Sample, at time.Duration, live int64) {
	for ; l.next < len(samples) && samples[l.next].At <= at; l.next++ {
		share := float64(samples[l.next].At-l.at) / float64(max(at-l.at, 1))
		l.y[l.next] = float64(l.live) + share*float64(live-l.live)
	}
	l.at, l.live = at, live
}

// figure draws it: the classes of the arena and the lines of the Go heap, stacked, with the
// whole process, the budget and what was predicted.
func (t *timeline) figure() *figure {
	if len(t.samples) < 2 {
		return nil
	}
	at := moments(t.samples)
	all := append(areas(at, classKeys()[:record.Device], func(class, i int) int64 { return t.samples[i].Arena[class] }), t.heap...)
	heap := series{kind: asArea, key: key{name: "Go heap", color: heapColor}}
	if len(t.heap) > 0 {
		heap.name = "Go heap, other"
	}
	process := series{key: key{"whole process, private", processColor, dotted}, width: 1.5}
	var seen, held, untouched, more bool
	for i := range t.samples {
		m := &t.samples[i]
		rest := float64(m.GoHeap)
		for _, l := range t.heap {
			rest -= l.y[i]
		}
		heap.y = append(heap.y, max(rest, 0))
		process.y = append(process.y, float64(m.Anonymous))
		seen, held = seen || m.Anonymous > 0, held || rest > 0
		untouched = untouched || m.Anonymous > 0 && m.Arena.Host()+m.GoHeap > m.Anonymous+m.Anonymous/16
		more = more || m.Anonymous > m.Arena.Host()+m.GoHeap+m.Anonymous/16
	}
	if held {
		all = append(all, heap)
	}
	if seen {
		all = append(all, process)
	}
	for i := range all {
		all[i].x, all[i].packed = at, true
	}
	limits := []limit{{name: "budget", bytes: t.budget, color: budgetColor, line: dashed}, {name: "predicted peak", color: plannedColor, line: dashDot}}
	for _, sp := range t.spans {
		limits[1].bytes = max(limits[1].bytes, sp.predicted)
	}
	f := &figure{Title: "Memory over time", Caption: caption(t.perPoint), Alt: t.words(), live: live{Height: 300, Points: &points{}, Brush: t.last.Seconds()}}
	if untouched {
		f.Caption = strings.TrimSpace("Where the stack is above the process, it has memory that was never touched, and takes none. " + f.Caption)
	}
	if more {
		f.Caption = strings.TrimSpace("Where the process is above the stack, it has Go's runtime besides, and what libraries take. " + f.Caption)
	}
	if t.cell {
		f.Spans, limits[1].spans = t.spans, t.spans
		if len(f.Spans) > 0 {
			f.Height += spanHeight
		}
	}
	return memoryOverTime(f, t.last.Seconds(), all, limits, f.Spans)
}

// words are the chart in words.
func (t *timeline) words() string {
	var highest record.Sample
	held := func(m *record.Sample) int64 { return m.Arena.Host() + m.GoHeap }
	for i := range t.samples {
		if m := &t.samples[i]; held(m) > held(&highest) {
			highest = *m
		}
	}
	words := fmt.Sprintf("Memory over %s: at most %s, after %s", units.Duration(t.last), units.Bytes(held(&highest)), units.Duration(highest.At))
	var parts []string
	for c := range record.Device {
		if n := highest.Arena[c]; n > 0 {
			parts = append(parts, c.String()+" "+units.Bytes(n))
		}
	}
	if highest.GoHeap > 0 {
		parts = append(parts, "Go heap "+units.Bytes(highest.GoHeap))
	}
	if len(parts) > 0 {
		words += " (" + strings.Join(parts, ", ") + ")"
	}
	for _, sp := range t.spans {
		if t.cell {
			words += fmt.Sprintf("; %s from %s to %s", clip(sp.Name, 60), seconds(sp.From), seconds(sp.To))
		}
	}
	if t.budget > 0 {
		words += "; the budget is " + units.Bytes(t.budget)
		if len(t.spans) == 1 && t.spans[0].predicted > 0 {
			words += ", the prediction " + units.Bytes(t.spans[0].predicted)
		}
	}
	return words + "."
}
