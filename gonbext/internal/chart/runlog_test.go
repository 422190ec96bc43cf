package chart

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestRunLog(t *testing.T) {
	h := record.Header{Run: "20260801-120000.000000-1-0001", Start: time.Date(2026, 8, 1, 12, 0, 0, 0, time.Local), Title: "sqrt(x)" + hostile, Output: "/data/roots.npy", Budget: 64 * mib}
	var lines []RunLine
	for i, end := range []*record.End{
		{Status: record.Done, Duration: 3 * time.Second, Peak: 24 * mib, Read: 1e9, Written: 2e9}, {Status: record.Skipped}, {Status: record.Planned}, nil,
	} {
		s := record.Summary{Header: h, Status: record.Killed, End: end}
		if end != nil {
			s.Status = end.Status
		}
		lines = append(lines, RunLine{fmt.Sprintf("20260801-12000%d", i), s})
	}
	out, err := RunLog(lines, 9, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "runlog.txt", out.Text)
	if strings.Contains(out.HTML, "<img src=x") {
		t.Error("not escaped")
	}
	if out, err = RunLog(nil, 0, nil); err != nil || !strings.Contains(out.Text, "No run") {
		t.Errorf("of no runs: %v, %s", err, out.Text)
	}
	unreadable := []record.Unreadable{{Err: errors.New("run record a: torn" + hostile)}, {Err: errors.New("run record b: torn")}}
	for _, lines := range [][]RunLine{nil, lines} {
		out, err := RunLog(lines, len(lines), unreadable)
		if err != nil || !strings.Contains(out.Text, "Besides these, 2 records cannot be read, the latest: run record a") || !strings.Contains(out.Text, "run record a: torn") || strings.Contains(out.HTML, "<img src=x") {
			t.Errorf("of records that cannot be read: %v, %s", err, out.Text)
		}
	}
}

func TestCompare(t *testing.T) {
	runs := cases(t)
	half := rootsHeader()
	half.Budget = 256 * mib
	half.Stages = half.Stages[:1]
	for i := range half.Stages {
		half.Stages[i].Tasks, half.Stages[i].Shape = 24, []int{24 * 4096, 512}
		half.Stages[i].Chunks = []int{4096, 512}
		half.Stages[i].Read /= 30
	}
	end := doneEnd()
	end.Peak, end.Skipped = 215*mib, 4
	out, err := Compare(runs["done"], made(t, half, 1000, end), [2]string{"last-1", "last"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", out.Text)
	for name := range runs {
		out, err := Compare(runs[name], runs["hostile"], [2]string{hostile, "last"}, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(out.HTML, "<img src=x") || strings.ContainsAny(out.Text, "\x1b\u202e") {
			t.Errorf("%s: not escaped", name)
		}
	}
}

// A run that meets what an earlier one left says what it made of it.
func TestResumed(t *testing.T) {
	h := rootsHeader()
	for i := range h.Stages {
		h.Stages[i].Tasks, h.Stages[i].Shape = 12, []int{12 * 8192, 512}
	}
	went := h
	went.Stages = append([]record.Stage(nil), h.Stages...)
	went.Stages[0].Skipped = 9
	end := doneEnd()
	end.Skipped = 9
	over := h
	over.Resume = "the expression is another"
	for name, c := range map[string]struct {
		run  *record.Run
		want string
	}{
		"done":    {made(t, went, 15, end), "resumed: 9 of 24 chunks were there"},
		"killed":  {made(t, went, 3, nil), "resumed: 9 of 24 chunks were there"},
		"over":    {made(t, over, 24, doneEnd()), "started over: the expression is another"},
		"neither": {made(t, h, 24, doneEnd()), ""},
	} {
		text := report(t, Options{}, c.run).Text
		if !strings.Contains(text, c.want) || c.want == "" && (strings.Contains(text, "resumed") || strings.Contains(text, "started over")) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A leak is named: of two runs alike but for the heap and one class, those two grew.
func TestCompareNamesWhatGrew(t *testing.T) {
	h := rootsHeader()
	h.Stages = h.Stages[1:]
	h.Stages[0].From, h.Stages[0].Tasks, h.Stages[0].Shape = nil, 12, []int{12 * 8192, 512}
	first := made(t, h, math.MaxInt, doneEnd())
	grown := *doneEnd()
	grown.PeakBy[record.Scratch] += 100 * mib
	second := made(t, h, math.MaxInt, &grown, record.Line{Site: "cell:3", Code: "kept = append(kept, x)", Live: 64 * mib})
	out, err := Compare(first, second, [2]string{"1", "2"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"grew most: arena: scratch, 57 MiB → 157 MiB", "What grew", "+ 100 MiB", "Go heap of cell:3 kept = append(kept, x)"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("no %q in %s", want, out.Text)
		}
	}
	if len(svgs(t, out.HTML)) != 1 || !strings.Contains(out.HTML, "Memory over time of two runs: 1 at most 4") || options(t, out.HTML) == nil {
		t.Error("the timelines are not laid over each other")
	}
	same, err := Compare(first, first, [2]string{"1", "1"}, Options{})
	if err != nil || strings.Contains(same.Text, "grew") {
		t.Errorf("a run and itself: %v, %s", err, same.Text)
	}
}

// TestWriteComparison writes a comparison to $GONBEXT_PAGES, to be looked at.
func TestWriteComparison(t *testing.T) {
	dir := os.Getenv("GONBEXT_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	runs := cases(t)
	out, err := Compare(runs["device"], runs["over"], [2]string{"last-1", "last"}, Options{Library: true})
	if err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(dir, "compare.html"), []byte("<!doctype html><meta charset=utf-8><body>"+out.HTML), 0o644)
}
