package main

import (
	"cmp"
	"errors"

	"github.com/gonbext/gonbext/oocore/record"
)

// figures are a run in numbers: what scripts and benchmarks read. All sizes are
// bytes.
type figures struct {
	Run           string        `json:"run"`
	Seconds       float64       `json:"seconds"`
	Budget        int64         `json:"budget"`
	PredictedPeak int64         `json:"predicted_peak"` // of the run's buffers
	MeasuredPeak  int64         `json:"measured_peak"`
	Passes        int           `json:"passes"` // over stored data
	Chunks        int64         `json:"chunks"` // over all passes
	Computed      int64         `json:"computed"`
	Skipped       int64         `json:"skipped"`
	ReadBytes     int64         `json:"read_bytes"`
	WrittenBytes  int64         `json:"written_bytes"`
	Device        deviceFigures `json:"device"`
	Resume        string        `json:"resume,omitempty"` // why it started over where an earlier run left something
	Value         string        `json:"value,omitempty"`  // of a result that was printed
}

type deviceFigures struct {
	Name          string `json:"name"`
	PredictedPeak int64  `json:"predicted_peak"`
	MeasuredPeak  int64  `json:"measured_peak"`
	OOMEvents     int    `json:"oom_events"`
}

func figuresOf(runs []*record.Run) (*figures, error) {
	if len(runs) == 0 || runs[0].End == nil {
		return nil, errors.New("the run has no record to take figures from: set GONBEXT_RUNS to a folder that can be written")
	}
	h, end := runs[0].Header, runs[0].End
	f := &figures{Run: h.Run, Seconds: end.Duration.Seconds(), Budget: h.Budget, PredictedPeak: h.Predicted.Host(), MeasuredPeak: end.Peak,
		Resume: h.Resume, Computed: end.Computed, Skipped: end.Skipped, ReadBytes: end.Read, WrittenBytes: end.Written,
		Device: deviceFigures{cmp.Or(h.Device.Name, "cpu"), h.Device.Predicted, end.DevicePeak, end.OOMEvents}}
	for _, s := range h.Stages {
		f.Chunks += int64(s.Tasks)
		if s.Read > 0 {
			f.Passes++
		}
	}
	return f, nil
}
