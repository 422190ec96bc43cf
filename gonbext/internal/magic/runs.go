package magic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/record"
)

// runLog is the run log under the names that people give runs.
type runLog struct {
	runs     []record.Summary // the latest first: of the notebook, or of all
	ids      []string
	numbered bool             // ids are numbers, 1 the notebook's first run
	all      []record.Summary // whoever's
	dir      string
}

// readRunLog reads the runs of a notebook, whose cells begin with its name; of all
// notebooks and commands where it is "".
func readRunLog(notebook string) (*runLog, error) {
	dir, err := record.Dir()
	if err != nil {
		return nil, err
	}
	runs, err := record.List(dir)
	if err != nil {
		return nil, err
	}
	withRuns := map[string]bool{}
	for _, r := range runs {
		withRuns[r.Header.Cell] = withRuns[r.Header.Cell] || !r.Header.Process && r.Header.Shown == ""
	}
	all := slices.DeleteFunc(runs, func(r record.Summary) bool {
		return r.Header.Cell == record.Unreported || r.Header.Shown != "" || r.Header.Process && withRuns[r.Header.Cell]
	})
	if notebook == "" {
		return &runLog{all, shortNames(all), false, all, dir}, nil
	}
	l := &runLog{numbered: true, all: all, dir: dir}
	for _, r := range all {
		if strings.HasPrefix(r.Header.Cell, notebook) {
			l.runs = append(l.runs, r)
		}
	}
	for i := range l.runs {
		l.ids = append(l.ids, strconv.Itoa(len(l.runs)-i))
	}
	return l, nil
}

// seconds is the length of a run's name up to the second, as in 20261121-035827.
const seconds = len("20061102-150405")

// shortNames are the runs' names, cut to the second where that tells them from all
// others.
func shortNames(runs []record.Summary) []string {
	count := map[string]int{}
	cut := func(s record.Summary) string { return s.Header.Run[:min(seconds, len(s.Header.Run))] }
	for _, r := range runs {
		count[cut(r)]++
	}
	names := make([]string, len(runs))
	for i, r := range runs {
		if names[i] = cut(r); count[names[i]] > 1 {
			names[i] = r.Header.Run
		}
	}
	return names
}

// find is the run of a name: last, last-1, plan for the last plan, plan-1, a number of the
// notebook's, or any beginning of a run's name that no other has.
func (l *runLog) find(name string) (record.Summary, error) {
	if len(l.all) == 0 {
		return record.Summary{}, cmp.Or(l.unreadable(name), errors.New("no run has left a record yet"))
	}
	if n, err := strconv.Atoi(name); err == nil && l.numbered && len(name) < 7 {
		if n < 1 || n > len(l.runs) {
			return record.Summary{}, fmt.Errorf("there is no run %d: this notebook has %d", n, len(l.runs))
		}
		return l.runs[len(l.runs)-n], nil
	}
	for word, planned := range map[string]bool{"last": false, "plan": true} {
		back, ok := strings.CutPrefix(name, word)
		if !ok {
			continue
		}
		var of []record.Summary
		for _, r := range l.runs {
			if r.Header.PlanOnly == planned {
				of = append(of, r)
			}
		}
		n, err := strconv.Atoi(strings.TrimPrefix(back, "-"))
		if back == "" {
			n, err = 0, nil
		}
		if err != nil || n < 0 || back != "" && back[0] != '-' {
			return record.Summary{}, fmt.Errorf("there is no run %q, did you mean %s-1?", name, word)
		}
		if n >= len(of) {
			return record.Summary{}, fmt.Errorf("there is no %s: the log has %d %ss, %%runs lists them", name, len(of), map[bool]string{true: "plan", false: "run"}[planned])
		}
		return of[n], nil
	}
	var found []int
	for i, r := range l.all {
		if strings.HasPrefix(r.Header.Run, name) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return record.Summary{}, cmp.Or(l.unreadable(name), fmt.Errorf("there is no run %q, did you mean %s? %%runs lists them", name, nearest(name, append([]string{"last", "plan"}, l.ids...))))
	case 1:
		return l.all[found[0]], nil
	}
	return record.Summary{}, fmt.Errorf("%q is the beginning of %d runs, %s for one", name, len(found), l.all[found[0]].Header.Run)
}

// readRuns reads the runs of a notebook that have these names.
func readRuns(notebook string, names ...string) (runs []*record.Run, err error) {
	log, err := readRunLog(notebook)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, err := log.find(name)
		if err != nil {
			return nil, err
		}
		run, err := record.Read(s.Path)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// unreadable is why a run of the name, which has a record, is not among the runs; nil where
// it has none.
func (l *runLog) unreadable(name string) error {
	all, err := record.ListUnreadable(l.dir)
	for _, u := range all {
		if strings.HasPrefix(filepath.Base(u.Path), name) {
			return u.Err
		}
	}
	return err
}

// defaultRuns is how many runs %runs lists.
const defaultRuns = 20

// runs lists the latest runs.
func (r *rewriting) runs(operands []string) error {
	notebook := r.notebook
	if len(operands) > 0 && operands[0] == "all" {
		notebook, operands = "", operands[1:]
	}
	if err := atMostOne(operands, "number"); err != nil {
		return err
	}
	limit := defaultRuns
	if len(operands) == 1 {
		n, err := strconv.Atoi(operands[0])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of runs, as in %%runs 50", operands[0])
		}
		limit = n
	}
	r.later("%runs", func(context.Context, relay.Now) (chart.Output, error) {
		log, err := readRunLog(notebook)
		if err != nil {
			return chart.Output{}, err
		}
		var lines []chart.RunLine
		for i, s := range log.runs[:min(limit, len(log.runs))] {
			lines = append(lines, chart.RunLine{ID: log.ids[i], Run: s})
		}
		unreadable, err := record.ListUnreadable(log.dir)
		if err != nil {
			return chart.Output{}, err
		}
		return chart.RunLog(lines, len(log.runs), unreadable)
	})
	return nil
}

// compare puts two runs side by side.
func (r *rewriting) compare(given []setting, operands []string) error {
	if len(operands) != 2 {
		return fmt.Errorf("it takes two runs, as in %%compare last-1 last, and got %d", len(operands))
	}
	names, notebook, mode := [2]string(slices.Clone(operands)), r.notebook, modeOf(given)
	r.later("%compare", func(_ context.Context, now relay.Now) (chart.Output, error) {
		runs, err := readRuns(notebook, names[:]...)
		if err != nil {
			return chart.Output{}, err
		}
		return chart.Compare(runs[0], runs[1], names, chart.Options{Mode: mode, Library: now.Library})
	})
	return nil
}

// modeOf is the value of --chart, which has been checked.
func modeOf(given []setting) chart.Mode {
	return chart.Mode(cmp.Or(valueOf(given, chartFlag), string(chart.Auto)))
}

// valueOf is the value of a flag, "" where it is not given.
func valueOf(given []setting, f flag) string {
	for _, s := range given {
		if s.name == f.name {
			return s.value
		}
	}
	return ""
}

// report draws a run that is recorded again, the latest where none is named, and writes it
// as a page where --html says.
func (r *rewriting) report(given []setting, operands []string) error {
	if err := atMostOne(operands, "run"); err != nil {
		return err
	}
	name, notebook, mode, page := "last", r.notebook, modeOf(given), valueOf(given, htmlFlag)
	if len(operands) == 1 {
		name = operands[0]
	}
	r.later("%report", func(_ context.Context, now relay.Now) (chart.Output, error) {
		runs, err := readRuns(notebook, name)
		if err != nil {
			return chart.Output{}, err
		}
		if page != "" {
			html, err := chart.Standalone(runs[0].Header.Title, runs)
			if err == nil {
				err = os.WriteFile(from(now.Dir, page), html, 0o644)
			}
			if err != nil {
				return chart.Output{}, err
			}
		}
		return chart.Report(runs, chart.Options{Mode: mode, Library: now.Library})
	})
	return nil
}
