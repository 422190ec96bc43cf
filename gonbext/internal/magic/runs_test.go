package magic

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// logged writes records of runs that began at times after noon, and gives the
// names of their files.
func logged(t *testing.T, after ...time.Duration) (names []string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	for i, d := range after {
		w, err := record.Create(dir, record.Header{Title: "run " + string(rune('a'+i)), Start: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).Add(d), Budget: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.End(record.End{Status: record.Done, Duration: time.Duration(i+1) * time.Second, Peak: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		names = append(names, w.Run())
	}
	return names
}

// late is what a cell shows when its turn has come.
func late(t *testing.T, code string) (string, error) {
	t.Helper()
	cell, err := newSession().Rewrite(code)
	if err != nil || len(cell.Late) != 1 || cell.Code != "" {
		t.Fatalf("%s: %+v, %v", code, cell, err)
	}
	out, err := cell.Late[0](context.Background(), relay.Now{})
	return out.Text, err
}

func TestRuns(t *testing.T) {
	logged(t)
	if text, err := late(t, "%runs"); err != nil || !strings.Contains(text, "No run") {
		t.Errorf("without runs: %s, %v", text, err)
	}
	if _, err := late(t, "%compare last last-1"); err == nil || !strings.HasPrefix(err.Error(), "%compare: no run") {
		t.Errorf("without runs: %v", err)
	}
	names := logged(t, 0, time.Second, 2*time.Second, 2*time.Second+time.Millisecond)
	w, err := record.Create(os.Getenv("GONBEXT_RUNS"), record.Header{Title: "a corner", Cell: record.Unreported})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.End(record.End{Status: record.Done}); err != nil {
		t.Fatal(err)
	}
	text, err := late(t, "%runs")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "a corner") {
		t.Errorf("what only shows something is listed:\n%s", text)
	}
	at := -1
	for _, id := range []string{names[3], names[2], "20260801-120001 ", "20260801-120000 "} { // cut to the second where that will do
		i := strings.Index(text, id)
		if i <= at {
			t.Errorf("%s is not in its place in\n%s", id, text)
		}
		at = i
	}
	if text, err = late(t, "%runs 1"); err != nil || !strings.Contains(text, "run d") || strings.Contains(text, "run c") {
		t.Errorf("the latest: %s, %v", text, err)
	}
	matches, _, _ := complete("%compare 2|")
	if len(matches) != 4 || matches[3] != "20260801-120000" {
		t.Errorf("Tab offers %v", matches)
	}
}

func TestCompareFindsRuns(t *testing.T) {
	names := logged(t, 0, time.Second, time.Second+time.Millisecond)
	for operands, want := range map[string][2]string{
		"last-1 last":               {"run b", "run c"},
		"20260801-120000 last-2":    {"run a", "run a"},
		names[1] + " 2026":          {},
		"20260801-12000 last":       {},
		"last-3 last":               {},
		"last last2":                {},
		"last last-x":               {},
		"last last--1":              {},
		"20260801-120001 last":      {},
		"20260801-120001.001 lasts": {},
		"20260801-120001.001 last":  {"run c", "run c"},
	} {
		text, err := late(t, "%compare "+operands)
		if want[0] == "" {
			if err == nil || !strings.HasPrefix(err.Error(), "%compare: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v\n%s", operands, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", operands, err)
			continue
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "what") && strings.Join(strings.Fields(line), " ") != "what "+want[0]+" "+want[1] {
				t.Errorf("%s: %s", operands, line)
			}
		}
	}
}

func TestCompareDrawsAsTheChartFlagSays(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	for range 2 {
		w, err := record.Create(dir, record.Header{Budget: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for at := range time.Duration(3) {
			w.Sample(record.Sample{At: at * time.Second, Arena: record.Bytes{1 << 19}})
		}
		if err := w.End(record.End{Status: record.Done, Duration: 3 * time.Second}); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string]struct{ picture, script bool }{"": {true, true}, " --chart svg": {true, false}, " --chart=none": {false, false}} {
		cell, err := newSession().Rewrite("%compare last-1 last" + flag)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cell.Late[0](context.Background(), relay.Now{})
		if err != nil || strings.Contains(out.HTML, "<img") != want.picture || strings.Contains(out.HTML, "<script") != want.script {
			t.Errorf("%q: %v, %s", flag, err, out.HTML)
		}
	}
}

func TestChunksOfWhatHasNone(t *testing.T) {
	if _, err := late(t, "%chunks none.zarr"); err == nil || !strings.Contains(err.Error(), "none.zarr") {
		t.Errorf("%v", err)
	}
}

func TestPathsAreThoseOfCells(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"", "a.zarr", "a.zarr"}, {here, "a.zarr", "a.zarr"}, {"/data", "a.zarr", "/data/a.zarr"}, {"/data", "w.npz#a", "/data/w.npz#a"},
		{"/data", "/other/a.zarr", "/other/a.zarr"}, {"/data", "s3://bucket/a.zarr", "s3://bucket/a.zarr"},
	} {
		if got := from(c[0], c[1]); got != c[2] {
			t.Errorf("%s from %s is %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

// Numbers are the notebook's own: runs of others have names only.
func TestRunsOfANotebookAreNumbered(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	write := func(cell, title string, process bool) string {
		w, err := record.Create(dir, record.Header{Cell: cell, Title: title, Budget: 64 << 20, Process: process})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.End(record.End{Status: record.Done, Duration: time.Second, Peak: 1 << 20, ProcessPeak: 9 << 20}); err != nil {
			t.Fatal(err)
		}
		return w.Run()
	}
	s := &Session{notebook: "nb-", newID: func() string { return "nb-X" }}
	show := func(code string) (string, error) {
		cell, err := s.Rewrite(code)
		if err != nil || len(cell.Late) != 1 {
			t.Fatalf("%s: %+v, %v", code, cell, err)
		}
		out, err := cell.Late[0](context.Background(), relay.Now{})
		return out.Text, err
	}
	write("nb-1", "the cell's process", true)
	write("nb-1", "first", false)
	foreign := write("other-1", "foreign", false)
	write("nb-2", "the cell's process", true) // a cell without runs
	text, err := show("%runs")
	if err != nil || strings.Contains(text, "foreign") || !strings.Contains(text, "2 of 2 runs") {
		t.Errorf("%s, %v", text, err)
	}
	for code, want := range map[string]string{
		"%report": "Peak of the process 9 MiB of 64 MiB", "%report 2": "Peak of the process 9 MiB", "%report last-1": "first", "%report 1": "first",
		"%report " + foreign: "foreign", "%runs all": "foreign",
	} {
		if text, err := show(code); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s, %v", code, text, err)
		}
	}
	if _, err := show("%report 3"); err == nil || err.Error() != "%report: there is no run 3: this notebook has 2" {
		t.Errorf("%v", err)
	}
}

// A record that cannot be read says why, to who asks for it and to who lists the runs.
func TestRunsOfUnreadableRecords(t *testing.T) {
	names := logged(t, 0, time.Second)
	dir := os.Getenv("GONBEXT_RUNS")
	newer, torn := "20270101-000000.000000-1-0001", "20260101-000000.000000-1-0001"
	whole := testcases.ReadFile(t, record.Path(dir, names[0]))
	for name, data := range map[string][]byte{newer: append([]byte("gonbrun\xff"), whole[8:]...), torn: whole[:20]} {
		testcases.WriteFile(t, record.Path(dir, name), data, 0o600)
	}
	if text, err := late(t, "%runs"); err != nil || !strings.Contains(text, "2 of 2 runs") || !strings.Contains(text, "a newer gonbext reads it") || !strings.Contains(text, newer) {
		t.Errorf("%s, %v", text, err)
	}
	for operands, want := range map[string]string{
		"%report " + newer: "a newer gonbext reads it", "%report 2027": "a newer gonbext reads it", "%report 20260101": "the header is incomplete",
		"%compare last " + torn: "the header is incomplete",
	} {
		if _, err := late(t, operands); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", operands, err)
		}
	}
	// One that was cut among its rows holds those before.
	testcases.WriteFile(t, record.Path(dir, names[1]), whole[:len(whole)-10], 0o600)
	if text, err := late(t, "%report last"); err != nil || !strings.Contains(text, "Killed") {
		t.Errorf("%s, %v", text, err)
	}
}

// last is the last run, plan the last plan, whichever was later.
func TestLastIsARunAndPlanAPlan(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	for i, planned := range []bool{false, true, false, true} {
		status := map[bool]record.Status{false: record.Done, true: record.Planned}[planned]
		w, err := record.Create(dir, record.Header{Title: fmt.Sprint("run ", i), PlanOnly: planned, Start: time.Unix(int64(i), 0)})
		if err == nil {
			err = w.End(record.End{Status: status})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for operands, want := range map[string]string{"last": "run 2", "last-1": "run 0", "plan": "run 3", "plan-1": "run 1", "": "run 2"} {
		if text, err := late(t, "%report "+operands); err != nil || !strings.HasPrefix(text, want+"\n") {
			t.Errorf("%q: %v, %.40q", operands, err, text)
		}
	}
	page := filepath.Join(t.TempDir(), "report.html")
	if _, err := late(t, "%report last-1 --html "+page); err != nil {
		t.Fatal(err)
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.HasPrefix(html, []byte("<!doctype html>")) || !bytes.Contains(html, []byte("run 0")) {
		t.Errorf("the page: %v, %.60s", err, html)
	}
	for _, none := range []string{"last-2", "plan-2"} {
		if _, err := late(t, "%report "+none); err == nil || !strings.Contains(err.Error(), "there is no "+none) {
			t.Errorf("%s: %v", none, err)
		}
	}
}
