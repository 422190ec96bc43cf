package chart

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// RunLine is a run as the run log lists it, under the name that people give it.
type RunLine struct {
	ID  string
	Run record.Summary
}

// RunLog lists runs, in the order given, out of all that there are.
func RunLog(lines []RunLine, all int) (Output, error) {
	s := sheet{Title: "Runs", Verdict: fmt.Sprintf("%s of %s runs, the latest first", units.Count(int64(len(lines))), units.Count(int64(all)))}
	if all == 0 {
		s.Verdict = "No run has left a record yet"
		return s.output(Options{})
	}
	t := table{Head: []string{"run", "what", "ended", "began", "time", "peak", "budget", "read", "written"}, Texts: 4}
	for _, l := range lines {
		t.Rows = append(t.Rows, runRow(l))
	}
	s.Tables = []table{t}
	s.Note = "%report RUN draws one again, %compare A B puts two side by side; last is the latest, last-1 the one before it."
	return s.output(Options{})
}

func runRow(l RunLine) []string {
	h := &l.Run.Header
	row := []string{l.ID, clip(runTitle(h), 60), string(l.Run.Status), h.Start.Local().Format("2 Jan 15:04:05"), "–", "–", units.Bytes(h.Budget), "–", "–"}
	if e := l.Run.End; e != nil && e.Status != record.Planned && e.Status != record.Skipped {
		row[4], row[5] = units.Duration(e.Duration), units.Bytes(e.Peak)
		if h.Process {
			row[5] = units.Bytes(e.ProcessPeak)
		}
		row[7], row[8] = dashIfNone(e.Read, units.Traffic(e.Read)), dashIfNone(e.Written, units.Traffic(e.Written))
	}
	return row
}

// runTitle is what a run computes, and where to.
func runTitle(h *record.Header) string {
	title := plain(cmp.Or(h.Title, "run "+h.Run))
	if h.Output != "" {
		title += " → " + plain(filepath.Base(h.Output))
	}
	return title
}

// Compare puts two runs side by side.
func Compare(a, b *record.Run, names [2]string) (Output, error) {
	runs := [2]*summary{summarize(a, 2), summarize(b, 2)}
	s := sheet{Title: plain(names[0]) + " and " + plain(names[1]), Verdict: difference(runs, names)}
	s.Tables = []table{compareRuns(runs, names), compareStages(runs, names)}
	if len(s.Tables[1].Rows) == 0 {
		s.Tables = s.Tables[:1]
	}
	return s.output(Options{})
}

// difference says what is most worth knowing: which run was faster, and which
// took less.
func difference(runs [2]*summary, names [2]string) string {
	for i, s := range runs {
		if s.status != record.Done {
			return fmt.Sprintf("%s is no whole run (%s): its figures tell little", plain(names[i]), s.status)
		}
	}
	different := ""
	if runs[0].h.Title != runs[1].h.Title {
		different = "They compute different things: "
	}
	return different + plain(names[1]) + " " + factor(float64(runs[0].last), float64(runs[1].last), "took the same time", "was %s times faster", "took %s times as long") +
		", with " + factor(float64(runs[0].peak), float64(runs[1].peak), "the same peak", "a peak %s times smaller", "a peak %s times as large")
}

// factor says in one of three ways how b is to a; within five in a hundred they are
// alike.
func factor(a, b float64, alike, less, more string) string {
	switch {
	case a <= 0 || b <= 0 || a/b < 1.05 && b/a < 1.05:
		return alike
	case b < a:
		return fmt.Sprintf(less, Ratio(a/b))
	}
	return fmt.Sprintf(more, Ratio(b/a))
}

func compareRuns(runs [2]*summary, names [2]string) table {
	t := table{Head: []string{"", plain(names[0]), plain(names[1]), "second ÷ first"}, Texts: 1}
	words := func(name string, of func(*summary) string) {
		t.Rows = append(t.Rows, []string{name, of(runs[0]), of(runs[1]), ""})
	}
	figures := func(name string, of func(*summary) int64, write func(int64) string) {
		if of(runs[0]) == 0 && of(runs[1]) == 0 {
			return
		}
		t.Rows = append(t.Rows, compared(name, of(runs[0]), of(runs[1]), write))
	}
	words("what", func(s *summary) string { return clip(runTitle(s.h), 60) })
	words("ended", func(s *summary) string { return string(s.status) })
	words("device", func(s *summary) string { return plain(cmp.Or(s.h.Device.Name, "cpu")) })
	figures("workers", func(s *summary) int64 { return int64(s.h.Workers) }, units.Count)
	figures("budget", func(s *summary) int64 { return s.h.Budget }, units.Bytes)
	figures("time", func(s *summary) int64 { return int64(s.last) }, duration)
	figures("peak", func(s *summary) int64 { return s.peak }, units.Bytes)
	figures("predicted peak", func(s *summary) int64 { return s.h.Predicted.Host() }, units.Bytes)
	figures("private memory of the process", (*summary).processPeak, units.Bytes)
	figures("read", func(s *summary) int64 { return s.read }, units.Traffic)
	figures("written", func(s *summary) int64 { return s.written }, units.Traffic)
	figures("passes over stored data", func(s *summary) int64 { return int64(s.passes()) }, units.Count)
	figures("chunks computed", func(s *summary) int64 { return s.done }, units.Count)
	figures("chunks that were there", func(s *summary) int64 { return s.there() }, units.Count)
	return t
}

// compareStages pairs the stages in their order.
func compareStages(runs [2]*summary, names [2]string) table {
	t := table{Caption: "By pass", Head: []string{"", plain(names[0]), plain(names[1]), "second ÷ first"}, Texts: 1}
	var none stageSummary
	none.Stage = &record.Stage{}
	for i := range min(max(len(runs[0].stages), len(runs[1].stages)), 20) {
		var st [2]*stageSummary
		for k := range st {
			st[k] = &none
			if i < len(runs[k].stages) {
				st[k] = runs[k].stages[i]
			}
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%d. what", i+1), clip(plain(st[0].Name), 40), clip(plain(st[1].Name), 40), ""},
			[]string{"chunks of", chunkShape(st[0]), chunkShape(st[1]), ""})
		for _, f := range []struct {
			name  string
			of    func(*stageSummary) int64
			write func(int64) string
		}{
			{"time", func(s *stageSummary) int64 { return int64(s.took()) }, duration},
			{"memory", func(s *stageSummary) int64 { return s.reserved.Host() }, units.Bytes},
			{"read", func(s *stageSummary) int64 { return s.read }, units.Traffic},
			{"written", func(s *stageSummary) int64 { return s.written }, units.Traffic},
		} {
			if f.of(st[0]) != 0 || f.of(st[1]) != 0 {
				t.Rows = append(t.Rows, compared(f.name, f.of(st[0]), f.of(st[1]), f.write))
			}
		}
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
