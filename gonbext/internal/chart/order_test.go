package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// A cell that was ended for want of memory has said so: its report does not say it again.
func TestOutOfMemoryIsSaidOnce(t *testing.T) {
	const said = "Out of memory: the cell took 600 MiB"
	h := record.Header{Process: true, Title: "the cell's process", Budget: 512 * mib}
	text := report(t, Options{}, &record.Run{Header: h, End: &record.End{Status: record.Failed, Error: said, ProcessPeak: 600 * mib}}).Text
	if strings.Contains(text, said) || !strings.Contains(text, "Peak of the process 600 MiB of 512 MiB · 88 MiB over the budget · the cell was ended\n") {
		t.Error(text)
	}
}

// A panic stands above what was done before it; a process that only took more than its
// budget below.
func TestPanicStandsAboveRunsBeforeIt(t *testing.T) {
	run := cases(t)["done"]
	process := func(end record.End) *record.Run {
		h := record.Header{Process: true, Title: "the cell's process", Budget: 512 * mib}
		return &record.Run{Header: h, End: &end}
	}
	for name, c := range map[string]struct {
		end  record.End
		want string // the title that the report begins with
	}{
		"panic":           {record.End{Status: record.Exited, Error: "panic"}, "the cell's process\n"},
		"out of memory":   {record.End{Status: record.Failed, Error: "the cell needs more", ProcessPeak: 600 * mib}, "the cell's process\n"},
		"over the budget": {record.End{Status: record.Done, ProcessPeak: 600 * mib}, "sqrt(acts)"},
		"well":            {record.End{Status: record.Done}, "sqrt(acts)"},
	} {
		if text := report(t, Options{}, run, process(c.end)).Text; !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: the report begins with %.60q", name, text)
		}
	}
}

func TestCompareOfPlanAndRunSaysSo(t *testing.T) {
	runs := cases(t)
	for _, names := range [][2]string{{"planned", "done"}, {"done", "planned"}} {
		out, err := Compare(runs[names[0]], runs[names[1]], names, Options{})
		if err != nil || !strings.Contains(out.Text, "planned is a plan, done a run: planned to peak at 438 MiB, it took 431 MiB") || strings.Contains(out.Text, "grew") {
			t.Errorf("%v: %v, %.300s", names, err, out.Text)
		}
	}
	if out, _ := Compare(runs["planned"], runs["planned"], [2]string{"a", "b"}, Options{}); !strings.Contains(out.Text, "Two plans: b would have the same peak") {
		t.Errorf("two plans: %.200s", out.Text)
	}
}

// The tasks of a product share what they hold, and read their operands several times over:
// neither is said to be otherwise.
func TestProductHasNoMemoryByTask(t *testing.T) {
	h := rootsHeader()
	h.Stages = h.Stages[1:]
	h.Stages[0].From = nil
	if out := report(t, Options{}, made(t, h, math.MaxInt, doneEnd())); !strings.Contains(out.HTML, "Below: the bytes of each") {
		t.Fatal("a map without memory by task")
	}
	h.Stages[0].Kind = "matmul"
	out := report(t, Options{}, made(t, h, math.MaxInt, doneEnd()))
	if strings.Contains(out.HTML, "Below: the bytes of each") {
		t.Error("memory by task of a product")
	}
	if !strings.Contains(out.Text, "read in one pass, operands of products as often as they do not fit") {
		t.Errorf("said %.300s", out.Text)
	}
}

func TestGridOfOneDimensionIsOneRow(t *testing.T) {
	for _, n := range []int{2, 12, 115, 116, 5000} {
		f := newDownsampledGrid([]int{n}, []int{1}, nil, int64(n), maxCells)
		if f.rows != 1 || f.cols > maxRow || f.at(int64(n-1)) != f.cols-1 {
			t.Errorf("%d chunks: %d × %d cells, the last at %d", n, f.rows, f.cols, f.at(int64(n-1)))
		}
		if w, h := f.sides(); w*float64(f.cols) > 690 || h < 20 {
			t.Errorf("%d chunks: cells of %g × %g", n, w, h)
		}
	}
}

// A picture of chunks has the rows and columns that their grid has, with the names of its axes, however long and narrow it is.
func TestPictureOfChunksHasTheShapeOfTheirGrid(t *testing.T) {
	for _, c := range []struct {
		shape, chunks []int
		names         []string
		rows, cols    int
		down, across  string
	}{
		{[]int{40, 4}, []int{1, 4}, []string{"time", "lat"}, 40, 1, "time", "lat"},
		{[]int{376, 512}, []int{1, 512}, nil, 54, 1, "axis 0", "axis 1"}, // of seven chunks each
		{[]int{4, 700}, []int{4, 10}, []string{"", "x"}, 1, 70, "axis 0", "x"},
		{[]int{6, 5}, []int{1, 1}, nil, 6, 5, "axis 0", "axis 1"},
		{[]int{12, 180, 360}, []int{1, 90, 90}, []string{"time", "lat", "lon"}, 12, 8, "time", "lat, lon"},
		{[]int{9}, []int{2}, []string{"t"}, 1, 5, "", "t"},
	} {
		n := int64(1)
		for i := range c.shape {
			n *= ceilDiv(int64(c.shape[i]), int64(c.chunks[i]))
		}
		f := newDownsampledGrid(c.shape, c.chunks, c.names, n, maxCells)
		if f.rows != c.rows || f.cols != c.cols || f.names != [2]string{c.down, c.across} || f.at(n-1) != f.cells-1 {
			t.Errorf("%v by %v: %d × %d cells, %q, the last chunk in %d", c.shape, c.chunks, f.rows, f.cols, f.names, f.at(n-1))
		}
		if w, h := f.sides(); w*float64(f.cols) > 700 || h*float64(f.rows) > 800 || min(w, h) < 4 {
			t.Errorf("%v by %v: cells of %g × %g", c.shape, c.chunks, w, h)
		}
	}
}

// Advice differs from what was asked for, and gains something.
func TestAdviceDiffersFromWhatWasAsked(t *testing.T) {
	h := rootsHeader()
	h.PlanOnly, h.Need = true, 400*mib
	row := func(chunks int, moved int64) record.WhatIf {
		return record.WhatIf{Chunks: []int{chunks, 512}, Budget: h.Budget, Fits: true, Need: h.Need, Moved: moved, Tasks: 1, Passes: 1}
	}
	for _, c := range []struct {
		moved int64 // by the other row; the plan moves 1,000,000
		want  string
	}{{999_000, ""}, {2_000_000, ""}, {500_000, "%%memory --budget 512MiB --chunks 64x512"}} {
		h.WhatIf = []record.WhatIf{row(8192, 1_000_000), row(64, c.moved)}
		if got := summarize(made(t, h, 0, &record.End{Status: record.Planned}), 1).hint(); got.Line != c.want || c.want == "" && got.Text != "" {
			t.Errorf("%d bytes moved: %s", c.moved, fmt.Sprint(got))
		}
	}
}

// The arrays of a checkpoint are read once each: that is one pass over it, however many stages there are.
func TestPassesAreOfWhatBelongsTogether(t *testing.T) {
	stage := func(read int64, from []int, inputs ...string) record.Stage {
		return record.Stage{Name: "s", Kind: "map", Shape: []int{4}, Chunks: []int{4}, DType: "int8", Tasks: 1, Read: read, Inputs: inputs, From: from}
	}
	for _, c := range []struct {
		stages []record.Stage
		want   string
	}{
		{[]record.Stage{stage(4, nil, "a"), stage(4, nil, "b"), stage(4, nil, "c")}, " read in one pass"},
		{[]record.Stage{stage(4, nil, "a"), stage(4, nil, "b"), stage(4, nil, "a")}, " read in 2 passes"},
		{[]record.Stage{stage(4, nil, "a"), stage(4, nil, "b"), stage(8, []int{0, 1}, "x", "y")}, " read in 3 passes"},
		{[]record.Stage{stage(4, nil, "a"), stage(4, []int{0}, "x"), stage(4, nil, "b"), stage(0, []int{2}, "y")}, " read in 2 passes"},
	} {
		h := record.Header{Title: "s", Budget: 512 * mib, Stages: c.stages}
		text := report(t, Options{}, &record.Run{Header: h, End: &record.End{Status: record.Planned}}).Text
		if !strings.Contains(text, c.want) {
			t.Errorf("%d stages: %q is not in %.300s", len(c.stages), c.want, text)
		}
	}
}
