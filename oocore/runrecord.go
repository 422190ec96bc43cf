package oocore

import (
	"context"
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/internal/rates"
	"github.com/gonbext/gonbext/oocore/record"
)

// recorded reports whether runs are to leave records.
func (s *settings) recorded() bool { return s.hosted || record.Asked() }

// runLog is where the records of runs go.
func (s *settings) runLog() (dir string, err error) {
	if !s.recorded() {
		return "", record.ErrOff
	}
	return record.Dir()
}

// header is what the run's record begins with.
func (r *run) header() record.Header {
	if r.planned {
		return r.plan.PlanHeader()
	}
	return r.plan.Header()
}

// record begins the run's record. It returns nil where nobody asks for one, or the run log cannot
// be written: the result is computed all the same.
func (r *run) record() *record.Writer {
	dir, err := r.runLog()
	if err != nil {
		return nil
	}
	h := r.header()
	h.Cell, h.PlanOnly, h.WhatIf = r.cell, r.planned, r.alternatives
	if r.checkpoint != nil && r.cluster == nil { // whose stages are runs of their own, and one to their user
		r.checkpoint.Describe(&h)
	}
	rates.Predict(&h, r.limits)
	if r.cluster != nil {
		r.cluster.Predict(&h, r.plan)
	}
	h.Machine, _ = json.Marshal(r.limits)
	create := record.Create
	if r.parent != nil {
		create = r.parent.create
	}
	w, err := create(dir, h)
	if err != nil {
		return nil
	}
	return w
}

// recordOnly leaves the record of a run that computed nothing.
func (r *run) recordOnly(ctx context.Context, s record.Status) error {
	end := record.End{Status: s}
	for i := range r.plan.Stages {
		if s == record.Skipped {
			end.Skipped += int64(r.plan.Stages[i].Tasks())
		}
	}
	w := r.record()
	r.ran(ctx, w.Run(), &end)
	return w.End(end)
}
