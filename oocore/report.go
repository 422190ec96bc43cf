package oocore

import (
	"cmp"
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/record"
)

// The ways in which a run ends, as RunReport.Status says them.
const (
	StatusDone      = string(record.Done)
	StatusSkipped   = string(record.Skipped) // the same result was saved before
	StatusFailed    = string(record.Failed)
	StatusCancelled = string(record.Cancelled)
	StatusPlanned   = string(record.Planned)
)

// RunReport is what a run did. Of an algorithm of several runs it is their sum, with the
// highest peaks.
type RunReport struct {
	Status  string   // done, skipped, failed, cancelled, planned
	Title   string   // the expression
	Outputs []string // paths that hold results, or would under a plan: of a run that failed, those that were whole by then
	Run     string   // name of its record, see package record; empty where there is none
	Seconds float64
	// Warnings say of which inputs the numbers were taken as they are stored, though attributes say
	// that they stand for others.
	Warnings []string

	Budget, PredictedPeak, MeasuredPeak int64 // bytes; peaks are of the run's buffers
	Need                                int64 // the smallest budget that would do, of the whole process: see Plan.Need

	Passes                    int   // over stored data, as Plan counts them
	Chunks, Computed, Skipped int64 // of all stages
	Read, Written             int64 // bytes from and to files

	Device                                  string // that computed
	DevicePredictedPeak, DeviceMeasuredPeak int64
	OOMEvents                               int // times that the device had too little memory
}

// Report fills r with what the run did, when it has ended: also by an error, and where
// nothing had to be computed.
func Report(r *RunReport) Option {
	return option(func(s *settings) error {
		if r == nil {
			return errors.New("the report is nil")
		}
		s.Report = report{r}
		return nil
	})
}

// report is a RunReport that runs fill.
type report struct{ *RunReport }

func (r report) Reset() { *r.RunReport = RunReport{} }

func (r report) Rejected(title string) { r.Status, r.Title = StatusFailed, title }

func (r report) Group(status record.Status, title, name string) {
	r.Status, r.Title, r.Run = string(status), title, name
}

// Add adds a run.
func (r report) Add(h *record.Header, end *record.End, outputs []string) {
	r.Outputs = outputs
	r.Status, r.Title, r.Run, r.Budget, r.Device = string(end.Status), h.Title, h.Run, h.Budget, cmp.Or(h.Device.Name, "cpu")
	r.Seconds, r.Need = r.Seconds+end.Duration.Seconds(), max(r.Need, h.Need)
	r.PredictedPeak, r.MeasuredPeak = max(r.PredictedPeak, h.Predicted.Host()), max(r.MeasuredPeak, end.Peak)
	r.Computed, r.Skipped = r.Computed+end.Computed, r.Skipped+end.Skipped
	r.Read, r.Written = r.Read+end.Read, r.Written+end.Written
	r.DevicePredictedPeak, r.DeviceMeasuredPeak = max(r.DevicePredictedPeak, h.Device.Predicted), max(r.DeviceMeasuredPeak, end.DevicePeak)
	r.OOMEvents, r.Passes = r.OOMEvents+end.OOMEvents, r.Passes+h.Passes()
	for _, w := range h.Warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
	for _, s := range h.Stages {
		r.Chunks += int64(s.Tasks)
	}
}
