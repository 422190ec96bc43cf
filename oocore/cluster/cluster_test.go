package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/linalg"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/units"
)

var update = flag.Bool("update", false, "write the generated table of OPERATORS.md anew")

// fakeSlurm puts commands on PATH that accept all jobs and run none, and returns the file that has a line for each job.
func fakeSlurm(t *testing.T, arraySize int, answer string) (jobs string) {
	t.Helper()
	dir := t.TempDir()
	jobs = filepath.Join(dir, "jobs")
	for name, script := range map[string]string{
		"sbatch":   fmt.Sprintf("cat >/dev/null; "+seen+"echo \"$*\" >>%s; "+answer, jobs, jobs),
		"squeue":   "exit 0",
		"scancel":  "exit 0",
		"scontrol": fmt.Sprintf("echo 'MaxArraySize            = %d'", arraySize),
		"gonbext":  "exit 0",
	} {
		testcases.WriteFile(t, filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	t.Chdir(t.TempDir())
	return jobs
}

// seen lets the first job have answered that it sees everything, in a format.
const seen = `for w; do case $w in --output=*/probe.log) w=${w#*=}; : >"${w%%/*}/seen";; esac; done; `

// number is what a fake sbatch answers.
const number = "wc -l <%s | tr -d ' '"

func on(t *testing.T, name string) oocore.Option {
	t.Helper()
	o, err := cluster.On(name, cluster.Options{Detach: true})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	text := testcases.ReadFile(t, name)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// A plan of a million chunks is submitted by ranges, not by a job for each chunk.
func TestMillionChunksAreAFewJobs(t *testing.T) {
	jobs := fakeSlurm(t, 1001, number)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := oocore.Random(oocore.Float64, 1, 1_000_000, 100_000).Sqrt().Save(t.Context(), "x.zarr", oocore.Memory("256MiB"), oocore.Chunks(1000, 100), on(t, "slurm"))
	runtime.ReadMemStats(&after)
	if !errors.Is(err, cluster.ErrDetached) {
		t.Fatal(err)
	}
	if n := len(lines(t, jobs)); n > 12 {
		t.Errorf("%d jobs", n)
	}
	if n := int64(after.TotalAlloc - before.TotalAlloc); n > 100e6 {
		t.Errorf("submitting allocates %s", units.Traffic(n))
	}
}

// Where an array has one element at most, each element is a job.
func TestArraysOfOneElement(t *testing.T) {
	jobs := fakeSlurm(t, 1, number)
	_, err := oocore.Random(oocore.Float64, 1, 40, 10).Save(t.Context(), "x.zarr", oocore.Memory("256MiB"), oocore.Chunks(10, 10), on(t, "slurm"), oocore.Processes(3))
	if !errors.Is(err, cluster.ErrDetached) {
		t.Fatal(err)
	}
	for _, job := range lines(t, jobs) {
		if strings.Contains(job, "--array=") && !strings.Contains(job, "--array=0-0%") {
			t.Error(job)
		}
	}
}

// What a batch system or a plan does not allow is one clear sentence, and nothing is left.
func TestSubmitRejects(t *testing.T) {
	a := oocore.Random(oocore.Float64, 1, 100, 10)
	f := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error { copy(dst, src); return nil }, a, oocore.MapOptions{}) // the line below has its number
	_, _, line, _ := runtime.Caller(0)
	for name, c := range map[string]struct {
		a      *oocore.Array
		size   int
		answer string
		want   string
	}{
		"a version of another answer":   {a, 1001, "echo Submitted by the new Slurm %[1]s", "this version of it is not known"},
		"a version of other settings":   {a, -1, number, "does not say how many elements an array has at most"},
		"a partition that takes no job": {a, 1001, "echo the partition is full >&2; exit 1; %s", "Slurm rejects the request: sbatch: the partition is full"},
		"a Go function":                 {f, 1001, number, fmt.Sprintf("map_chunks (cluster_test.go:%d): a plan with a Go function or an array of the program cannot leave its process", line-1)},
	} {
		t.Run(name, func(t *testing.T) {
			fakeSlurm(t, c.size, c.answer)
			_, err := c.a.Save(t.Context(), "x.npy", oocore.Memory("256MiB"), on(t, "slurm"))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if name == "a Go function" && !errors.Is(err, plan.ErrNotPortable) {
				t.Errorf("%v is not ErrNotPortable", err)
			}
			if left, _ := filepath.Glob(".*"); name == "a Go function" && len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// script gives a command of the fake Slurm another meaning.
func script(t *testing.T, jobs, command, text string) {
	t.Helper()
	testcases.WriteFile(t, filepath.Join(filepath.Dir(jobs), command), []byte("#!/bin/sh\n"+text+"\n"), 0o755)
}

// Slurm's commands say in several lines that its daemon is not found or does not answer: one sentence says what to do, and nothing is left.
func TestUnreachableSlurm(t *testing.T) {
	jobs := fakeSlurm(t, 1001, number)
	script(t, jobs, "scontrol", `printf 'scontrol: error: fetch_config: DNS SRV lookup failed\nscontrol: fatal: Could not establish a configuration source\n' >&2; exit 1`)
	_, err := oocore.Ones(oocore.Float64, 100).Save(t.Context(), "x.npy", oocore.Memory("256MiB"), on(t, "slurm"))
	want := "Slurm cannot be reached: scontrol: Could not establish a configuration source: run this where sbatch works, such as on a login node, and see whether the daemons of Slurm run"
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %q", err, want)
	}
	if left, _ := filepath.Glob(".*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A second submission to an output is told how to have the first, and not that it resumes anything.
func TestSecondSubmission(t *testing.T) {
	jobs := fakeSlurm(t, 1001, number)
	x, limit := oocore.Random(oocore.Float64, 1, 40, 10), oocore.Memory("256MiB")
	if _, err := x.Save(t.Context(), "x.zarr", limit, on(t, "slurm")); !errors.Is(err, cluster.ErrDetached) {
		t.Fatal(err)
	}
	submitted := lines(t, jobs)
	listed(t, jobs, "PENDING Resources")
	_, err := x.Save(t.Context(), "x.zarr", limit, on(t, "slurm"))
	out, _ := filepath.Abs("x.zarr")
	want := fmt.Sprintf("another run computes it already, on Slurm in 1 job: gonbext jobs attach %[1]s waits for it, and gonbext jobs cancel %[1]s ends it", out)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "resumes") {
		t.Errorf("got %v, want %q", err, want)
	}
	if more := lines(t, jobs); len(more) != len(submitted) {
		t.Errorf("%q were submitted", more[len(submitted):])
	}
}

// The table of OPERATORS.md that says what plans take on one worker to a thousand is generated here:
// go test ./oocore/cluster -run Scaling -update
func TestScalingTable(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir()) // no run has told anything of this machine
	var b strings.Builder
	fmt.Fprintln(&b, "| plan | bytes | 1 worker | 10 | 100 | 1,000 | the longest stage of the last waits for |\n| --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range []struct {
		name string
		of   func(x *oocore.Array) *oocore.Array
	}{
		{"elementwise, `tanh(sqrt(x))`", func(x *oocore.Array) *oocore.Array { return x.Sqrt().Tanh() }},
		{"reduction, `x - mean(x, 0)`", func(x *oocore.Array) *oocore.Array { return x.Sub(x.Mean(0)) }},
		{"rechunk, rows to columns", func(x *oocore.Array) *oocore.Array { return x.T() }},
		{"product, `matmul(xᵀ, x)`", func(x *oocore.Array) *oocore.Array { return x.T().MatMul(x) }},
		{"sort, `sort(x, 0)`", func(x *oocore.Array) *oocore.Array { return x.Sort(0) }},
		{"decomposition, `qr(x)`", func(x *oocore.Array) *oocore.Array { q, _ := linalg.QR(x); return q }},
	} {
		for _, rows := range []int{1_250_000, 125_000_000, 12_500_000_000} {
			dir := t.TempDir()
			t.Chdir(dir)
			metadataOnly(t, "x.zarr", rows)
			p, err := c.of(oocore.Open("x.zarr")).Plan("y.zarr", oocore.Memory("4GiB"), on(t, "slurm"))
			if err != nil {
				t.Fatal(c.name, rows, err)
			}
			all, err := cluster.Scaling("slurm", p, 1, 10, 100, 1000)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "| %s | %s ", c.name, units.Traffic(int64(rows)*1000*8))
			for _, s := range all {
				fmt.Fprintf(&b, "| %s ", span(s.Seconds))
			}
			fmt.Fprintf(&b, "| %s |\n", all[len(all)-1].Limit)
		}
	}
	_, file, _, _ := runtime.Caller(0)
	file = filepath.Join(filepath.Dir(file), "OPERATORS.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: go test ./oocore/cluster -run Scaling -update -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("OPERATORS.md has no place for the table")
	}
	if whole := head + begin + b.String() + end + tail; *update {
		err = os.WriteFile(file, []byte(whole), 0o644)
	} else if whole != string(text) {
		t.Errorf("the table is stale: go test ./oocore/cluster -run Scaling -update writes\n%s", b.String())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// span writes seconds in the unit that suits.
func span(seconds float64) string {
	switch {
	case seconds >= 2*86400:
		return fmt.Sprintf("%.0f d", seconds/86400)
	case seconds >= 2*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	case seconds >= 120:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f s", seconds)
}

// metadataOnly writes an array of rows of a thousand float64 that has no chunks.
func metadataOnly(t *testing.T, name string, rows int) {
	t.Helper()
	meta := fmt.Sprintf(`{"zarr_format": 3, "node_type": "array", "shape": [%d, 1000], "data_type": "float64",
"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [12500, 1000]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
"fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}}`, rows)
	if err := errors.Join(os.Mkdir(name, 0o755), os.WriteFile(filepath.Join(name, "zarr.json"), []byte(meta), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// listed has the fake Slurm list its first job in a state, and another user's of the same number.
func listed(t *testing.T, jobs, state string) {
	t.Helper()
	_, rest, _ := strings.Cut(lines(t, jobs)[0], "--job-name=")
	name, _, _ := strings.Cut(rest, " ")
	script(t, jobs, "squeue", "echo '1 "+name+" "+state+"'; echo '2 of-another PENDING JobHeldUser'")
}

// Who waits for a run hears why its jobs wait, where they do not wait for others to end; jobs of its numbers that are not its own say nothing.
func TestWaitSaysWhyJobsWait(t *testing.T) {
	jobs := fakeSlurm(t, 1001, number)
	if _, err := oocore.Random(oocore.Float64, 1, 40, 10).Save(t.Context(), "x.zarr", oocore.Memory("256MiB"), on(t, "slurm")); !errors.Is(err, cluster.ErrDetached) {
		t.Fatal(err)
	}
	runs, err := cluster.Find(t.Context(), "x.zarr")
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	defer cluster.AskOften()()
	for state, want := range map[string]string{
		"PENDING Priority":      " tasks, stage 1 of 1",
		"RUNNING None":          " tasks, stage 1 of 1",
		"PENDING PartitionDown": " tasks, stage 1 of 1: job 1 waits, and the reason that Slurm gives is PartitionDown",
		"PENDING ReqNodeNotAvail, UnavailableNodes:n": " tasks, stage 1 of 1: job 1 waits, and the reason that Slurm gives is ReqNodeNotAvail",
	} {
		listed(t, jobs, state)
		ctx, stop := context.WithCancel(t.Context())
		var said string
		if err := runs[0].Wait(ctx, func(line string) { said = line; stop() }); !errors.Is(err, cluster.ErrDetached) || !strings.HasSuffix(said, want) {
			t.Errorf("%s: %q, %v, want it to end with %q", state, said, err, want)
		}
	}
}
