package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// Where the run log cannot be had, the value is printed and the output written all the
// same, and one line says what is missing.
func TestComputeWithoutRunLogPrintsItsValue(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	testcases.WriteFile(t, file, nil, 0o600)
	succeed(t, dir, "compute", "arange(0, 5, 1)", "-o", "x.npy")
	for name, log := range map[string][]string{
		"no home":        {"GONBEXT_RUNS=", "HOME=", "XDG_CACHE_HOME="},
		"off":            {"GONBEXT_RUNS=off"},
		"no folder":      {"GONBEXT_RUNS=" + file},
		"nothing in one": {"GONBEXT_RUNS=/proc/self"},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(args ...string) outcome {
				t.Helper()
				c := command(dir, append([]string{"compute", "sum(x)", "x=x.npy", "--report", "r.html"}, args...)...)
				c.Env = append(c.Env, log...)
				o := finish(t, c)
				if o.status != 0 || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, "GONBEXT_RUNS") && !strings.Contains(o.stderr, "run log") {
					t.Errorf("status %d, %q", o.status, o.stderr)
				}
				return o
			}
			if o := call(); o.stdout != "10\n" {
				t.Errorf("it printed %q", o.stdout)
			}
			var figures struct {
				Value    int
				Computed int
				Status   string
			}
			if o := call("--json"); json.Unmarshal([]byte(o.stdout), &figures) != nil || figures.Value != 10 || figures.Status != "done" || figures.Computed != 1 {
				t.Errorf("it printed %q", o.stdout)
			}
			call("-o", "sum.npy")
			if _, err := os.Stat(filepath.Join(dir, "sum.npy")); err != nil {
				t.Error(err)
			}
			if err := os.Remove(filepath.Join(dir, "sum.npy")); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "off")); err == nil {
		t.Error("GONBEXT_RUNS=off makes a folder of that name")
	}
}
