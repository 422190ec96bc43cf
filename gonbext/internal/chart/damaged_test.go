package chart

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// A damaged row may have any times. The report is drawn all the same, by a kernel whose
// cells wait for it.
func TestReportOfImpossibleTimesEnds(t *testing.T) {
	for _, row := range []record.Task{
		{Duration: math.MaxInt64}, {Start: math.MaxInt64, Duration: math.MaxInt64}, {Start: math.MinInt64, Duration: math.MinInt64},
		{Start: math.MaxInt64 - 5, Duration: 3}, {Stage: math.MaxUint16, Chunk: math.MaxInt64, Start: -5, Duration: 9e18},
		{Chunk: math.MinInt64, Read: math.MinInt64, Written: math.MaxInt64, Computing: math.MaxInt64, Upload: math.MinInt64, Download: math.MaxInt64},
	} {
		h := rootsHeader()
		h.Device = record.DeviceInfo{Name: "model:8GiB", Memory: 8 << 30}
		w, err := record.Create(t.TempDir(), h)
		if err != nil {
			t.Fatal(err)
		}
		row.Device = 1
		w.Sample(record.Sample{At: time.Second, Arena: record.Bytes{1 << 20}, Device: 1 << 20})
		w.Sample(record.Sample{At: row.Duration, Arena: record.Bytes{1 << 20}, Device: 1 << 20})
		w.Task(&record.Task{Device: 1, Computing: time.Second, Duration: time.Second})
		w.Task(&row)
		if err := w.End(record.End{Status: record.Done, Duration: row.Duration}); err != nil {
			t.Fatal(err)
		}
		r, err := record.Read(w.Path())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := Report([]*record.Run{r}, Options{})
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%+v: %v", row, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%+v: no report after a minute", row)
		}
	}
}

func TestVerdictSaysHowTheProcessEnded(t *testing.T) {
	for how, want := range map[string][2]string{
		"exit status 0":                 {"the program ended itself, with exit status 0", "warn"},
		"exit status 2":                 {"the program ended with exit status 2, as a panic or a fatal error of Go does", "warn"},
		"panic":                         {"the program panicked", "warn"},
		"signal: killed":                {"the process was killed: by the system for want of memory, or by somebody", "bad"},
		"signal: trace/breakpoint trap": {"the process ended: signal: trace/breakpoint trap", "warn"},
	} {
		h := record.Header{Process: true, Budget: 1 << 30}
		s := &summary{h: &h, run: &record.Run{Header: h, End: &record.End{Status: record.Exited, Error: how}}, status: record.Exited, peak: 1 << 20}
		if got := s.verdict(); !strings.HasSuffix(got, want[0]) || s.tone() != map[string]tone{"warn": warn, "bad": bad}[want[1]] {
			t.Errorf("%s: %s, %s", how, got, s.tone())
		}
	}
}
