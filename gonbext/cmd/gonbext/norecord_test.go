package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// Where the run log cannot be had, values, outputs, summaries, plans, reports and exit statuses are those of a run that
// has one, and nothing is left in the folder of temporary files.
func TestComputeWithoutRunLogDoesTheSame(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	testcases.WriteFile(t, file, nil, 0o600)
	succeed(t, dir, "compute", "arange(0, 5, 1)", "-o", "x.npy")
	digits := regexp.MustCompile(`[0-9.]+ (ns|µs|ms|s)\b`)
	for name, log := range map[string][]string{
		"no home":        {"GONBEXT_RUNS=", "HOME=", "XDG_CACHE_HOME="},
		"off":            {"GONBEXT_RUNS=off"},
		"no folder":      {"GONBEXT_RUNS=" + file},
		"nothing in one": {"GONBEXT_RUNS=/proc/self"},
	} {
		t.Run(name, func(t *testing.T) {
			temporary := t.TempDir()
			call := func(env []string, args ...string) outcome {
				t.Helper()
				c := command(dir, append([]string{"compute", "--memory", "64MiB"}, args...)...) // the default is what is free
				c.Env = append(append(c.Env, env...), "TMPDIR="+temporary)
				o := finish(t, c)
				o.stdout = digits.ReplaceAllString(o.stdout, "TIME")
				_ = os.Remove(filepath.Join(dir, "sum.npy"))
				return o
			}
			for _, args := range [][]string{
				{"sum(x)", "x=x.npy", "--report", "r.html"},
				{"sum(x)", "x=x.npy", "-o", "sum.npy"},
				{"sum(x)", "x=x.npy", "-o", "sum.npy", "--fresh", "--report", "r.html"},
				{"sum(x)", "x=x.npy", "-o", "none/sum.npy"},
			} {
				want, got := call(nil, args...), call(log, args...)
				if got != want {
					t.Errorf("%v: %+v, want %+v", args, got, want)
				}
				if page, _ := os.ReadFile(filepath.Join(dir, "r.html")); slices.Contains(args, "--report") && !bytes.Contains(page, []byte("sum(x)")) {
					t.Errorf("%v: the report is not written", args)
				}
				_ = os.Remove(filepath.Join(dir, "r.html"))
			}
			if o := call(log, "sum(x)", "x=x.npy", "--plan"); o.status != 0 || o.stderr != "" || !strings.Contains(o.stdout, "nothing was run") {
				t.Errorf("a plan: %+v", o)
			}
			var f struct {
				Status string
				Stages []any
			}
			if o := call(log, "sum(x)", "x=x.npy", "--json"); json.Unmarshal([]byte(o.stdout), &f) != nil || f.Status != "done" || len(f.Stages) == 0 {
				t.Errorf("it printed %q", o.stdout)
			}
			if left, _ := os.ReadDir(temporary); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "off")); err == nil {
		t.Error("GONBEXT_RUNS=off makes a folder of that name")
	}
}

// A report that cannot be drawn, since there is nowhere for a record, is an error.
func TestReportWithoutAnyRecordIsAnError(t *testing.T) {
	dir := t.TempDir()
	c := command(dir, "compute", "sum(arange(0, 5, 1))", "--report", "r.html")
	c.Env = append(c.Env, "GONBEXT_RUNS=off", "TMPDIR=/proc/self")
	if o := finish(t, c); o.status != 1 || o.stdout != "10\n" || !strings.Contains(o.stderr, "report") {
		t.Errorf("%+v", o)
	}
}
