package record

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A made record of two stages, of which the first ran in two slots.
func TestExplainPutsMeasuredBesidePredicted(t *testing.T) {
	h := Header{Title: "x - mean(x, 0)", Stages: []Stage{
		{Name: "mean(x, 0)", Kind: "reduce", Shape: []int{100, 8}, Chunks: []int{50, 8}, DType: "float32", Tasks: 2, Slots: 2,
			Predicted: Bytes{Input: 4096, Scratch: 1024}, Read: 3200, Inputs: []string{"x\ny"}, Output: "arena", Device: "cpu"},
		{Name: "x - mean(x, 0)", Kind: "map", Shape: []int{100, 8}, Chunks: []int{100, 8}, DType: "float32", Tasks: 1, Slots: 1,
			Predicted: Bytes{Output: 2048, Device: 8192}, Read: 3200, Written: 3200, Inputs: []string{"x", "mean(x, 0)"}, From: []int{0},
			Repeats: []string{"log(x)"}, Output: "o.npy", Device: "model", Note: "kept: for a test",
			Transfers: &Transfers{Up: 3200, Down: 1800, Seconds: 0.5, Limit: "the link"}},
	}}
	w, err := Create(t.TempDir(), h)
	if err != nil {
		t.Fatal(err)
	}
	w.Task(&Task{Stage: 0, Slot: 0, Chunk: 0, Start: 0, Duration: time.Second, Read: 1600, Reserved: Bytes{Input: 4096}})
	w.Task(&Task{Stage: 0, Slot: 1, Chunk: 1, Start: time.Second, Duration: time.Second, Read: 1600, Reserved: Bytes{Scratch: 1024}})
	if err := w.End(End{Status: Done}); err != nil {
		t.Fatal(err)
	}
	r, err := Read(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	stages := r.Explain()
	m := stages[0].Measured
	if m == nil || m.Tasks != 2 || m.Seconds != 2 || m.Read != 3200 || m.Rate != 1600 || m.Reserved["input"] != 4096 || m.Reserved["scratch"] != 1024 {
		t.Errorf("the first stage measured %+v", m)
	}
	if stages[1].Measured != nil {
		t.Error("a stage without rows has measurements")
	}
	if r.Header.Stages[0].Slots = 4; !strings.Contains(Tree(r.Explain()), "scratch 1 KiB) in 2 of 4 slots, read") {
		t.Errorf("two slots that no task ran in are not said:\n%s", Tree(r.Explain()))
	}
	const want = `stage 1: map x - mean(x, 0)
│  100 × 8 float32 by 100 × 8: 1 task, 1 at once → o.npy
│  predicted: 2 KiB and 8 KiB of the device, reads 3.2 kB, writes 3.2 kB
│  model: 5 kB over the link; at its rates 500 ms, by the link
│  reads x, mean(x, 0)
│  computes log(x) again: that is cheaper than keeping it
│  kept: for a test
└─ stage 0: reduce mean(x, 0)
      100 × 8 float32 by 50 × 8: 2 tasks, 2 at once → arena
      predicted: 5 KiB (input 4 KiB, scratch 1 KiB), reads 3.2 kB, writes 0 bytes
      measured:  5 KiB (input 4 KiB, scratch 1 KiB), read 3.2 kB, wrote 0 bytes, 2 tasks in 2 s, 1.6 kB/s
      reads x y
`
	if got := Tree(stages); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTreeMarksSharedDeepAndMissingStages(t *testing.T) {
	heads := func(stages []StageReport) (all []string) {
		for line := range strings.Lines(Tree(stages)) {
			if strings.Contains(line, "stage ") {
				all = append(all, strings.TrimRight(line, ": \n"))
			}
		}
		return all
	}
	chain := make([]StageReport, 40) // each reads the one before
	for i := range chain {
		chain[i] = StageReport{Stage: i}
		if i > 0 {
			chain[i].From = []int{i - 1}
		}
	}
	deep := heads(chain)
	if n := len(deep); n != 41 || deep[25] != strings.Repeat(" ", 3*24)+"└─ stage 14, below" || deep[26] != "stage 14" {
		t.Errorf("a chain of 40: %d lines, %q", n, deep)
	}
	got := heads([]StageReport{{}, {Stage: 1, From: []int{0, 0, 7, -1, 1}}})
	if want := []string{"stage 1", "├─ stage 0", "├─ stage 0, as above", "└─ stage 1, as above"}; !slices.Equal(got, want) {
		t.Errorf("shared, missing and own stages: %q", got)
	}
}
