package chart

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// cellRecords are a cell's process and two runs of it, one second and three after its start.
func cellRecords(t testing.TB, end *record.End) []*record.Run {
	t.Helper()
	h := rootsHeader()
	for i := range h.Stages {
		h.Stages[i].Tasks, h.Stages[i].Shape = 12, []int{12 * 8192, 512}
	}
	first, second := h, h
	first.Start, second.Start = h.Start.Add(time.Second), h.Start.Add(3*time.Second)
	second.Output = "/data/second.npy"
	w, err := record.Create(t.TempDir(), record.Header{Process: true, Title: "the cell's process", Start: h.Start, Budget: 512 * mib})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 51 {
		at := time.Duration(i) * 100 * time.Millisecond
		w.Sample(record.Sample{At: at, Anonymous: 100 * mib, GoHeap: int64(20+i) * mib})
		if i%10 == 0 { // a heap that grows by 1 MiB each time, of which line 4 has all but 20
			w.Line(&record.Line{At: at, Site: "line 4", Code: "kept = append(kept, x)", Live: int64(i) * mib, Allocated: 2 * int64(i) * mib})
			w.Line(&record.Line{At: at, Site: "Go and gonbext themselves", Live: 8 * mib})
			w.Stack(&record.Line{At: at, Site: "line 4", Code: "line 2 load()\nline 4 kept = append(kept, x)\nruntime.growslice", Live: int64(i) * mib / 4 * 3})
			w.Stack(&record.Line{At: at, Site: "line 4", Code: "line 4 kept = append(kept, x)\njson.Unmarshal", Live: int64(i) * mib / 4})
		}
	}
	if end == nil {
		defer w.End(record.End{})
	} else {
		w.End(*end)
	}
	return []*record.Run{open(t, w.Path()), made(t, first, math.MaxInt, doneEnd()), made(t, second, math.MaxInt, doneEnd())}
}

// A cell with two runs has one timeline, on which both stand where they ran, with the heap by
// line, and that comes first.
func TestTwoRunsAreTwoSpansOfOneTimeline(t *testing.T) {
	all := cellRecords(t, &record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 200 * mib})
	var figures []struct {
		Spans  []span
		Brush  float64
		Unit   float64
		Option struct{ Series []struct{ Name string } }
		Points struct {
			At     []float64
			Values [][]float64
		}
	}
	out := report(t, Options{}, all...)
	if err := json.Unmarshal(options(t, out.HTML), &figures); err != nil {
		t.Fatal(err)
	}
	f := figures[0]
	for _, other := range figures[1:] {
		if other.Brush > 0 {
			t.Error("a second timeline")
		}
	}
	if len(f.Spans) != 2 || f.Spans[0].From != 1 || f.Spans[1].From != 3 || f.Spans[1].Name != "second.npy" || f.Spans[0].To <= 1 || f.Brush != 5 {
		t.Fatalf("spans %+v of %g s", f.Spans, f.Brush)
	}
	values := map[string][]float64{}
	for i, v := range f.Points.Values {
		values[f.Option.Series[i].Name] = v
	}
	seen := 0
	for i, at := range f.Points.At {
		s := at * f.Unit
		inside := false
		for _, sp := range f.Spans {
			inside = inside || s > sp.From-1e-6 && s < sp.To+1e-6
		}
		if arena := values["input"][i]; !inside && arena != 0 {
			t.Errorf("an arena of %g after %g s", arena, s)
		} else if arena > 0 {
			seen++
		}
		// The heap grows by 10 MiB a second; the made runs' own samples have 9 MiB.
		if line := values["line 4 kept = append(kept, x)"][i]; !inside && math.Abs(line-10*mib*s) > 0.2*mib {
			t.Errorf("line 4 holds %g MiB after %g s", line/mib, s)
		}
	}
	if seen < 20 || !strings.HasPrefix(out.Text, "the cell's process\n") {
		t.Errorf("%d points with an arena, %.80q", seen, out.Text)
	}
}

// What a process holds at its largest adds up to it, with the arenas of the runs that ran then.
func TestProcessAtItsLargestHasTheArenasOfItsRuns(t *testing.T) {
	all := cellRecords(t, &record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 100 * mib})
	w, err := record.Create(t.TempDir(), record.Header{Process: true, Title: "the cell's process", Start: all[0].Header.Start, Budget: 512 * mib})
	if err != nil {
		t.Fatal(err)
	}
	inFirst := record.Sample{At: time.Second + 100*time.Millisecond, Anonymous: 900 * mib, GoHeap: 20 * mib, GoRuntime: 5 * mib}
	w.Sample(record.Sample{At: 0, Anonymous: 100 * mib})
	w.Sample(inFirst)
	w.End(record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 950 * mib})
	all[0] = open(t, w.Path())
	summaries := []*summary{summarize(all[0], 3), summarize(all[1], 3), summarize(all[2], 3)}
	v := newView(summaries[0], newTimeline(summaries), None, true)
	if got := v.RestWhen(); got != "900 MiB after 1.1 s, and 950 MiB between two looks" {
		t.Error(got)
	}
	var sum, arena int64
	for _, p := range v.Rest {
		if p.Color != "" {
			sum += p.Bytes
		}
		if strings.HasPrefix(p.Name, "arena: ") {
			arena += p.Bytes
		}
	}
	if sum != inFirst.Anonymous {
		t.Errorf("%d bytes, and the parts have %d", inFirst.Anonymous, sum)
	}
	if most := all[1].Header.Predicted.Host(); arena < most/2 || arena > most {
		t.Errorf("the arenas have %d bytes of the first run's %d", arena, most)
	}
}

// The timeline of a cell that was ended for its memory ends with what it had then, which no
// sample has.
func TestTimelineEndsWithTheMemoryThatEndedTheCell(t *testing.T) {
	w, err := record.Create(t.TempDir(), record.Header{Process: true, Title: "the cell's process", Start: time.Now(), Budget: 64 * mib})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		w.Sample(record.Sample{At: time.Duration(i) * time.Second, Anonymous: 50 * mib, GoHeap: 48 * mib})
	}
	w.End(record.End{Status: record.Failed, Error: "Out of memory", Duration: 4 * time.Second, ProcessPeak: 67 * mib})
	all := newTimeline([]*summary{summarize(open(t, w.Path()), 1)}).samples
	if last := all[len(all)-1]; last.At != 4*time.Second || last.Anonymous != 67*mib || all[len(all)-2].Anonymous != 50*mib {
		t.Errorf("%+v", all)
	}
}

// However its process died, a cell has its timeline, to its last moment.
func TestDeadCellHasItsTimeline(t *testing.T) {
	for name, end := range map[string]*record.End{
		"killed": nil,
		"panic":  {Status: record.Exited, Error: "panic", Duration: 6 * time.Second},
		"failed": {Status: record.Failed, Error: "Out of memory", Duration: 6 * time.Second, ProcessPeak: 600 * mib},
	} {
		all := cellRecords(t, end)
		for n := 1; n <= 3; n++ {
			out := report(t, Options{}, all[:n]...)
			if !strings.HasPrefix(out.Text, "the cell's process\n") || len(svgs(t, out.HTML)) == 0 {
				t.Fatalf("%s: %.100q with %d pictures", name, out.Text, len(svgs(t, out.HTML)))
			}
			if svg := svgs(t, out.HTML)[0]; !strings.Contains(svg, "line 4") || !strings.Contains(svg, "budget 512 MiB") || strings.Count(svg, `height="15"`) != n-1 {
				t.Errorf("%s, %d records: %.3000s", name, n, svg)
			}
			if strings.Count(out.HTML, "Memory over time") < 1 || strings.Count(out.HTML, "><b>Memory over time</b>") != 1 {
				t.Errorf("%s, %d records: %d timelines", name, n, strings.Count(out.HTML, "><b>Memory over time</b>"))
			}
		}
	}
}

// A cell that saves a thousand times has a timeline of the size that one of a few has.
func TestTimelineOfManyRunsIsBounded(t *testing.T) {
	all := cellRecords(t, nil)
	for range 100 {
		all = append(all, all[1])
	}
	var sums []*summary
	for _, r := range all {
		sums = append(sums, summarize(r, share(len(all))))
	}
	line := newTimeline(sums)
	if len(line.samples) > maxPoints+2 || len(line.spans) > maxSpans || len(line.samples) < 20 {
		t.Errorf("%d points, %d spans", len(line.samples), len(line.spans))
	}
}

// A record of a million samples, and one without any, has a report of the size of any other.
func TestReportOfAMillionSamplesIsBounded(t *testing.T) {
	for _, n := range []int{0, 1, 1_000_000} {
		w, err := record.Create(t.TempDir(), record.Header{Process: true, Title: "the cell's process", Start: rootsHeader().Start, Budget: 512 * mib})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			w.Sample(record.Sample{At: time.Duration(i) * time.Millisecond, Anonymous: int64(i%97) * mib, GoHeap: int64(i%89) * mib})
		}
		if err := w.End(record.End{Status: record.Done, Duration: 1000 * time.Second}); err != nil {
			t.Fatal(err)
		}
		out := report(t, Options{}, open(t, w.Path()))
		if len(out.HTML) > 40_000 || !strings.Contains(out.HTML, "Peak of the process") {
			t.Errorf("%d samples: %d bytes, %.200s", n, len(out.HTML), out.Text)
		}
		if n > 1 && !strings.Contains(out.HTML, "Peak of the process 96 MiB") {
			t.Errorf("%d samples: %.200s", n, out.Text)
		}
	}
}

// The first version of the format had neither lines nor events, and shorter rows; its headers had
// fewer fields.
func TestReportOfRecordsOfEarlierReleases(t *testing.T) {
	const (
		task   = 1 + 8 + 8*(1+5+3+2*int(record.Classes)) + 8 // bytes of rows of version 1
		sample = 1 + 8*(1+int(record.Classes)+9)
	)
	for i, run := range cellRecords(t, &record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 200 * mib})[:2] {
		now := testcases.ReadFile(t, run.Path)
		h := run.Header
		header, err := json.Marshal(map[string]any{"run": h.Run, "title": h.Title, "start": h.Start, "budget": h.Budget, "process": h.Process, "output": h.Output, "stages": h.Stages})
		if err != nil {
			t.Fatal(err)
		}
		old := append(binary.LittleEndian.AppendUint32([]byte("gonbrun\x01"), uint32(len(header))), header...)
		rows := 0
		for rest := now[12+binary.LittleEndian.Uint32(now[8:]):]; len(rest) > 0; {
			size := map[byte][2]int{1: {task + 2*8, task}, 2: {sample + 3*8, sample}, 4: {1 + 4*8, 0}, 5: {1 + 3*8 + 128, 0}, 6: {1 + 3*8 + 128 + 384, 0}, 3: {len(rest), len(rest)}}[rest[0]]
			if size[0] == 0 {
				t.Fatalf("a row of kind %d is of no size that is known here", rest[0])
			}
			old, rest = append(old, rest[:size[1]]...), rest[size[0]:]
			rows++
		}
		path := filepath.Join(t.TempDir(), filepath.Base(run.Path))
		testcases.WriteFile(t, path, old, 0o600)
		read := open(t, path)
		if read.Status() != record.Done || rows < 12 {
			t.Fatalf("%s after %d rows", read.Status(), rows)
		}
		out := report(t, Options{}, read)
		if want := []string{"Peak of the process 200 MiB", "Peak 431 MiB of 512 MiB"}[i]; !strings.Contains(out.HTML, want) || len(svgs(t, out.HTML)) == 0 || strings.Contains(out.HTML, "line 4") {
			t.Errorf("run %d: %.600s", i, out.Text)
		}
	}
}

// TestWriteCells writes reports of cells, to be looked at.
func TestWriteCells(t *testing.T) {
	cell := func(end *record.End) func(Options) (Output, error) {
		return func(o Options) (Output, error) { return Report(cellRecords(t, end), o) }
	}
	out, err := cell(&record.End{Status: record.Done, Duration: 5 * time.Second})(Options{Library: true})
	if err != nil || len(out.HTML) > 264_000 {
		t.Errorf("a first report of %d bytes: %v", len(out.HTML), err)
	}
	writePage(t, "cells", cell(&record.End{Status: record.Exited, Error: "panic", Duration: 6 * time.Second, ProcessPeak: 200 * mib}), cell(nil))
}
