package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// object calls gonbext and returns the one JSON object that it prints.
func object(t *testing.T, dir string, exit int, args ...string) map[string]any {
	t.Helper()
	o := finish(t, command(dir, args...))
	if o.status != exit {
		t.Fatalf("gonbext %s: status %d, want %d: %s", strings.Join(args, " "), o.status, exit, o.stderr)
	}
	if want := exit != 0; (strings.Count(o.stderr, "\n") == 1) != want {
		t.Errorf("gonbext %s says %q", strings.Join(args, " "), o.stderr)
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil {
		t.Fatalf("gonbext %s: %v: %s", strings.Join(args, " "), err, o.stdout)
	}
	return all
}

func TestJSONValueHasItsType(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		expression string
		want       any
	}{
		{"sum(arange(0, 5, 1))", 10.0},
		{"mean(arange(0, 4, 1))", 1.5},
		{"all(arange(0, 5, 1) >= 0)", true},
		{"any(arange(0, 5, 1) > 9)", false},
		{"sum(arange(0, 1, 1))", 0.0},
		{`sum(astype(arange(0, 3, 1), "complex64"))`, []any{3.0, 0.0}},
		{"log(sum(arange(0, 1, 1)))", "-Infinity"},
		{"sqrt(sum(arange(0, 3, 1)) - 4)", "NaN"},
		{`sum(astype(full(0.1, 1), "float32"))`, 0.1}, // with the digits that its type has
		{"reshape(arange(0, 6, 1), 2, 3)", []any{[]any{0.0, 1.0, 2.0}, []any{3.0, 4.0, 5.0}}},
		{"arange(0, 2, 1)/0", []any{"NaN", "Infinity"}},
		{`reshape(astype(arange(0, 2, 1), "complex64"), 2, 1)`, []any{[]any{[]any{0.0, 0.0}}, []any{[]any{1.0, 0.0}}}},
		{"zeros(2, 0) > 0", []any{[]any{}, []any{}}},
	} {
		if got := object(t, dir, 0, "compute", c.expression, "--json")["value"]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is %v (%T), want %v", c.expression, got, got, c.want)
		}
	}
}

func TestJSONTellsSkippedFromDone(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"done", "skipped"} {
		got := object(t, dir, 0, "compute", "arange(0, 5, 1) * 2", "-o", "y.npy", "--json")
		if got["status"] != want || got["output"] != "y.npy" || !strings.Contains(got["title"].(string), "2") {
			t.Errorf("%v", got)
		}
		if _, ok := got["value"]; ok {
			t.Error("it has a value beside its output")
		}
	}
	if got := object(t, dir, 0, "compute", "arange(0, 5, 1) * 3", "-o", "y.npy", "--plan", "--json"); got["status"] != "planned" {
		t.Errorf("%v", got)
	}
}

func TestJSONOfFailuresIsOneObject(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(5, 6)", 30)
	for _, c := range []struct {
		exit int
		says string
		args []string
	}{
		{1, "no such file", []string{"compute", "sqrt(x)", "x=none.npy", "-o", "y.npy", "--json"}},
		{2, "column 6", []string{"compute", "sqrt(z)", "x=x.npy", "-o", "y.npy", "--json"}},
		{2, "--bugdet", []string{"compute", "sqrt(x)", "x=x.npy", "-o", "y.npy", "--bugdet", "1", "--json"}},
		{1, "input", []string{"convert", "x.npy", "x.npy", "--json"}},
		{1, "no such file", []string{"info", "none.npy", "--json"}},
		{2, "float23", []string{"footprint", "3", "float23", "--json"}},
		{2, "lots", []string{"footprint", "lots", "--json"}},
	} {
		got := object(t, dir, c.exit, c.args...)
		if text, _ := got["error"].(string); got["status"] != "failed" || !strings.Contains(text, c.says) {
			t.Errorf("%v: %v", c.args, got)
		}
	}
	got := object(t, dir, 1, "compute", "sqrt(x)", "x=x.npy", "-o", "y.npy", "--memory", "1KiB", "--json")
	if need, _ := got["need"].(float64); need < 1<<20 || got["limit"] != 1024.0 {
		t.Errorf("%v", got)
	}
}

func TestJSONOfInterruptedRunIsCancelled(t *testing.T) {
	o := during(t, t.TempDir(), func(p *os.Process) {
		if err := p.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	}, "--json")
	var got failureFigures
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil || got.Status != "cancelled" || o.status != 130 {
		t.Errorf("status %d, %v: %s", o.status, err, o.stdout)
	}
}

func TestJSONTellsOfReportThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "locked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("none/page.html", filepath.Join(dir, "locked", "page.html")); err != nil {
		t.Fatal(err)
	}
	got := object(t, dir, 1, "compute", "sum(arange(0, 5, 1))", "--json", "--report", "locked/page.html")
	if text, _ := got["error"].(string); got["value"] != 10.0 || got["status"] != "done" || !strings.Contains(text, "report") {
		t.Errorf("%v", got)
	}
}
