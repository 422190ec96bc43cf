package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// What was predicted and what was measured stand in the text and in the picture, which has
// the stages in the order in which they run.
func TestReportShowsPlanWithMeasuredBesidePredicted(t *testing.T) {
	runs := cases(t)
	done := report(t, Options{}, runs["done"])
	drawn := svgOf(t, treeFigure(runs["done"].Explain()))
	if first, second := strings.Index(drawn, ">0 reduce"), strings.Index(drawn, ">1 map"); first < 0 || second < first || !strings.Contains(done.HTML, "The plan of 2 stages") {
		t.Errorf("the stages are not drawn in their order: %s", drawn)
	}
	// stage 1 predicts 438 MiB and reserves 19/20 of it; its 12 tasks move 420 MB in 176 ms
	for _, want := range []string{"438 MiB", "416 MiB", "176 ms", "2.39 GB/s", "1 map · sqrt(acts) - mean", "0 reduce · mean(sqrt(acts), 0)", "12 × 8,192 × 512 float32 → centred.npy"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the picture lacks %q: %s", want, drawn)
		}
	}
	for _, form := range []string{done.HTML, done.Text} {
		for _, want := range []string{"└─ stage 0: reduce mean(sqrt(acts), 0)", "measured:  416 MiB", "predicted: 438 MiB"} {
			if !strings.Contains(form, want) {
				t.Errorf("no %q in %s", want, form)
			}
		}
	}
	planned := report(t, Options{}, runs["planned"])
	if !strings.Contains(planned.HTML, "stage 1: map") || strings.Contains(planned.Text, "measured:") {
		t.Errorf("a footprint: %s", planned.Text)
	}
	if none := report(t, Options{Mode: None}, runs["done"]); !strings.Contains(none.HTML, "stage 1: map") {
		t.Error("without charts the plan is not told")
	}
}

func TestTreeFigureLimitsBranches(t *testing.T) {
	chain := make([]record.StageReport, 500)
	for i := range chain {
		chain[i] = record.StageReport{Stage: i, Name: fmt.Sprintf("step %d", i), Kind: "map", Predicted: map[string]int64{"input": 1 << 20}}
		if i > 0 {
			chain[i].From = []int{i - 1}
		}
	}
	f := treeFigure(chain)
	if !strings.Contains(f.Caption, "first 40 of") || len(f.Picture) > 40_000 || strings.Count(treeText(chain), "map step") != 500 {
		t.Errorf("%q, %d bytes", f.Caption, len(f.Picture))
	}
	if f := treeFigure(nil); f != nil {
		t.Error("a figure of no stages")
	}
}
