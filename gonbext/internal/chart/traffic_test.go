package chart

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// A plan that asks an object store says for what, and the table of alternatives has requests too.
func TestPlanShowsWhatItAsksOf(t *testing.T) {
	asked := []record.Traffic{{Place: "s3://data", Requests: map[string]int64{"ranged GET": 1234, "LIST": 2}, Read: 5_000_000}}
	h := record.Header{Title: "x", PlanOnly: true, Budget: 64 << 20, Traffic: asked, About: "chunks are compressed",
		WhatIf: []record.WhatIf{{Chunks: []int{10}, Budget: 64 << 20, Fits: true, Traffic: asked}, {Chunks: []int{5}, Budget: 1 << 20}},
		Stages: []record.Stage{{Name: "x", Shape: []int{10}, Chunks: []int{10}, DType: "float32", Tasks: 1}}}
	out, err := Report([]*record.Run{{Header: h, End: &record.End{Status: record.Planned}}}, Options{Mode: None})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Asks s3://data: 1,234 ranged GET, 2 LIST; 5 MB read, 0 bytes written.", "chunks are compressed.", "requests", "1,236"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%q is not in\n%s", want, out.Text)
		}
	}
}
