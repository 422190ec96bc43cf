package main

import (
	"cmp"
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

// figures are a command's runs in numbers, what scripts and benchmarks read: the last
// one, which says the budget and the device, and those that its expression took before.
// Peaks are the highest of all, times and counts their sum. All sizes are bytes.
type figures struct {
	Status        string          `json:"status"` // of the last: done, skipped, planned; failed and cancelled ones have an error
	Title         string          `json:"title"`
	Output        string          `json:"output,omitempty"`
	Outputs       []string        `json:"outputs,omitempty"` // where there are several
	Run           string          `json:"run"`               // the last
	Seconds       float64         `json:"seconds"`
	Budget        int64           `json:"budget"`
	Need          int64           `json:"need"`           // the smallest budget that would do, and the limit of a process with it
	PredictedPeak int64           `json:"predicted_peak"` // of the run's buffers
	MeasuredPeak  int64           `json:"measured_peak"`
	Passes        int             `json:"passes"` // over stored data; alike ones of an algorithm are one
	Chunks        int64           `json:"chunks"` // over all passes
	Computed      int64           `json:"computed"`
	Skipped       int64           `json:"skipped"`
	ReadBytes     int64           `json:"read_bytes"`
	WrittenBytes  int64           `json:"written_bytes"`
	Cluster       *record.Cluster `json:"cluster,omitempty"` // of a plan for one the budget and the peak are those of each worker
	Device        deviceFigures   `json:"device"`
	// Requests are those to object stores and web servers, by kind: of a plan as counted from a cold start, of a run as this process
	// has sent them; null of one in other processes. Traffic has them by place. RequestsAbout says why a run may ask for somewhat
	// more or less than its plan.
	Requests      map[string]int64 `json:"requests"`
	RequestsAbout string           `json:"requests_about,omitempty"`
	Traffic       []record.Traffic `json:"traffic,omitempty"`
	Cost          *cost            `json:"cost,omitempty"`
	WorkerSeconds float64          `json:"worker_seconds,omitempty"` // of a plan for a cluster
	Resume        string           `json:"resume,omitempty"`         // why it started over where an earlier run left something
	Changed       string           `json:"changed,omitempty"`        // what of the inputs has changed since an earlier run, whose result is updated
	Value         *result          `json:"value,omitempty"`          // without an output: nested lists of an array's elements
	Warnings      []string         `json:"warnings,omitempty"`       // about what the expression makes of its inputs
	Stdin         *stdinFigures    `json:"stdin,omitempty"`          // where an array comes from standard input
	Error         string           `json:"error,omitempty"`          // of what had to be done after the run
	// Stages are those of the last run, as planned and as measured.
	Stages []record.StageReport `json:"stages"`
	// PredictedSeconds is of all runs together; nil where no earlier run has told. A range of
	// more than a factor of two is shown nowhere but here.
	PredictedSeconds *record.Seconds `json:"predicted_seconds,omitempty"`
}

// stdinFigures are of an array that comes through a pipe.
type stdinFigures struct {
	Bytes   int64 `json:"bytes"`
	Spooled bool  `json:"spooled"` // to a temporary file, before the run
}

type deviceFigures struct {
	Name          string `json:"name"`
	PredictedPeak int64  `json:"predicted_peak"`
	MeasuredPeak  int64  `json:"measured_peak"`
	OOMEvents     int    `json:"oom_events"`
	// What follows is of runs that a device computed.
	LinkBytes int64         `json:"link_bytes,omitempty"` // that crossed the link
	Lanes     *record.Lanes `json:"lanes,omitempty"`      // seconds
	Events    []string      `json:"events,omitempty"`     // what happened where it was out of memory
}

// add adds what the stages of a run did on the device.
func (d *deviceFigures) add(stages []record.StageReport) {
	for i := range stages {
		m := stages[i].Measured
		if m == nil || m.Lanes == nil {
			continue
		}
		if d.Lanes == nil {
			d.Lanes = new(record.Lanes)
		}
		d.LinkBytes += m.Moved
		d.Lanes.Upload += m.Lanes.Upload
		d.Lanes.Compute += m.Lanes.Compute
		d.Lanes.Download += m.Lanes.Download
	}
}

// errNoRecord is of a run whose record could not be written.
var errNoRecord = errors.New("the run has no record: set GONBEXT_RUNS to a folder that can be written")

// ended reports that the records of all runs are whole.
func ended(runs []*record.Run) bool {
	return !slices.ContainsFunc(runs, func(r *record.Run) bool { return r.End == nil })
}

// figuresOf are the figures of runs that have ended. Without records they are those of the
// report of the last.
func figuresOf(runs []*record.Run, r *oocore.RunReport) *figures {
	f := &figures{Status: r.Status, Title: r.Title, Warnings: r.Warnings}
	if f.Outputs = r.Outputs; len(r.Outputs) == 1 {
		f.Output, f.Outputs = r.Outputs[0], nil
	}
	if len(runs) == 0 {
		f.Need, f.Seconds, f.Budget, f.PredictedPeak, f.MeasuredPeak, f.Passes = r.Need, r.Seconds, r.Budget, r.PredictedPeak, r.MeasuredPeak, r.Passes
		f.Chunks, f.Computed, f.Skipped, f.ReadBytes, f.WrittenBytes = r.Chunks, r.Computed, r.Skipped, r.Read, r.Written
		f.Device = deviceFigures{Name: r.Device, PredictedPeak: r.DevicePredictedPeak, MeasuredPeak: r.DeviceMeasuredPeak, OOMEvents: r.OOMEvents}
		return f
	}
	last := runs[len(runs)-1].Header
	f.Stages, f.Run, f.Budget, f.Resume, f.Changed = runs[len(runs)-1].Explain(), last.Run, last.Budget, last.Resume, last.Changed
	f.Cluster = last.Cluster
	f.Device.Name = cmp.Or(last.Device.Name, "cpu")
	for i, r := range runs {
		h, end := r.Header, r.End
		if f.PredictedSeconds = f.PredictedSeconds.Plus(h.Seconds); i == 0 {
			f.PredictedSeconds = h.Seconds
		}
		f.Need = max(f.Need, h.Need)
		f.Seconds += end.Duration.Seconds()
		f.PredictedPeak, f.MeasuredPeak = max(f.PredictedPeak, h.Predicted.Host()), max(f.MeasuredPeak, end.Peak)
		f.Computed, f.Skipped = f.Computed+end.Computed, f.Skipped+end.Skipped
		f.ReadBytes, f.WrittenBytes = f.ReadBytes+end.Read, f.WrittenBytes+end.Written
		f.Passes += h.Passes()
		d := &f.Device
		d.PredictedPeak, d.MeasuredPeak = max(d.PredictedPeak, h.Device.Predicted), max(d.MeasuredPeak, end.DevicePeak)
		d.OOMEvents += end.OOMEvents
		for e := range r.Events() {
			d.Events = append(d.Events, h.Say(e))
		}
		if h.Device.Memory > 0 {
			d.add(r.Explain())
		}
		for _, s := range h.Stages {
			f.Chunks += int64(s.Tasks)
		}
	}
	return f
}
