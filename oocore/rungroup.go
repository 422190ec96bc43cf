package oocore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/record"
)

// runGroup is the runs of one algorithm.
type runGroup struct {
	title  string
	series []record.Series
	kept   exec.KeptInputs // on the device of all runs

	mu      sync.Mutex // of what follows: runs may overlap
	steps   int
	workers *exec.Processes // of all runs; nil where tasks run in this process
	paths   [][]string      // of records: of single runs, of those that were many such, and so on
}

// share returns the worker processes of the algorithm's first run for each of its runs.
func (t *runGroup) share(p *exec.Processes) *exec.Processes {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.workers == nil {
		p.Keep, t.workers = true, p
	}
	return t.workers
}

// create begins the record of the next run.
func (t *runGroup) create(dir string, h record.Header) (*record.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps++
	name, _, _ := strings.Cut(t.title, ": ") // without what it is of
	h.Title = fmt.Sprintf("%s, step %d", name, t.steps)
	h.Within, h.Cell = h.Cell, record.Unreported
	t.compact(dir)
	w, err := record.Create(dir, h)
	if err == nil {
		t.add(0, w.Path())
	}
	return w, err
}

// atOnce is how many records of an algorithm become one while it runs, so that it does not
// fill the run log: that keeps a few hundred.
const atOnce = 32

// compact merges records, from atOnce of them on, when all runs so far have ended.
func (t *runGroup) compact(dir string) {
	if len(t.paths) == 0 || len(t.paths[0]) < atOnce || slices.ContainsFunc(t.paths[0], isOpen) {
		return
	}
	for i := 0; i < len(t.paths) && len(t.paths[i]) >= atOnce; i++ {
		merged, _ := record.Merge(dir, record.Header{Cell: record.Unreported}, t.paths[i], record.Done, nil)
		if merged == "" {
			return
		}
		t.paths[i] = nil
		t.add(i+1, merged)
	}
}

// isOpen reports a record that is not complete yet.
func isOpen(path string) bool {
	r, err := record.Read(path)
	return err == nil && r.End == nil
}

func (t *runGroup) add(level int, path string) {
	if level == len(t.paths) {
		t.paths = append(t.paths, nil)
	}
	t.paths[level] = append(t.paths[level], path)
}

// records are the records, the oldest first.
func (t *runGroup) records() (paths []string) {
	for _, level := range slices.Backward(t.paths) {
		paths = append(paths, level...)
	}
	return paths
}

// RunGroup makes the runs of an algorithm one in the run log and in reports, under a title:
// their passes, their memory one after the other, and the figures that the algorithm notes,
// such as its error after each iteration. f gives its options to all of its runs, which follow
// each other.
func (internals) RunGroup(title string, opts []Option, f func(opts []Option, note func(series string, value float64)) error) error {
	s, err := applyOptions(opts)
	if err != nil {
		return err
	}
	if s.parent != nil || s.dry != nil { // the outer algorithm's, or none that would be recorded
		return f(opts, func(string, float64) {})
	}
	t := &runGroup{title: title}
	if s.report != nil {
		*s.report = RunReport{}
	}
	begun := time.Now()
	inner := append(opts[:len(opts):len(opts)], set(func(s *settings) { s.parent = t }))
	err = f(inner, func(series string, value float64) {
		for i := range t.series {
			if t.series[i].Name == series {
				t.series[i].Values = append(t.series[i].Values, value)
				return
			}
		}
		t.series = append(t.series, record.Series{Name: series, Values: []float64{value}})
	})
	if t.workers != nil {
		t.workers.Close()
	}
	if failed := t.kept.Drop(); err == nil {
		err = failed
	}
	status := record.Done
	switch {
	case errors.Is(err, context.Canceled):
		status = record.Cancelled
	case err != nil:
		status = record.Failed
	case s.planned:
		status = record.Planned
	}
	merged := ""
	if dir, failed := s.runLog(); failed == nil { // no run fails for want of a record
		merged, _ = record.Merge(dir, record.Header{Title: title, Cell: s.cell, Series: t.series, Start: begun}, t.records(), status, err)
	}
	if s.report != nil {
		s.report.Status, s.report.Title, s.report.Run = string(status), title, ""
		if merged != "" {
			s.report.Run = strings.TrimSuffix(filepath.Base(merged), filepath.Ext(merged))
		}
	}
	return err
}
