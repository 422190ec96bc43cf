package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// view is one run as it is shown: what the HTML and the text have in common.
type view struct {
	s              *summary
	t              *timeline // of its cell; nil where another view has it
	Title, Verdict string
	tone
	Notes      []string // what is not where the user asked for it
	Hint       hint
	Planned    bool
	Figures    []figure
	Tree       *figure // of the stages; TreeText says the same
	TreeText   string
	Operations []operation
	Rest       []part
	WhatIf     []Table // other chunks and budgets, and GPUs
	Facts      []fact
	Lines      []line
}

// Start is when the run began, in seconds of its cell.
func (v *view) Start() float64 { return round(v.s.offset.Seconds(), 1e6) }

// PlanLine, OperationsLine, ChunksLine and RestLine say what is folded below them.
func (v *view) PlanLine() string {
	line := counted(len(v.s.stages), "stage", "stages")
	if n := v.s.h.Passes(); n > 0 {
		line += ", " + counted(n, "pass", "passes") + " over stored data"
	}
	if s := v.s.h.Seconds; s != nil && v.s.skipped() == 0 && !v.s.modelled() {
		if v.s.h.Cluster != nil || s.Known() {
			line += ", predicted " + secondsRange(s)
		}
		line += ", limited by " + plain(s.Limit)
	}
	if c := v.s.h.Cluster; c != nil && v.Planned {
		line += "; memory and tasks at once are those of each of " + counted(c.Workers, "worker", "workers")
	}
	return line
}

func (v *view) OperationsLine() string {
	var slowest *stageSummary
	for _, st := range v.s.stages {
		if slowest == nil || st.took() > slowest.took() {
			slowest = st
		}
	}
	if v.Planned || slowest == nil || slowest.took() <= 0 {
		return "what each takes of which class"
	}
	return fmt.Sprintf("%s took %s", clip(plain(slowest.Name), 40), units.Duration(slowest.took()))
}

func (v *view) ChunksLine() string {
	all := int64(0)
	for _, st := range v.s.stages {
		if all += int64(st.Tasks); all < 0 {
			all = math.MaxInt64
			break
		}
	}
	if v.s.done == all {
		return units.Count(all) + ", all done"
	}
	return units.Count(v.s.done) + " of " + units.Count(all) + " done"
}

func (v *view) RestLine() string { return "at most " + units.Bytes(v.t.peak) }

// RestWhen is when the process was at its largest, of what Rest adds up to. The peaks that other
// lines have may be of another moment.
func (v *view) RestWhen() string {
	m := &v.t.largest
	text := units.Bytes(m.Anonymous) + " after " + units.Duration(m.At)
	if p := units.Bytes(v.t.peak); p != units.Bytes(m.Anonymous) {
		text += ", and " + p + " between two looks"
	}
	if p := units.Bytes(v.s.peak); !v.s.h.Process && v.s.peak > m.Arena.Host() && p != units.Bytes(m.Arena.Host()) {
		text += "; the arena had its " + p + " at another moment"
	}
	return text
}

// HasFolded reports whether there are figures to unfold.
func (v *view) HasFolded() bool {
	return slices.ContainsFunc(v.Figures, func(f figure) bool { return f.Folded })
}

// line is what one line of a cell took of the Go heap.
type line struct {
	Site, Code string
	Live       int64 // at its largest
	Allocated  int64 // in all
}

// Name is what its layer of the timeline is called.
func (l line) Name() string { return strings.TrimSpace(l.Site + " " + clip(l.Code, 24)) }

// figure is one chart: a picture, and the same as an ECharts option.
type figure struct {
	live
	Title, Caption string
	Alt            string // what a picture says to those who do not see it; its title and caption if empty
	Picture        markup
	Folded         bool // it is detail: shown when it is asked for
}

// choice is one of the values that a heat map can show.
type choice struct {
	Label     string  `json:"label"`
	Dimension int     `json:"dimension"`
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
}

// operation is one line of the table by operation.
type operation struct {
	Name, Detail, Site         string
	Head                       bool // the stage; otherwise a part of it
	Color                      string
	Predicted, Requested       int64
	Reserved                   int64
	Measured                   bool
	Allocations, Reuses, Moved int64
	Time                       time.Duration
	From, To                   float64 // when a stage ran, in seconds
	Chunks                     string
	Likely                     string // time that is predicted; "" where it is not known
}

// quantity is a figure in a table, and the integer behind it, 0 where there is none.
type quantity struct {
	text  string
	exact int64
}

func (v *view) operationHead() []string {
	head := []string{"operation", "chunks", "predicted"}
	switch {
	case !v.Planned:
		return append(head, "requested", "reserved", "allocations", "reuses", "moved", "time")
	case v.Timed():
		return append(head, "to move", "time")
	}
	return append(head, "to move")
}

// operationCells are the figures of an operation, below operationHead.
func (v *view) operationCells(o *operation) []quantity {
	size := func(n int64) quantity { return quantity{sizeOrDash(n), n} }
	moved := quantity{dashIfNone(o.Moved, units.Traffic(o.Moved)), o.Moved}
	cells := []quantity{{text: o.Chunks}, size(o.Predicted)}
	switch {
	case v.Timed() && v.Planned:
		return append(cells, moved, quantity{text: o.Likely})
	case v.Planned:
		return append(cells, moved)
	}
	var allocations, reuses quantity
	if o.Head && o.Measured {
		allocations.text, reuses.text = dashIfNone(o.Allocations, units.Count(o.Allocations)), dashIfNone(o.Reuses, units.Count(o.Reuses))
	}
	return append(cells, size(o.Requested), size(o.Reserved), allocations, reuses, moved, quantity{text: dashIfNone(int64(o.Time), units.Duration(o.Time))})
}

// part is one share of the process's memory.
type part struct {
	Name, Note, Color string
	Bytes             int64
	Percent           float64
}

// fact is one exact figure of the run.
type fact struct{ Name, Value string }

// newView is a run as it is drawn; t is the timeline of its cell, nil where another view has it.
func newView(s *summary, t *timeline, mode Mode, drawn bool) *view {
	v := &view{
		s: s, t: t, Title: runTitle(s.h),
		Verdict: s.verdict(), tone: s.tone(), Planned: s.status == record.Planned,
	}
	if !drawn || s.status == record.Skipped {
		return v
	}
	if t != nil {
		v.Lines = t.lines
	}
	for _, w := range s.h.Warnings {
		v.Notes = append(v.Notes, warn.Mark+" "+plain(w)+".")
	}
	for _, st := range s.h.Stages {
		if st.Note != "" {
			v.Notes = append(v.Notes, plain(st.Name)+": "+plain(st.Note)+".")
		}
		if x := st.Transfers; x != nil && strings.HasPrefix(x.Gain(), record.NoGain) {
			v.Notes = append(v.Notes, plain(st.Name)+": "+plain(x.Gain())+".")
		}
	}
	for _, t := range s.h.Traffic {
		v.Notes = append(v.Notes, "Asks "+plain(t.String())+".")
	}
	if s.h.About != "" {
		v.Notes = append(v.Notes, "What it asks for may be somewhat more or less: "+plain(s.h.About)+".")
	}
	v.Notes = append(v.Notes, s.eventWords()...)
	if words := s.laneWords(); words != "" && s.idleLanes() {
		v.Notes = append(v.Notes, words+".")
	}
	switch {
	case !v.Planned || len(s.stages) == 0:
	case s.h.Cluster != nil:
		c := s.h.Cluster
		v.Notes = append(v.Notes, fmt.Sprintf("%s is asked for %s for each worker: %s of buffers, as the stages have them, and what its process takes besides. Times are those of workers like this machine and of an empty queue.",
			plain(c.Name), units.Bytes(c.Memory), units.Bytes(s.h.Predicted.Host())))
	case s.h.Seconds.Known():
	case s.h.Seconds == nil:
		v.Notes = append(v.Notes, "How long it will take is not known yet: gonbext learns that from the runs of this machine.")
	default:
		v.Notes = append(v.Notes, fmt.Sprintf("How long it will take is not known within a factor of two: earlier runs of this machine say %s to %s.", secondsText(s.h.Seconds.Low), secondsText(s.h.Seconds.High)))
	}
	v.Hint = s.hint()
	v.operations()
	v.whatIf()
	v.facts()
	if !v.Planned && t != nil && t.largest.Anonymous > 0 {
		v.rest()
	}
	stages := s.run.Explain()
	v.TreeText = treeText(stages)
	if mode == None {
		return v
	}
	v.Tree = treeFigure(stages)
	if v.Planned { // the tree of its stages says all
		return v
	}
	for _, noted := range s.h.Series {
		v.add(seriesFigure(noted))
	}
	if t != nil {
		v.add(t.figure())
		v.add(t.flameFigure())
	}
	if s.h.Process {
		return v
	}
	v.add(deviceFigure(s))
	v.add(lanesFigure(s))
	v.add(tasksFigure(s))
	for _, st := range s.stages {
		v.add(gridFigure(st, s.last))
	}
	return v
}

// add adds a figure, if there is one.
func (v *view) add(f *figure) {
	if f != nil {
		v.Figures = append(v.Figures, *f)
	}
}

// operations makes the table: a line for each stage, then one for each of its
// parts, so that it shows what kind of memory which step took.
func (v *view) operations() {
	for _, st := range v.s.stages {
		measured := !v.Planned && st.done > 0
		moved := st.read + st.written
		if v.Planned {
			moved = st.Read + st.Written
		}
		v.Operations = append(v.Operations, operation{
			Head: true, Name: plain(st.Name), Site: plain(st.Site), Detail: stageDetail(st),
			Predicted: st.Predicted.Host(), Requested: st.requested.Host(), Reserved: st.reserved.Host(),
			Allocations: st.allocations, Reuses: st.reuses, Moved: moved, Time: st.took(),
			Measured: measured, Chunks: chunksDone(v, st), From: round(st.first.Seconds(), 1e6), To: round(st.end.Seconds(), 1e6), Likely: likely(st.Seconds),
		})
		for _, p := range []struct {
			name    string
			classes []record.Class
			moved   int64
			planned int64
			time    time.Duration
			always  bool
		}{
			{"read", []record.Class{record.Input}, st.read, st.Read, st.reading, true},
			{"decode and encode", []record.Class{record.Codec}, 0, 0, 0, false},
			{"compute", []record.Class{record.Scratch, record.Library}, 0, 0, st.computing, true},
			{"write", []record.Class{record.Output}, st.written, st.Written, st.writing, true},
			{"transfers", []record.Class{record.Pinned}, st.moved, 0, 0, false},
			{"device memory", []record.Class{record.Device}, 0, 0, 0, false},
		} {
			o := operation{Name: plain(p.name), Moved: p.moved, Time: p.time, Measured: measured, Color: classColors[p.classes[0]]}
			if v.Planned {
				o.Moved = p.planned
			}
			for _, c := range p.classes {
				o.Predicted += st.Predicted[c]
				o.Requested += st.requested[c]
				o.Reserved += st.reserved[c]
			}
			if p.always || o.Predicted+o.Reserved+o.Moved > 0 {
				v.Operations = append(v.Operations, o)
			}
		}
	}
}

// IdleSlots says of stages that did not need all of their slots how many they used: the run
// reserved for all.
func (v *view) IdleSlots() string {
	var all []string
	for _, st := range v.s.stages {
		if n := len(st.held); !v.Planned && n > 0 && n < st.Slots && n < maxSlots {
			all = append(all, fmt.Sprintf("%s used %d of %d slots", clip(plain(st.Name), 40), n, st.Slots))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all[:min(len(all), longestText)], ", ") + "; the run reserves for all"
}

// chunksDone is how many of a stage's chunks were done.
func chunksDone(v *view, st *stageSummary) string {
	n := units.Count(int64(st.Tasks))
	if v.Planned || st.done == int64(st.Tasks) {
		return n
	}
	return units.Count(st.done) + " of " + n
}

// stageDetail is what a stage does, over which grid.
func stageDetail(st *stageSummary) string {
	d := plain(st.Kind)
	if len(st.Chunks) > 0 {
		d += " over chunks of " + units.Shape(st.Chunks) + " " + plain(st.DType)
	}
	if st.Slots > 0 {
		d += fmt.Sprintf(", %d at a time", st.Slots)
	}
	return d
}

// rest splits the memory of the process at its largest.
func (v *view) rest() {
	m := &v.t.largest
	r := restOf(m, v.t.model != "")
	add := func(name, note, color string, n int64) {
		v.Rest = append(v.Rest, part{Name: name, Note: note, Color: color, Bytes: n})
	}
	for c := range record.Device {
		if n := m.Arena[c]; n > 0 {
			add("arena: "+c.String(), "", classColors[c], n)
		}
	}
	if r.device > 0 {
		add("memory of "+plain(v.t.model), "a modelled device takes the host's memory", classColors[record.Device], r.device)
	}
	add("Go heap", "values of the cell and of gonbext itself, and garbage", "#888", r.heap)
	add("Go runtime", "stacks, spans, garbage collector", "#bbb", r.runtime)
	add("not accounted for", "the program's own pages, page tables, libraries", "#e55", r.unknown)
	var total int64
	for _, p := range v.Rest {
		total += p.Bytes
	}
	for i := range v.Rest {
		v.Rest[i].Percent = 100 * float64(v.Rest[i].Bytes) / float64(max(total, 1))
	}
	if r.untouched > 0 {
		add("of all these, reserved and never touched", "takes no memory yet", "", r.untouched)
	}
	add("mapped files", "not counted: the kernel takes them back", "", r.mapped)
	if r.cached >= 0 {
		add("page cache", "not counted: the kernel takes it back", "", r.cached)
	} else {
		add("page cache", "not known on this machine", "", -1)
	}
}

// facts are the exact figures behind the rounded ones.
func (v *view) facts() {
	s := v.s
	say := func(name, value string) { v.Facts = append(v.Facts, fact{name, value}) }
	if s.h.Budget > 0 {
		say("budget", units.Both(s.h.Budget))
	}
	if s.h.Need > 0 {
		say("smallest budget that would do", units.Both(s.h.Need))
		if o := s.h.Overhead; o > 0 && o < s.h.Need {
			say("of it for the program itself", units.Both(o))
		}
	}
	if c := s.h.Cluster; c != nil {
		say("asked for each worker", units.Both(c.Memory))
	}
	if !s.h.Process {
		say("predicted peak", units.Both(s.h.Predicted.Host()))
	}
	if s.h.Process {
		say("largest private memory of the process", units.Both(s.peak))
	} else if !v.Planned {
		say("measured peak", units.Both(s.peak))
		if v.t != nil && v.t.peak > 0 {
			say("largest private memory of the process", units.Both(v.t.peak))
		}
		say("read", units.Moved(s.read))
		say("written", units.Moved(s.written))
		say("chunks", units.Count(s.done))
		if s.retries > 0 {
			say("retries", units.Count(s.retries))
		}
	}
	workers := s.h.Workers
	if c := s.h.Cluster; c != nil {
		workers = c.Workers
	}
	if workers > 0 || s.h.Cluster != nil {
		say("workers", units.Count(int64(workers)))
	}
	say("run", plain(s.h.Run))
}

// likely is the time that is predicted; "" where it is not known.
func likely(s *record.Seconds) string {
	if !s.Known() {
		return ""
	}
	return secondsText(s.Likely)
}

// Timed reports whether times are predicted.
func (v *view) Timed() bool { return v.s.h.Seconds.Known() }

// whatIf makes the tables of alternatives: of chunks and budgets, and of GPUs.
func (v *view) whatIf() {
	h := v.s.h
	t := Table{Caption: "What if", Head: []string{"chunks", "budget", "verdict", "needs at least", "peak", "passes", "moved", "tasks"}, Texts: 1,
		note: "Needs at least: the smallest budget that would do, with room for the program itself. Peak: what its arrays would take at the budget of that line."}
	if h.Device.Memory > 0 {
		t.Caption += ", on " + plain(h.Device.Name)
	}
	if v.Timed() {
		t.Head = append(t.Head, "time")
	}
	asks := slices.ContainsFunc(h.WhatIf, func(w record.WhatIf) bool { return w.Traffic != nil })
	if asks {
		t.Head = append(t.Head, "requests")
	}
	var gpus [][]string
	for _, w := range h.WhatIf {
		if w.Device != "" {
			gpus = append(gpus, gpuRow(&w, len(v.s.stages)))
			continue
		}
		row := []string{units.Shape(w.Chunks), units.Bytes(w.Budget), "✗ does not fit", units.Bytes(w.Need), "–", "–", "–", "–", "–"}
		if w.Fits {
			row[2] = "✓ fits"
			copy(row[4:], []string{units.Bytes(w.Peak), dashIfNone(int64(w.Passes), units.Count(int64(w.Passes))), units.Traffic(w.Moved), units.Count(int64(w.Tasks)), cmp.Or(likely(w.Time), "–")})
		}
		if row = row[:min(len(t.Head), len(row))]; asks {
			row = append(row[:len(t.Head)-1], dashIfNone(w.Requests(), units.Count(w.Requests())))
		}
		t.Rows = append(t.Rows, row)
	}
	for _, t := range []Table{t, gpusTable(gpus)} {
		if len(t.Rows) > 0 {
			v.WhatIf = append(v.WhatIf, t)
		}
	}
}
