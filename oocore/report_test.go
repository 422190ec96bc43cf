package oocore_test

import (
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

// All workers of a product share its buffers: rows of several workers do not add up to
// several times what was reserved.
func TestReportOfProductCountsSharedBuffersOnce(t *testing.T) {
	log := runLog(t)
	a := oocore.Random(oocore.Float32, 1, 1024, 1024)
	var ran oocore.RunReport
	saved(t, a.MatMul(a), filepath.Join(t.TempDir(), "c.npy"), oocore.Memory("128MiB"), oocore.Workers(4), oocore.Report(&ran))
	runs, err := record.List(log)
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d records, %v", len(runs), err)
	}
	r, err := record.Read(runs[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Explain() {
		var reserved int64
		for _, bytes := range s.Measured.Reserved {
			reserved += bytes
		}
		if reserved == 0 || reserved > ran.MeasuredPeak {
			t.Errorf("stage %d reserved %d bytes, of a run that peaked at %d", s.Stage, reserved, ran.MeasuredPeak)
		}
	}
}
