package run

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// InGroup makes the runs of an algorithm one in the run log and in reports, under a title: see package oocore's
// RunGroup.
func (o *Options) InGroup(title string, f func(set func(*Options), note func(series string, value float64)) error) error {
	if o.Group != nil || o.Dry != nil { // the outer algorithm's, or none that would be recorded
		return f(func(*Options) {}, func(string, float64) {})
	}
	g := &Group{title: title}
	if o.Report != nil {
		o.Report.Reset()
	}
	begun := time.Now()
	err := f(func(o *Options) { o.Group = g }, func(series string, value float64) {
		for i := range g.series {
			if g.series[i].Name == series {
				g.series[i].Values = append(g.series[i].Values, value)
				return
			}
		}
		g.series = append(g.series, record.Series{Name: series, Values: []float64{value}})
	})
	if g.workers != nil {
		g.workers.Close()
	}
	if failed := g.kept.Drop(); err == nil {
		err = failed
	}
	status := record.Done
	switch {
	case errors.Is(err, context.Canceled):
		status = record.Cancelled
	case err != nil:
		status = record.Failed
	case o.PlanOnly:
		status = record.Planned
	}
	merged := ""
	if dir, failed := o.Log(); failed == nil { // no run fails for want of a record
		merged, _ = record.Merge(dir, record.Header{Title: title, Cell: o.Cell, Series: g.series, Start: begun}, g.records(), status, err)
	}
	if o.Report != nil {
		name := ""
		if merged != "" {
			name = strings.TrimSuffix(filepath.Base(merged), filepath.Ext(merged))
		}
		o.Report.Group(status, title, name)
	}
	return err
}
