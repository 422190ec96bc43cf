package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// What to do next follows how a run ended, and is a line to run where there is one.
func TestHintFollowsTheEndOfTheRun(t *testing.T) {
	runs := cases(t)
	crumbs := rootsHeader()
	crumbs.Stages = crumbs.Stages[1:]
	crumbs.Stages[0].From = nil
	crumbs.Stages[0].Shape, crumbs.Stages[0].Chunks, crumbs.Stages[0].Tasks = []int{100_000, 3}, []int{1, 3}, 100_000
	crumbs.Stages[0].Output, crumbs.Stages[0].Read, crumbs.Stages[0].Written = "/data/o.zarr", 1_200_000, 1_200_000
	runs["crumbs"] = made(t, crumbs, math.MaxInt, doneEnd())
	command := crumbs
	command.Cell = record.CommandCell + "X"
	runs["command"] = made(t, command, math.MaxInt, doneEnd())
	strided := crumbs
	strided.Stages = slices.Clone(crumbs.Stages)
	strided.Stages[0].Shape, strided.Stages[0].Chunks, strided.Stages[0].Tasks = []int{1000, 1000}, []int{1000, 100}, 10
	strided.Stages[0].Read, strided.Stages[0].ReadRun, strided.Stages[0].Output = 1<<30, 400, "/data/o.npy"
	runs["strided"] = made(t, strided, math.MaxInt, doneEnd())
	for name, want := range map[string]hint{
		"done":      {},
		"toosmall":  {"Set a budget that will do", "%%memory --budget 24MiB"},
		"killed":    {"/data/.centred.npy.gonbext, 83.4 MiB by this run", "!gonbext clean /data/centred.npy"},
		"cancelled": {"chunks that are whole on the disk are not computed again", "!gonbext clean /data/centred.npy"},
		// a shard has 16 MiB: chunks of 12 bytes, all 3 columns, 1,398,102 rows, of which there are 100,000
		"crumbs":  {"100,000 chunks of 12 bytes each", "oocore.Shards(100000, 3)"},
		"command": {"100,000 chunks of 12 bytes each", "--shards 100000x3"},
		"strided": {"Chunks of whole rows", "oocore.Chunks(100, 1000)"},
		"device":  {"2 of 24 tasks were done in smaller tiles", ""},
	} {
		got := summarize(runs[name], 1).hint()
		if !strings.Contains(got.Text, want.Text) || got.Line != want.Line || (want.Text == "") != (got.Text == "") {
			t.Errorf("%s: %q, %q", name, got.Text, got.Line)
		}
	}
	out := report(t, Options{}, runs["killed"])
	if !strings.Contains(out.HTML, "<pre>!gonbext clean /data/centred.npy</pre>") || !strings.Contains(out.Text, "    !gonbext clean /data/centred.npy\n") {
		t.Errorf("the line is not shown: %s", out.Text)
	}
}

// The first report of a notebook carries the library; a further one is small.
func TestReportSizes(t *testing.T) {
	runs := cases(t)
	for name, most := range map[string]int{"one": 11_300, "planned": 8_000, "done": 19_900, "device": 26_700} {
		if n := len(report(t, Options{}, runs[name]).HTML); n > most {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	for library, most := range map[bool]int{true: 260_000, false: 23_400} {
		if n := len(report(t, Options{Library: library}, hundredThousand(t)).HTML); n > most {
			t.Errorf("of 100,000 chunks, library %t: %d bytes", library, n)
		}
	}
}

// Each picture says in words what it shows; what is folded can be opened by keyboard, and
// what scrolls can be reached.
func TestReportReadsWithoutPictures(t *testing.T) {
	html := report(t, Options{}, cases(t)["done"]).HTML
	for _, want := range []string{
		`alt="Memory over 326 ms: at most 4`, "the budget is 512 MiB, the prediction 438 MiB", `alt="Tasks of 2 stages in 6 slots over 326 ms, which held at most `,
		"12 of 12 done, the fastest in", "aria-level=2", `aria-level=3><b>Memory over time</b>`, `<summary><b>Chunks</b>`, `tabindex=0 role=region`,
		"</b> at most 470 MiB</summary>",
	} {
		if !strings.Contains(strings.ReplaceAll(html, "\u00a0", " "), want) {
			t.Errorf("no %q", want)
		}
	}
	for _, picture := range svgs(t, html)[:1] {
		if !strings.Contains(picture, string(dashed)) || !strings.Contains(picture, string(dashDot)) {
			t.Error("budget and prediction differ by colour alone")
		}
	}
}

// Times within 5 % of each other do not get the whole scale of colours.
func TestGridFigureDrawsLikeTimesAlike(t *testing.T) {
	st := &stageSummary{Stage: &record.Stage{Name: "x", Shape: []int{4}, Chunks: []int{1}, Tasks: 4}, sums: sums{done: 4}}
	st.grid = newGridMap(st.Stage, maxCells)
	for i, ms := range []int{1000, 1010, 1020, 1030} {
		st.grid.add(&record.Task{Chunk: int64(i), Duration: time.Duration(ms) * time.Millisecond}, -1)
	}
	f := gridFigure(st, 1030*time.Millisecond)
	if !strings.Contains(f.Caption, "within 5 %") || f.Switch[0].Min > 0.951*1030 {
		t.Errorf("%q, from %g", f.Caption, f.Switch[0].Min)
	}
}
