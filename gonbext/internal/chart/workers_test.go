package chart

import (
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// Two workers of two slots each, of which the first is busy for 10 s and the second for 4 s, where its task is begun again.
func TestWorkersHaveLanes(t *testing.T) {
	h := record.Header{Title: "x", Workers: 4, Processes: 2, Stages: []record.Stage{{Name: "x", Kind: "map", Shape: []int{4, 4}, Chunks: []int{2, 1}, Tasks: 8, Slots: 4}}}
	w, err := record.Create(t.TempDir(), h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		w.Task(&record.Task{Slot: uint16(i % 2), Chunk: int64(i), Start: time.Duration(i/2) * 5 * time.Second, Duration: 5 * time.Second})
	}
	w.Task(&record.Task{Slot: 2, Chunk: 4, Start: 2 * time.Second, Duration: 4 * time.Second, Retries: 1})
	if err := w.End(record.End{Status: record.Done, Duration: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	s := summarize(r, 1)
	if got, want := s.workerWords(), "2 workers were idle 30 % of 10 s, and tasks were begun again one time: their worker had ended"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f := tasksFigure(s)
	if svg := svgOf(t, f); !strings.Contains(svg, "worker 1") || strings.Count(svg, troubleColor) != 1 {
		t.Errorf("the figure is %s", svg)
	}
	if !strings.Contains(f.Caption, "2 workers were idle 30 % of 10 s") {
		t.Errorf("the caption is %q", f.Caption)
	}
	g := gridFigure(s.stages[0], s.last)
	column := g.Cells.Columns[len(g.Cells.Columns)-1]
	if c := g.Switch[len(g.Switch)-1]; c.Label != "worker" || c.Dimension != len(g.Cells.Columns)+1 || c.Max != 1 {
		t.Errorf("the colours are %+v", c)
	}
	for chunk, worker := range []float64{0, 0, 0, 0, 1} {
		if column[chunk] != worker {
			t.Errorf("chunk %d is of worker %v, want %v", chunk, column[chunk], worker)
		}
	}
	if text := textReport([]*view{newView(s, nil, None, true)}); !strings.Contains(text, "2 workers were idle 30 %") {
		t.Error(text)
	}
}
