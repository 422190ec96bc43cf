package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// timed is a run of which times were predicted.
func timed(h record.Header) record.Header {
	h.Stages = slices.Clone(h.Stages)
	for i := range h.Stages {
		h.Stages[i].Seconds = &record.Seconds{Low: float64(i+2) * 0.75, Likely: float64(i + 2), High: float64(i+2) * 1.5, Limit: "decoding"}
	}
	h.Seconds = &record.Seconds{Low: 4, Likely: 5, High: 7, Limit: "decoding"}
	return h
}

func TestPlanShowsPredictedTimesAndTheFastestRow(t *testing.T) {
	h := timed(rootsHeader())
	h.PlanOnly = true
	row := func(rows int, budget int64, device string, fits bool, likely float64) {
		h.WhatIf = append(h.WhatIf, record.WhatIf{Chunks: []int{rows, 512}, Budget: budget, Device: device, Fits: fits,
			Time: &record.Seconds{Low: likely / 1.25, Likely: likely, High: 1.25 * likely, Limit: "reading"}})
	}
	row(1024, 64*mib, "", true, 7)
	row(8192, 256*mib, "", true, 4.1)
	row(8192, 64*mib, "", true, 4.2) // as good as the one above, in less memory
	row(8192, 16*mib, "", false, 1)
	row(8192, 64*mib, "gpu", true, 2)
	out := report(t, Options{}, made(t, h, 0, &record.End{Status: record.Planned}))
	for _, want := range []string{"plan: 2 stages, 2 passes over stored data, predicted 5 s (4 s to 7 s), limited by decoding", "time", "2 s", "3 s", "7 s", "4.2 s",
		"in 3 s (2.25 s to 4.5 s), limited by decoding", "%%memory --budget 64MiB --chunks 8192x512", "as the fastest, 4.2 s (3.36 s to 5.25 s)"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, out.Text)
		}
	}
	for _, want := range []string{"<th>time<", "<td>4.2 s\n", "--chunks 8192x512"} {
		if !strings.Contains(out.HTML, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(out.Text, "not known yet") {
		t.Error("times are there, and said not to be")
	}
}

func TestReportShowsPredictedTimesBesideMeasuredOnes(t *testing.T) {
	out := report(t, Options{}, made(t, timed(rootsHeader()), 12, doneEnd()))
	for _, want := range []string{", predicted 5 s (4 s to 7 s)", "in 2 s (1.5 s to 3 s), limited by decoding", "measured:"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, out.Text)
		}
	}
}

// A range of more than a factor of two is no prediction: no time is shown as one, and the plan says so.
func TestPlanSaysThatItsTimeIsNotKnown(t *testing.T) {
	h := timed(rootsHeader())
	h.PlanOnly = true
	h.Seconds.High = 9
	for i := range h.Stages {
		h.Stages[i].Seconds.High *= 2
	}
	out := report(t, Options{}, made(t, h, 0, &record.End{Status: record.Planned}))
	if want := "How long it will take is not known within a factor of two: earlier runs of this machine say 4 s to 9 s."; !strings.Contains(out.Text, want) || !strings.Contains(out.HTML, want) {
		t.Errorf("nothing says %q:\n%s", want, out.Text)
	}
	for _, no := range []string{"predicted 5 s", "in 3 s", "<th>time<"} {
		if strings.Contains(out.Text, no) || strings.Contains(out.HTML, no) {
			t.Errorf("it says %q", no)
		}
	}
}
