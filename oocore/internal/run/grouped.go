package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/exec/remote"
	"github.com/gonbext/gonbext/oocore/record"
)

// Group is the runs of one algorithm.
type Group struct {
	title  string
	series []record.Series
	kept   device.KeptInputs // on the device of all runs

	mu      sync.Mutex // of what follows: runs may overlap
	steps   int
	workers *remote.Processes // of all runs; nil where tasks run in this process
	paths   [][]string        // of records: of single runs, of those that were many such, and so on
}

// share returns the worker processes of the algorithm's first run for each of its runs.
func (g *Group) share(p *remote.Processes) *remote.Processes {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.workers == nil {
		p.Keep, g.workers = true, p
	}
	return g.workers
}

// create begins the record of the next run.
func (g *Group) create(dir string, h record.Header) (*record.Writer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steps++
	name, _, _ := strings.Cut(g.title, ": ") // without what it is of
	h.Title = fmt.Sprintf("%s, step %d", name, g.steps)
	h.Within, h.Cell = h.Cell, record.Unreported
	g.compact(dir)
	w, err := record.Create(dir, h)
	if err == nil {
		g.add(0, w.Path())
	}
	return w, err
}

// atOnce is how many records of an algorithm become one while it runs, so that it does not
// fill the run log: that keeps a few hundred.
const atOnce = 32

// compact merges records, from atOnce of them on, when all runs so far have ended.
func (g *Group) compact(dir string) {
	if len(g.paths) == 0 || len(g.paths[0]) < atOnce || slices.ContainsFunc(g.paths[0], isOpen) {
		return
	}
	for i := 0; i < len(g.paths) && len(g.paths[i]) >= atOnce; i++ {
		merged, _ := record.Merge(dir, record.Header{Cell: record.Unreported}, g.paths[i], record.Done, nil)
		if merged == "" {
			return
		}
		g.paths[i] = nil
		g.add(i+1, merged)
	}
}

// isOpen reports a record that is not complete yet.
func isOpen(path string) bool {
	r, err := record.Read(path)
	return err == nil && r.End == nil
}

func (g *Group) add(level int, path string) {
	if level == len(g.paths) {
		g.paths = append(g.paths, nil)
	}
	g.paths[level] = append(g.paths[level], path)
}

// records are the records, the oldest first.
func (g *Group) records() (paths []string) {
	for _, level := range slices.Backward(g.paths) {
		paths = append(paths, level...)
	}
	return paths
}

// grouped makes a run one of a group: its record is a step, its worker processes and what it keeps on the device are
// the group's.
func (g *Group) grouped(next Runner) Runner {
	return func(ctx context.Context, j *Job) (Result, error) {
		j.create = g.create
		switch e := j.env.Executor.(type) {
		case *remote.Processes:
			j.env.Executor = g.share(e)
		case exec.OnDevice:
			if end, ok := g.kept.Use(); ok {
				defer end()
				e.Kept = &g.kept
				j.env.Executor = e
			}
		}
		return next(ctx, j)
	}
}

// report begins what is said of one run in a report, and returns what ends it. A run by itself has the report
// for itself, others add to that of their group.
func (g *Group) report(r Report) (end func()) {
	if g == nil {
		r.Reset()
		return func() {}
	}
	g.mu.Lock()
	return g.mu.Unlock
}
