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
// nothing is fetched. A figure is described once, as a graph or a heatMap: both its picture
// and its options of ECharts follow from that.
//
// Every text that comes from a user or a file is escaped: in HTML by page.add, in
// the SVG by escape, and in scripts by encoding/json. Drawing streams over a
// record: its memory and the size of its output do not grow with the number of
// chunks.
package chart

import (
	"cmp"
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
// made, in their order. No run gives an empty Output. Runs that only show something are in its timeline.
func Report(runs []*record.Run, o Options) (Output, error) {
	if o.Mode == "" {
		o.Mode = Auto
	}
	all := make([]*summary, len(runs))
	for i, r := range runs {
		all[i] = summarize(r, share(len(runs)))
	}
	// Of all of them there is one timeline, and one table of the process's memory, in the first that is drawn.
	time := newTimeline(all)
	all = ordered(slices.DeleteFunc(all, func(s *summary) bool { return s.h.Shown != "" }))
	if len(all) == 0 {
		return Output{}, nil
	}
	views := make([]*view, len(all))
	for i, s := range all {
		drawn := i >= len(all)-maxDrawn || s.h.Process
		views[i] = newView(s, time, o.Mode, drawn)
		if drawn && s.status != record.Skipped {
			time = nil
		}
	}
	html, carries, err := renderReport(views, o)
	if err != nil {
		return Output{}, fmt.Errorf("report: %w", err)
	}
	return Output{HTML: html, Text: textReport(views), Library: carries}, nil
}

// ordered returns summaries in the order in which they are shown. What ended the cell comes first: the run that
// failed, or else the cell's process. The process also comes first where the cell has several runs, comes last where
// it took more than its budget, and is left out where its one run says everything.
func ordered(all []*summary) []*summary {
	own := slices.IndexFunc(all, func(s *summary) bool { return s.h.Process })
	if own < 0 || len(all) == 1 {
		return all
	}
	process, runs := all[own], slices.Concat(all[:own], all[own+1:])
	tells := func(s *summary) bool { return s.status == record.Failed || s.status == record.Cancelled }
	over, ended := process.peak > process.h.Budget, process.status != record.Done
	switch {
	case slices.ContainsFunc(runs, tells):
		slices.SortStableFunc(runs, func(a, b *summary) int { return cmp.Compare(mark(tells(b)), mark(tells(a))) })
	case ended || len(runs) > 1:
		return slices.Insert(runs, 0, process)
	}
	if over {
		runs = append(runs, process)
	}
	return runs
}

// notable is how much of the Go heap a line has to hold for advice on it.
const notable = 8 << 20

func largest(lines []line) (n int64) {
	for _, l := range lines {
		n = max(n, l.Live)
	}
	return n
}

// share returns among how many of n runs the marks of a figure are divided.
func share(n int) int { return min(n, maxDrawn) }
