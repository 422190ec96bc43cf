package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// checked calls gonbext check and returns what it prints.
func checked(t *testing.T, dir string, status int, args ...string) string {
	t.Helper()
	o := finish(t, command(dir, append([]string{"check"}, args...)...))
	if o.status != status {
		t.Fatalf("gonbext check %s: status %d, want %d\n%s%s", strings.Join(args, " "), o.status, status, o.stdout, o.stderr)
	}
	return o.stdout + o.stderr
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}

func TestCheckFailsWherePlanGrows(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(4000, 500)", 2_000_000)
	floats(t, filepath.Join(dir, "large.npy"), "(8000, 500)", 4_000_000)
	expression := []string{"x - mean(x, 0)", "x=x.npy", "-o", "c.npy", "--against", "plan.json"}
	has(t, checked(t, dir, 0, append(expression, "--memory", "64MiB", "--workers", "2", "--write")...), "wrote plan.json", "one plan")
	before := testcases.ReadFile(t, filepath.Join(dir, "plan.json"))
	has(t, checked(t, dir, 0, expression...), "one plan: none grew")
	if files := listing(t, dir); len(files) != 3 {
		t.Errorf("it leaves %v", files)
	}

	// 4000 × 500 float32 are 8 MB, which are read once more, or twice as many.
	has(t, checked(t, dir, 1, "(x - mean(x, 0)) / std(x - mean(x, 0), 0)", "x=x.npy", "-o", "c.npy", "--against", "plan.json"),
		"grew", "passes 2 → 3", "bytes read 16 MB → 24 MB", "+ stage 1: reduce std", "- map x - mean(x, 0)")
	has(t, checked(t, dir, 1, "x - mean(x, 0)", "x=large.npy", "-o", "c.npy", "--against", "plan.json"),
		"bytes read 16 MB → 32 MB", "bytes written 8 MB → 16 MB", "stage 0: reduce mean(x, 0): ", "tasks")
	out := checked(t, dir, 1, "x - mean(x, 0)", "x=x.npy", "-o", "c.zarr", "--chunks", "4000x500", "--against", "plan.json")
	has(t, out, "c.zarr grew: peak", "→ 4,000 × 500")
	has(t, checked(t, dir, 0, "sqrt(x)", "x=x.npy", "-o", "c.npy", "--against", "plan.json"), "is smaller", "passes 2 → 1")

	// The same is written again to the byte, whatever the machine's default budget is.
	checked(t, dir, 0, append(expression, "--write")...)
	if after, err := os.ReadFile(filepath.Join(dir, "plan.json")); err != nil || string(after) != string(before) {
		t.Errorf("the baseline differs:\n%s\n%s", before, after)
	}
	var keys map[string]any
	if err := json.Unmarshal(before, &keys); err != nil || keys["budget"] != 64.0*(1<<20) || keys["workers"] != 2.0 || keys["format"] != 1.0 {
		t.Errorf("%v: %s", err, before)
	}
}

// 4000 × 500 float32 are 8 MB, of which compute would print corners.
func TestCheckWithoutOutputPlansTheWholeResult(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(4000, 500)", 2_000_000)
	checked(t, dir, 0, "sqrt(x)", "x=x.npy", "--against", "plan.json", "--memory", "64MiB", "--workers", "2", "--write")
	b, err := readBaseline(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	if p := b.Plans[0]; p.Read != 8_000_000 || p.Peak < 8_000_000 {
		t.Errorf("it reads %d bytes and takes %d, of a result of 8,000,000", p.Read, p.Peak)
	}
	has(t, checked(t, dir, 1, "sqrt(x)", "x=x.npy", "--against", "small.json", "--memory", "20MiB", "--write"), "needs")
}

func TestCheckOfDefinitionsComparesTheirOneRun(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(400, 500)", 200_000)
	args := []string{"m = mean(x, 0); c = x - m", "x=x.npy", "-o", "m=m.npy", "-o", "c=c.npy", "--against", "plan.json"}
	checked(t, dir, 0, append(args, "--write")...)
	has(t, checked(t, dir, 0, args...), "one plan: none grew")
	args[0] = "m = mean(x, 0); c = (x - m) / std(x - m, 0)"
	has(t, checked(t, dir, 1, args...), "grew: ", "passes")
}

func TestCheckRejectsBadBaselinesAndUsage(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(40, 50)", 2000)
	checked(t, dir, 0, "sum(x)", "x=x.npy", "--against", "plan.json", "--memory", "64MiB", "--workers", "2", "--write")
	good := testcases.ReadFile(t, filepath.Join(dir, "plan.json"))
	for name, text := range map[string]string{
		"torn.json": string(good[:len(good)/2]), "empty.json": "", "newer.json": strings.Replace(string(good), `"format": 1`, `"format": 2`, 1),
		"other.json": "{}", "nothing.json": `{"format": 1, "budget": 1, "workers": 1, "plans": []}`, "text.json": "plans",
	} {
		testcases.WriteFile(t, filepath.Join(dir, name), []byte(text), 0o600)
	}
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{1, "there is no baseline none.json: --write makes it", []string{"sum(x)", "x=x.npy", "--against", "none.json"}},
		{1, "torn.json is not a whole baseline", []string{"sum(x)", "x=x.npy", "--against", "torn.json"}},
		{1, "empty.json is not a whole baseline", []string{"sum(x)", "x=x.npy", "--against", "empty.json"}},
		{1, "nothing.json is not a whole baseline", []string{"sum(x)", "x=x.npy", "--against", "nothing.json"}},
		{1, "text.json is not a whole baseline", []string{"sum(x)", "x=x.npy", "--against", "text.json"}},
		{1, "format 2 of baselines, and this is format 1", []string{"sum(x)", "x=x.npy", "--against", "newer.json"}},
		{1, "format 0 of baselines", []string{"sum(x)", "x=x.npy", "--against", "other.json"}},
		{1, "no such file", []string{"sum(x)", "x=none.npy", "--against", "plan.json"}},
		{1, "none.ipynb: no such notebook", []string{"none.ipynb", "--against", "plan.json"}},
		{2, `or "sum"`, []string{"sun(x)", "x=x.npy", "--against", "plan.json"}},
		{2, "column", []string{"sum(x", "x=x.npy", "--against", "plan.json"}},
		{2, "say with --against", []string{"sum(x)", "x=x.npy"}},
		{2, "the baseline is of 64 MiB", []string{"sum(x)", "x=x.npy", "--against", "plan.json", "--memory", "65MiB"}},
		{2, "the baseline is of 2", []string{"sum(x)", "x=x.npy", "--against", "plan.json", "--workers", "3"}},
		{2, "--memory", []string{"sum(x)", "x=x.npy", "--against", "plan.json", "--memory", "lots"}},
		{2, "there is no folder", []string{"sum(x)", "x=x.npy", "--against", "no/plan.json", "--write"}},
		{2, "a notebook's cells say their own", []string{"plan.ipynb", "--against", "plan.json", "--chunks", "5x5"}},
	} {
		out := checked(t, dir, c.status, c.args...)
		if has(t, out, c.says); strings.Count(out, "\n") != 1 {
			t.Errorf("%v says %s", c.args, out)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "plan.json")); err != nil || string(after) != string(good) {
		t.Errorf("the baseline has changed: %v", err)
	}
}

func TestPlansArePairedByOutputThenByPlace(t *testing.T) {
	plans := func(outputs ...string) (all []plannedRun) {
		for _, o := range outputs {
			all = append(all, plannedRun{Output: o})
		}
		return all
	}
	for _, c := range []struct {
		now, before []string
		want        []int
	}{
		{[]string{"a", "b"}, []string{"b", "a"}, []int{1, 0}},
		{[]string{"a", "", ""}, []string{"", "a", ""}, []int{1, 0, 2}},
		{[]string{"new", "b"}, []string{"old", "b"}, []int{0, 1}},
		{[]string{"a", "b", "c"}, []string{"a"}, []int{0, -1, -1}},
	} {
		if got := pair(plans(c.now...), plans(c.before...)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v and %v: %v, want %v", c.now, c.before, got, c.want)
		}
	}
}

func TestJSONHasPredictedSecondsOnceARunHasTold(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(4000, 2000)", 8_000_000)
	args := []string{"compute", "exp(x)", "x=x.npy", "-o", "y.npy", "--fresh", "--json"}
	if first := object(t, dir, 0, args...); first["predicted_seconds"] != nil {
		t.Errorf("the first run is predicted: %v", first["predicted_seconds"])
	}
	second := object(t, dir, 0, args...)
	predicted, ok := second["predicted_seconds"].(map[string]any)
	if !ok || predicted["low"].(float64) <= 0 || predicted["low"].(float64) > predicted["likely"].(float64) || predicted["likely"].(float64) > predicted["high"].(float64) || predicted["limit"] == "" {
		t.Errorf("%v", second["predicted_seconds"])
	}
	if stages := second["stages"].([]any); stages[0].(map[string]any)["predicted_seconds"] == nil {
		t.Errorf("%v", stages)
	}
}
