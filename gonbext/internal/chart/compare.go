package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Compare puts two runs side by side: their memory over time in one chart where the mode has
// charts, what grew from the first to the second, and their figures.
func Compare(a, b *record.Run, names [2]string, o Options) (Output, error) {
	runs := [2]*summary{summarize(a, 2), summarize(b, 2)}
	s := sheet{Title: plain(names[0]) + " and " + plain(names[1]), Verdict: difference(runs, names)}
	if f := compareFigure(runs, names); f != nil && o.Mode != None {
		s.Figures = []figure{*f}
	}
	var grown []growth
	if (runs[0].status == record.Planned) == (runs[1].status == record.Planned) { // of the same kind
		grown = grownBetween(runs)
	}
	if len(grown) > 0 {
		if g := &grown[0]; g.memory {
			s.Verdict += " · grew most: " + g.name + ", " + g.write(g.from) + " → " + g.write(g.to)
		}
		s.Tables = append(s.Tables, grownTable(grown, names))
	}
	s.Tables = append(s.Tables, compareRuns(runs, names))
	if t := compareStages(runs, names); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s.output(o)
}

// growth is a figure that is larger in the second of two runs.
type growth struct {
	name     string
	from, to int64
	write    func(int64) string
	memory   bool
}

// maxGrown is how many figures that grew are named.
const maxGrown = 8

// grownBetween are the figures that grew by 5 % and by an amount that a person cares for:
// memory first, the largest growth of a kind first.
func grownBetween(runs [2]*summary) []growth {
	var all []growth
	note := func(name string, from, to, least int64, memory bool, write func(int64) string) {
		if to-from >= least && float64(to) >= 1.05*float64(from) {
			all = append(all, growth{name, from, to, write, memory})
		}
	}
	bytes := func(name string, from, to int64) { note(name, from, to, 1<<20, true, units.Bytes) }
	a, b := runs[0], runs[1]
	peaks := [2]record.Bytes{a.peakBy(), b.peakBy()}
	for c := range record.Device {
		bytes("arena: "+c.String(), peaks[0][c], peaks[1][c])
	}
	bytes("device memory", a.device, b.device)
	if a.hasSample && b.hasSample {
		before, after := restOf(&a.largest, a.modelled()), restOf(&b.largest, b.modelled())
		bytes("Go heap", before.heap, after.heap)
		bytes("Go runtime", before.runtime, after.runtime)
		bytes("memory that is not accounted for", before.unknown, after.unknown)
	}
	if len(all) == 0 {
		bytes("private memory of the process", a.processPeak(), b.processPeak())
	}
	for _, l := range b.lines {
		var before int64
		if i := slices.IndexFunc(a.lines, func(k line) bool { return k.Code == l.Code }); i >= 0 {
			before = a.lines[i].Live
		}
		bytes(strings.TrimSpace("Go heap of "+l.Site+" "+clip(l.Code, 40)), before, l.Live)
	}
	for i := range min(len(a.stages), len(b.stages)) {
		before, after := a.stages[i], b.stages[i]
		name := clip(plain(after.Name), 40)
		note("read by "+name, before.read, after.read, 1<<20, false, units.Traffic)
		note("written by "+name, before.written, after.written, 1<<20, false, units.Traffic)
		note("time of "+name, int64(before.took()), int64(after.took()), int64(100*time.Millisecond), false, duration)
	}
	slices.SortStableFunc(all, func(x, y growth) int {
		if x.memory && y.memory {
			return cmp.Compare(y.to-y.from, x.to-x.from)
		}
		return cmp.Compare(mark(y.memory), mark(x.memory))
	})
	return all[:min(len(all), maxGrown)]
}

// peakBy is the arena by class at its largest.
func (s *summary) peakBy() record.Bytes {
	if e := s.run.End; e != nil && e.PeakBy.Host() > 0 {
		return e.PeakBy
	}
	var largest record.Bytes
	for i := range s.timeline {
		if b := s.timeline[i].Arena; b.Host() > largest.Host() {
			largest = b
		}
	}
	return largest
}

func grownTable(grown []growth, names [2]string) Table {
	t := Table{Caption: "What grew", Head: []string{"", plain(names[0]), plain(names[1]), "by"}, Texts: 1}
	for _, g := range grown {
		t.Rows = append(t.Rows, []string{g.name, g.write(g.from), g.write(g.to), "+ " + g.write(g.to-g.from)})
	}
	return t
}

// compareFigure lays the memory of two runs over each other, both from their start; nil
// where one has too few samples.
func compareFigure(runs [2]*summary, names [2]string) *figure {
	var end float64
	var lines []series
	var words []string
	whole := runs[0].h.Process || runs[1].h.Process
	for k, s := range runs {
		if len(s.timeline) < 2 {
			return nil
		}
		l := series{key: key{plain(names[k]), curveColors[k], curveStrokes[k]}, x: moments(s.timeline), width: 2}
		var largest float64
		for i := range s.timeline {
			v := float64(s.timeline[i].Arena.Host())
			if whole {
				v = float64(s.timeline[i].Anonymous)
			}
			l.y = append(l.y, v)
			largest = max(largest, v)
		}
		lines = append(lines, l)
		end = max(end, s.last.Seconds())
		words = append(words, fmt.Sprintf("%s at most %s in %s", plain(names[k]), units.Bytes(int64(largest)), units.Duration(s.last)))
	}
	f := &figure{Title: "Memory over time", live: live{Height: 280}, Alt: "Memory over time of two runs: " + strings.Join(words, ", ") + ".",
		Caption: "The arena's memory of each run, from its start."}
	if whole {
		f.Caption = "The private memory of each process, from its start."
	}
	var limits []limit
	if runs[0].h.Budget == runs[1].h.Budget && runs[0].h.Budget > 0 {
		limits = []limit{{name: "budget", bytes: runs[0].h.Budget, color: budgetColor, line: dashDot}}
	}
	return memoryOverTime(f, end, lines, limits, nil)
}

// difference returns the verdict of a comparison: which run was faster, and which took less memory.
func difference(runs [2]*summary, names [2]string) string {
	for i, s := range runs {
		if run := runs[1-i]; s.status == record.Planned && run.status != record.Planned {
			each, all := "", ""
			if s.h.Cluster != nil {
				each, all = " in each worker", " in all"
			}
			return fmt.Sprintf("%s is a plan, %s a run: planned to peak at %s%s, it took %s%s", plain(names[i]), plain(names[1-i]), units.Bytes(s.h.Predicted.Host()), each, units.Bytes(run.peak), all)
		}
	}
	for i, s := range runs {
		if s.status != record.Done && s.status != record.Planned {
			return fmt.Sprintf("%s is no whole run (%s): its figures tell little", plain(names[i]), s.status)
		}
	}
	if runs[0].status == record.Planned {
		return "Two plans: " + plain(names[1]) + " would have " + factor(float64(runs[0].h.Predicted.Host()), float64(runs[1].h.Predicted.Host()), "the same peak", "a peak %s times smaller", "a peak %s times as large")
	}
	different := ""
	if runs[0].h.Title != runs[1].h.Title {
		different = "They compute different things: "
	}
	return different + plain(names[1]) + " " + factor(float64(runs[0].last), float64(runs[1].last), "took the same time", "was %s times faster", "took %s times as long") +
		", with " + factor(float64(runs[0].peak), float64(runs[1].peak), "the same peak", "a peak %s times smaller", "a peak %s times as large")
}

// factor returns the text alike where a and b differ by less than 5 %, and else less or more with their ratio.
func factor(a, b float64, alike, less, more string) string {
	switch {
	case a <= 0 || b <= 0 || a/b < 1.05 && b/a < 1.05:
		return alike
	case b < a:
		return fmt.Sprintf(less, Ratio(a/b))
	}
	return fmt.Sprintf(more, Ratio(b/a))
}

// measure is a figure of runs or of stages, and how it is written.
type measure[T any] struct {
	name  string
	of    func(T) int64
	write func(int64) string
}

// rowsOf returns the rows of a table that compares a and b, of the figures that either has.
func rowsOf[T any](a, b T, all []measure[T]) (rows [][]string) {
	for _, m := range all {
		if m.of(a) != 0 || m.of(b) != 0 {
			rows = append(rows, compared(m.name, m.of(a), m.of(b), m.write))
		}
	}
	return rows
}

var runMeasures = []measure[*summary]{
	{"workers", func(s *summary) int64 { return int64(s.h.Workers) }, units.Count},
	{"budget", func(s *summary) int64 { return s.h.Budget }, units.Bytes},
	{"time", func(s *summary) int64 { return int64(s.last) }, duration},
	{"peak", func(s *summary) int64 { return s.peak }, units.Bytes},
	{"predicted peak", func(s *summary) int64 { return s.h.Predicted.Host() }, units.Bytes},
	{"private memory of the process", (*summary).processPeak, units.Bytes},
	{"read", func(s *summary) int64 { return s.read }, units.Traffic},
	{"written", func(s *summary) int64 { return s.written }, units.Traffic},
	{"passes over stored data", func(s *summary) int64 { return int64(s.h.Passes()) }, units.Count},
	{"chunks computed", func(s *summary) int64 { return s.done }, units.Count},
	{"chunks that were there", (*summary).skipped, units.Count},
}

var stageMeasures = []measure[*stageSummary]{
	{"time", func(s *stageSummary) int64 { return int64(s.took()) }, duration},
	{"memory", func(s *stageSummary) int64 { return s.reserved.Host() }, units.Bytes},
	{"read", func(s *stageSummary) int64 { return s.read }, units.Traffic},
	{"written", func(s *stageSummary) int64 { return s.written }, units.Traffic},
}

func compareRuns(runs [2]*summary, names [2]string) Table {
	a, b := runs[0], runs[1]
	device := func(s *summary) string { return plain(cmp.Or(s.h.Device.Name, "cpu")) }
	return Table{Head: []string{"", plain(names[0]), plain(names[1]), "second ÷ first"}, Texts: 1, Rows: append([][]string{
		{"what", clip(runTitle(a.h), 40), clip(runTitle(b.h), 40), ""},
		{"ended", string(a.status), string(b.status), ""},
		{"device", device(a), device(b), ""},
	}, rowsOf(a, b, runMeasures)...)}
}

// compareStages pairs the stages in their order.
func compareStages(runs [2]*summary, names [2]string) Table {
	t := Table{Caption: "By pass", Head: []string{"", plain(names[0]), plain(names[1]), "second ÷ first"}, Texts: 1}
	for i := range min(max(len(runs[0].stages), len(runs[1].stages)), 20) {
		var st [2]*stageSummary
		for k := range st {
			st[k] = &stageSummary{Stage: &record.Stage{}}
			if i < len(runs[k].stages) {
				st[k] = runs[k].stages[i]
			}
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%d. what", i+1), clip(plain(st[0].Name), 40), clip(plain(st[1].Name), 40), ""},
			[]string{"chunks of", chunkShape(st[0]), chunkShape(st[1]), ""})
		t.Rows = append(t.Rows, rowsOf(st[0], st[1], stageMeasures)...)
	}
	return t
}

func chunkShape(st *stageSummary) string {
	if len(st.Chunks) == 0 {
		return "–"
	}
	return units.Shape(st.Chunks)
}

// compared is a row of two figures and their ratio.
func compared(name string, a, b int64, write func(int64) string) []string {
	row := []string{name, dashIfNone(a, write(a)), dashIfNone(b, write(b)), ""}
	if a > 0 && b > 0 {
		row[3] = Ratio(float64(b) / float64(a))
	}
	return row
}

func duration(n int64) string { return units.Duration(time.Duration(n)) }
