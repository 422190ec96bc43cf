package record

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Series are figures that an algorithm notes as it goes, such as its relative error by
// iteration.
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// with is what both stages move and take; nil where a device computes neither.
func (x *Transfers) with(y *Transfers) *Transfers {
	if x == nil || y == nil {
		return x
	}
	sum := *x
	sum.Up, sum.Down = sum.Up+y.Up, sum.Down+y.Down
	sum.Seconds, sum.CPU, sum.Disk = sum.Seconds+y.Seconds, sum.CPU+y.CPU, sum.Disk+y.Disk
	return &sum
}

// Merge makes one record of several that followed each other, by paths, and removes
// them. h gives its name and figures of its own; stages that are alike, as those of
// iterations are, become one, with the chunks of all of them in order. Records that cannot
// be read are left out; where none can be, the path is "".
func Merge(dir string, h Header, paths []string, status Status, failure error) (path string, err error) {
	var runs []*Run
	for _, path := range paths {
		if r, err := Read(path); err == nil {
			runs = append(runs, r)
		}
	}
	end := End{Status: status}
	if failure != nil {
		end.Error = failure.Error()
	}
	stage := make([][]int, len(runs))  // of the merged record, by run and stage
	before := make([][]int, len(runs)) // tasks that the stage has of earlier runs
	for i, r := range runs {
		if i == 0 {
			title, cell, within, output, series, start := h.Title, h.Cell, h.Within, h.Output, h.Series, h.Start
			h = r.Header
			h.Title, h.Cell, h.Within, h.Output, h.Series, h.Start = title, cell, within, output, series, start
			h.Stages, h.Predicted, h.Need, h.Device.Predicted, h.Resume, h.Changed, h.WhatIf, h.Steps, h.Result, h.Warnings = nil, Bytes{}, 0, 0, "", "", nil, 0, nil, nil
			if h.Start.IsZero() {
				h.Start = r.Header.Start
			}
		}
		h.Steps += max(r.Header.Steps, 1)
		for _, w := range r.Header.Warnings {
			if !slices.Contains(h.Warnings, w) {
				h.Warnings = append(h.Warnings, w)
			}
		}
		if i > 0 {
			h.Seconds = h.Seconds.Plus(r.Header.Seconds)
		}
		for k, s := range r.Header.Stages {
			at := slices.IndexFunc(h.Stages, func(o Stage) bool {
				return o.Name == s.Name && o.Kind == s.Kind && slices.Equal(o.Shape, s.Shape) && slices.Equal(o.Chunks, s.Chunks)
			})
			if at < 0 {
				at = len(h.Stages)
				var from []int
				for _, f := range s.From {
					if f >= 0 && f < k { // else the record is damaged
						from = append(from, stage[i][f])
					}
				}
				s.From = from
				h.Stages = append(h.Stages, s)
				before[i] = append(before[i], 0)
			} else {
				before[i] = append(before[i], h.Stages[at].Tasks)
				h.Stages[at].Tasks += s.Tasks
				h.Stages[at].Runs = max(h.Stages[at].Runs, 1) + max(s.Runs, 1)
				h.Stages[at].Transfers = h.Stages[at].Transfers.with(s.Transfers)
				h.Stages[at].Read += s.Read
				h.Stages[at].Written += s.Written
				h.Stages[at].add(s.Work)
				h.Stages[at].Seconds = h.Stages[at].Seconds.Plus(s.Seconds)
			}
			for len(end.Stages) < len(h.Stages) {
				end.Stages = append(end.Stages, Spent{})
			}
			if r.End != nil && k < len(r.End.Stages) {
				spent, more := &end.Stages[at], r.End.Stages[k]
				spent.Tasks, spent.Seconds, spent.CPU = spent.Tasks+more.Tasks, spent.Seconds+more.Seconds, spent.CPU+more.CPU
			}
			stage[i] = append(stage[i], at)
		}
		if r.Header.Predicted.Host() > h.Predicted.Host() {
			h.Predicted = r.Header.Predicted
		}
		h.Need = max(h.Need, r.Header.Need)
		if c := r.Header.Cluster; c != nil && h.Cluster != nil && c.Memory > h.Cluster.Memory {
			h.Cluster = c
		}
		h.Overhead = max(h.Overhead, r.Header.Overhead)
		h.Device.Predicted = max(h.Device.Predicted, r.Header.Device.Predicted)
		if e := r.End; e != nil {
			if e.Peak > end.Peak {
				end.Peak, end.PeakBy = e.Peak, e.PeakBy
			}
			end.DevicePeak, end.ProcessPeak = max(end.DevicePeak, e.DevicePeak), max(end.ProcessPeak, e.ProcessPeak)
			end.OOMEvents += e.OOMEvents
			end.Computed, end.Skipped = end.Computed+e.Computed, end.Skipped+e.Skipped
			end.Read, end.Written, end.Lost = end.Read+e.Read, end.Written+e.Written, end.Lost+e.Lost
		}
	}
	if len(runs) == 0 {
		return "", nil
	}
	end.Duration = time.Since(h.Start)
	w, err := Create(dir, h)
	if err != nil {
		return "", err
	}
	var done, read, written int64
	for i, r := range runs {
		after := r.Header.Start.Sub(h.Start)
		for t := range r.Tasks() {
			t.Start += after
			if t.Chunk >= 0 {
				t.Chunk += int64(before[i][t.Stage])
			}
			t.Stage = uint16(stage[i][t.Stage])
			w.Task(t)
		}
		var last Sample
		for s := range r.Samples() {
			last = *s
			s.At += after
			s.Done, s.Read, s.Written = s.Done+done, s.Read+read, s.Written+written
			w.Sample(*s)
		}
		for e := range r.Events() {
			e.At += after
			e.Stage = uint16(stage[i][e.Stage])
			w.Event(*e)
		}
		done, read, written = done+last.Done, read+last.Read, written+last.Written
	}
	err = w.End(end)
	for _, path := range paths {
		if failed := os.Remove(path); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return w.Path(), err
}
