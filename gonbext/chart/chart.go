// Package chart draws what runs left in their records: the report under a
// notebook cell, the page that --report writes, the progress bar, and the
// tables of footprints. It draws from records alone, after the fact or beside
// the run, and never steers one. It also draws what cells show of arrays: cards and figures.
//
// A report is layered, so that something shows everywhere: text for terminals;
// HTML whose charts are pictures (an img holding an SVG, which survives in
// notebooks that are not trusted) with the numbers in a table; and a script
// that replaces the pictures with live ECharts where scripts may run. The
// library travels with one report of a notebook, the others wait for it;
// nothing is fetched.
//
// Every text that comes from a user or a file is escaped by html/template, in
// the SVG by escape, and in scripts by encoding/json. Drawing streams over a
// record: its memory and the size of its output do not grow with the number of
// chunks.
package chart

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/record"
)

// Output is one thing to show, in two forms of the same content.
type Output struct {
	HTML    string
	Text    string // for terminals, without escape sequences
	Library bool   // HTML carries the chart library
}

// Mode says how charts are drawn in HTML.
type Mode string

// The modes of --chart.
const (
	Auto Mode = "auto" // live where scripts run, pictures elsewhere
	SVG  Mode = "svg"  // pictures only
	None Mode = "none" // no charts: the verdict, the tables, the suggestion
)

// ParseMode reads the value of --chart; "" is Auto.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return Auto, nil
	case Auto, SVG, None:
		return m, nil
	}
	return "", fmt.Errorf("--chart %q: it has to be auto, svg or none", s)
}

// Options says how a report is drawn.
type Options struct {
	Mode    Mode // Auto if empty
	Library bool // carry the chart library; once for each notebook will do
}

// maxDrawn is how many runs of a cell are drawn; of the others the verdict is
// said. A cell that saves in a loop shows its latest.
const maxDrawn = 4

// Report is the report of one cell, or of one command: of the runs that it
// made, in their order. No run gives an empty Output.
func Report(runs []*record.Run, o Options) (Output, error) {
	if len(runs) == 0 {
		return Output{}, nil
	}
	if o.Mode == "" {
		o.Mode = Auto
	}
	runs = ordered(runs)
	views := make([]*view, len(runs))
	for i, r := range runs {
		views[i] = newView(summarize(r, share(len(runs))), o.Mode, i >= len(runs)-maxDrawn || r.Header.Process)
	}
	html, carries, err := renderReport(views, o)
	if err != nil {
		return Output{}, fmt.Errorf("report: %w", err)
	}
	return Output{HTML: html, Text: textReport(views), Library: carries}, nil
}

// ordered has the cell's own process last, but first where it ended before its cell did, and
// leaves it out where its runs say all that there is to say: it kept to the budget, and no
// line of Go took much.
func ordered(runs []*record.Run) []*record.Run {
	own := slices.IndexFunc(runs, func(r *record.Run) bool { return r.Header.Process })
	if own < 0 || len(runs) == 1 {
		return runs
	}
	process, rest := runs[own], slices.Concat(runs[:own], runs[own+1:])
	e := process.End
	told := slices.ContainsFunc(rest, func(r *record.Run) bool { return r.Status() == record.Failed || r.Status() == record.Cancelled })
	if e == nil || told && e.ProcessPeak <= process.Header.Budget || e.Status == record.Done && e.ProcessPeak <= process.Header.Budget && largest(e.Lines) < notable {
		return rest
	}
	if !told && (e == nil || e.Status != record.Done) {
		return slices.Insert(rest, 0, process)
	}
	return append(rest, process)
}

// notable is how much of the Go heap a line has to hold for a report of runs to
// speak of it.
const notable = 8 << 20

func largest(lines []record.Line) (n int64) {
	for _, l := range lines {
		n = max(n, l.Live)
	}
	return n
}

// share is how many of a figure's marks each of n runs may take.
func share(n int) int { return min(n, maxDrawn) }
