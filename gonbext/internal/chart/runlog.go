package chart

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// RunLine is a run as the run log lists it, under the name that people give it.
type RunLine struct {
	ID  string
	Run record.Summary
}

// RunLog lists runs, in the order given, out of all; unreadable ones are not among them.
func RunLog(lines []RunLine, all int, unreadable []record.Unreadable) (Output, error) {
	s := sheet{Title: "Runs", Verdict: fmt.Sprintf("%s of %s runs, the latest first", units.Count(int64(len(lines))), units.Count(int64(all)))}
	if all == 0 {
		s.Verdict = "No run has left a record yet"
		s.Note = unreadableNote(unreadable)
		return s.output(Options{Mode: None, Library: true})
	}
	t := Table{Head: []string{"run", "what", "ended", "began", "time", "peak", "budget", "read", "written"}, Texts: 4}
	for _, l := range lines {
		t.Rows = append(t.Rows, runRow(l))
	}
	s.Tables = []Table{t}
	s.Note = strings.TrimSpace("%report RUN draws one again, %compare A B puts two side by side; last is the latest, last-1 the one before it. " + unreadableNote(unreadable))
	return s.output(Options{Mode: None, Library: true})
}

// unreadableNote says what the list lacks, "" where that is nothing.
func unreadableNote(all []record.Unreadable) string {
	if len(all) == 0 {
		return ""
	}
	which := ""
	if len(all) > 1 {
		which = ", the latest"
	}
	return fmt.Sprintf("Besides these, %s cannot be read%s: %s.", counted(len(all), "record", "records"), which, plain(all[0].Err.Error()))
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
