package record

import (
	"os"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// A record whose process died is given its end by another process, once, behind its last
// whole row.
func TestConcludeDeadRecordHasTheRowsPeaks(t *testing.T) {
	w, err := Create(t.TempDir(), Header{Title: "x", Stages: []Stage{{Tasks: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	w.Sample(Sample{At: time.Second, Arena: Bytes{3, 4}, Anonymous: 100})
	w.Sample(Sample{At: 2 * time.Second, Arena: Bytes{5}, Anonymous: 90})
	w.Task(&Task{Read: 8, Written: 16, Start: time.Second, Duration: 2 * time.Second})
	w.Event(Event{At: time.Second, Action: Halved, Bytes: 7, Free: 9})
	w.Flush()
	if err := Conclude(w.Path(), End{Status: Exited, Error: "exit status 3"}); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(w.Path()); err != nil || r.Status() != Running {
		t.Fatalf("a record that is being written: %v, %v", r.Status(), err)
	}
	if err := w.End(End{Status: Done}); err != nil {
		t.Fatal(err)
	}
	if err := Conclude(w.Path(), End{Status: Exited, Error: "exit status 3"}); err != nil {
		t.Fatal(err)
	}
	whole := testcases.ReadFile(t, w.Path())
	r, err := Read(w.Path())
	if err != nil || r.Status() != Done {
		t.Fatalf("a record with an end: %v, %v", r.Status(), err)
	}
	rows := int64(2*sampleSize + taskSize + eventSize)
	for _, torn := range []int64{0, 1, 20} { // bytes of a row that did not reach the file whole
		testcases.WriteFile(t, w.Path(), whole[:r.start+rows], 0o600)
		if torn > 0 {
			f, err := os.OpenFile(w.Path(), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(whole[r.start : r.start+torn]); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if err := Conclude(w.Path(), End{Status: Exited, Error: "exit status 3"}); err != nil {
			t.Fatal(err)
		}
		got, err := Read(w.Path())
		if err != nil {
			t.Fatal(err)
		}
		want := End{
			Status: Exited, Error: "exit status 3", Duration: 3 * time.Second, Peak: 7, PeakBy: Bytes{3, 4},
			ProcessPeak: 100, Computed: 1, Read: 8, Written: 16,
		}
		e := got.End
		if e == nil || e.Status != want.Status || e.Error != want.Error || e.Duration != want.Duration || e.Peak != want.Peak ||
			e.PeakBy != want.PeakBy || e.ProcessPeak != want.ProcessPeak || e.Computed != 1 || e.Read != 8 || e.Written != 16 {
			t.Errorf("%d bytes of a torn row: got %+v, want %+v", torn, e, want)
		}
	}
}

// Its rows are also those of a device, of which those for want of memory are counted.
func TestConcludeCountsEventsOfADevice(t *testing.T) {
	w, err := Create(t.TempDir(), header())
	if err != nil {
		t.Fatal(err)
	}
	w.Event(Event{At: time.Second, Action: Halved, Bytes: 6 << 20})
	w.Task(&Task{Read: 8})
	w.Event(Event{At: 4 * time.Second, Stage: 1, Action: RareToCPU})
	if err := w.End(End{Status: Done}); err != nil {
		t.Fatal(err)
	}
	r, err := Read(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(w.Path(), r.start+int64(2*eventSize+taskSize)); err != nil {
		t.Fatal(err)
	}
	if err := Conclude(w.Path(), End{Status: Exited, Error: "signal: killed"}); err != nil {
		t.Fatal(err)
	}
	if r, err = Read(w.Path()); err != nil {
		t.Fatal(err)
	}
	if e := r.End; e == nil || e.OOMEvents != 1 || e.Computed != 1 || e.Read != 8 || e.Duration != 4*time.Second || e.DevicePeak != 0 {
		t.Errorf("got %+v", e)
	}
}
