package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// The plan of a run on a cluster says one set of figures, as text, in JSON and on a page: what is asked for each worker, of which
// budget, and how long all take, whether runs on this machine have told their rates or none has.
func TestPlanForACluster(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", t.TempDir()) // no cluster is asked
	succeed(t, dir, "compute", "random(1, 2000, 2000)", "-o", "x.zarr", "--chunks", "100x2000")
	headline := regexp.MustCompile(`(?m)^Would take (\S+ MiB) of 1 GiB in each worker · .* · (\S+ \S+) \((\S+ \S+) to (\S+ \S+)\) on 6 workers of Slurm · nothing was run$`)
	for _, told := range []bool{false, true} {
		if told {
			succeed(t, dir, "compute", "sqrt(x)", "x=x.zarr", "-o", "here.zarr", "--fresh")
		} else if err := os.RemoveAll(filepath.Join(dir, ".runs")); err != nil {
			t.Fatal(err)
		}
		plan := []string{"compute", "sqrt(x) - mean(x, 0)", "x=x.zarr", "-o", "y.zarr", "--on", "slurm", "--memory", "1GiB", "--processes", "6", "--workers", "1", "--element-time", "20ms", "--plan"}
		out := succeed(t, dir, append(plan, "--report", "plan.html")...)
		found := headline.FindStringSubmatch(out)
		if found == nil {
			t.Fatalf("the headline is another one: %s", out)
		}
		memory, seconds := found[1], found[2]
		if strings.Contains(out, "not known") {
			t.Errorf("what is predicted is not known: %s", out)
		}
		if !regexp.MustCompile(`(?m)^6 +` + seconds + ` .* ` + memory + `  `).MatchString(out) {
			t.Errorf("no row of 6 workers has %s and %s: %s", seconds, memory, out)
		}
		page, err := os.ReadFile(filepath.Join(dir, "plan.html"))
		if err != nil || !strings.Contains(string(page), found[0]) {
			t.Errorf("the page has not %q: %v", found[0], err)
		}
		f := object(t, dir, 0, append(plan, "--json")...)
		asked := f["cluster"].(map[string]any)["memory"].(float64)
		if f["budget"].(float64) != 1<<30 || units.Bytes(int64(asked)) != memory {
			t.Errorf("the budget is %v and %v is asked for each worker, want 1 GiB and %s", f["budget"], asked, memory)
		}
		if peak := f["predicted_peak"].(float64); peak <= 0 || peak > asked {
			t.Errorf("the buffers of a worker take %v of the %v that it is given", peak, asked)
		}
		for _, s := range f["stages"].([]any) {
			sum := 0.0
			for _, n := range s.(map[string]any)["predicted"].(map[string]any) {
				sum += n.(float64)
			}
			if sum > f["predicted_peak"].(float64) {
				t.Errorf("a stage takes %v, the peak of all is %v", sum, f["predicted_peak"])
			}
		}
		likely := f["predicted_seconds"].(map[string]any)
		for i, name := range []string{"likely", "low", "high"} {
			if got := units.Duration(time.Duration(likely[name].(float64) * float64(time.Second))); got != found[2+i] {
				t.Errorf("%s are %s, in the headline %s", name, got, found[2+i])
			}
		}
	}
}
