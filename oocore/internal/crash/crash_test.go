// Package crash disturbs saves of every kind: it kills them at any moment, and lets each of
// their file operations and requests fail.
package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A job is run by a copy of the test's binary, which is told of it by its
// environment.
const (
	jobVariable    = "GONBEXT_TEST_JOB"
	sourceVariable = "GONBEXT_TEST_SOURCE"
	targetVariable = "GONBEXT_TEST_TARGET"
)

// job is an expression and how its result is stored.
type job struct {
	name, expr, ext string
	opts            []oocore.Option
}

func jobs() []job {
	sharded := []oocore.Option{oocore.Chunks(256, 256), oocore.Shards(1024, 1024), oocore.Codec("zstd:1")}
	tall := []oocore.Option{oocore.Chunks(8192, 64), oocore.Shards(8192, 256), oocore.Codec("zstd:1")}
	var all []job
	for _, j := range []job{
		{name: "elementwise", expr: "sqrt(x)*2 + exp(-x)"},
		{name: "reduction", expr: "std(x, 1)"},
		{name: "product", expr: "matmul(x, transpose(slice(x, \"0:1024\")))"},
		{name: "rechunk", expr: "transpose(x)"},
		{name: "sort", expr: "sort(x, 0)"},
		{name: "scan", expr: "cumsum(x, 0)"},
		{name: "transform", expr: "abs(fft(x, 0, 0))"},
		{name: "median", expr: "median(x, 0)"},
		{name: "factors", expr: "qr(slice(x, \":, 0:256\"), \"q\")"},
	} {
		flat, zarr := j, j
		flat.ext, zarr.ext = ".npy", ".zarr"
		switch j.name {
		case "rechunk":
			zarr.expr, zarr.opts = "x", tall
		case "median":
			zarr.opts = []oocore.Option{oocore.Chunks(512)}
		case "reduction":
			zarr.opts = []oocore.Option{oocore.Chunks(512), oocore.Shards(2048), oocore.Codec("zstd:1")}
		default:
			zarr.opts = sharded
		}
		all = append(all, flat, zarr)
	}
	return all
}

// plan is that of the job's run.
func (j job) plan(t *testing.T, source, target string) *host.Plan {
	t.Helper()
	p, err := oocore.Eval(j.expr, oocore.Names{"x": oocore.Open(source)}).Plan(target, append(j.opts, oocore.Memory("128MiB"))...)
	if err != nil {
		t.Fatal(err)
	}
	return host.Sized(p)
}

func (j job) run(source, target string) error {
	names := oocore.Names{"x": oocore.Open(source)}
	_, err := oocore.Eval(j.expr, names).Save(context.Background(), target, append(j.opts, oocore.Memory("128MiB"))...)
	return err
}

func TestMain(m *testing.M) {
	if name := os.Getenv(saveVariable); name != "" {
		if err := runSave(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	name := os.Getenv(jobVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	for _, j := range jobs() {
		if j.name+j.ext == name {
			if err := j.run(os.Getenv(sourceVariable), os.Getenv(targetVariable)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(2)
}

// start begins a job in a process of its own.
func start(t *testing.T, j job, source, target, runs string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), jobVariable+"="+j.name+j.ext, sourceVariable+"="+source, targetVariable+"="+target, "GONBEXT_RUNS="+runs)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// kills is how many runs of each job are killed: 50 where GONBEXT_KILLS says so.
func kills(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("GONBEXT_KILLS")); err == nil {
		return n
	}
	n := 2
	switch {
	case testcases.All():
		return 6
	case testcases.Full():
		n = 4
	}
	t.Logf("%d kills of each job: GONBEXT_TEST=all makes it six, GONBEXT_KILLS=50 fifty", n)
	return n
}

// Killed at any moment, again and again, a run comes to the same bytes, and does no
// chunk again that its journal has.
func TestKilledRunsGoOn(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "x.npy")
	rows := 4 << 10
	if testcases.Full() {
		rows = 16 << 10
	}
	x := oocore.Random(oocore.Float32, 7, rows, 4096)
	if _, err := x.Save(context.Background(), source, oocore.Memory("256MiB")); err != nil {
		t.Fatal(err)
	}
	n := kills(t)
	resumed, all := 0, 0
	var worst, again time.Duration // of a kill, and of all
	sample := 2
	if testcases.Full() {
		sample = 4
	}
	for _, j := range testcases.Sample(t, jobs(), sample, func(job) []string { return []string{""} }) {
		t.Run(j.name+j.ext, func(t *testing.T) {
			want, target := filepath.Join(dir, "want"+j.ext), filepath.Join(dir, "out"+j.ext)
			planned := j.plan(t, source, target)
			begin := time.Now()
			undisturbed := start(t, j, source, want, filepath.Join(dir, "runs0"))
			if err := undisturbed.Wait(); err != nil {
				t.Fatal(err)
			}
			whole, needed := time.Since(begin), processorTime(undisturbed)
			random := testcases.Rand(t)
			for left := n; left > 0; {
				runs := t.TempDir()
				var done map[int]checkpoint.Tasks
				var killedRun string     // its record
				var before []record.Task // and its tasks
				var spent time.Duration  // by that run
				again -= needed
				for {
					c := start(t, j, source, target, runs)
					ended := make(chan error, 1)
					go func() { ended <- c.Wait() }()
					at := time.Now().Add(time.Duration(random.Int64N(int64(whole))))
					due := func() bool { return time.Now().After(at) }
					if left == n && len(done) == 0 { // once there is a task that the next run leaves out
						due = func() bool { return len(noted(planned, target)) > 0 }
					}
					var err error
					var killed bool
					for running := true; running; {
						select {
						case err = <-ended:
							running = false
						case <-time.After(time.Millisecond):
							if !killed && due() {
								killed = c.Process.Kill() == nil
							}
						}
					}
					if name, now := lastRun(t, runs, killedRun, done); name != killedRun {
						worst = max(worst, repeated(before, now, spent))
						killedRun, before, spent = name, now, processorTime(c)
					}
					again += processorTime(c)
					if len(done) > 0 {
						resumed++
					}
					if err == nil {
						break
					}
					if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !killed || !ok || status.Signal() != syscall.SIGKILL {
						t.Fatal(err)
					}
					left--
					all++
					done = noted(planned, target)
				}
				same(t, want, target)
				left-- // so that it ends where no kill comes in time
			}
			remove(t, want, target)
			for _, e := range entries(t, dir) {
				if e != "x.npy" && e != "runs0" {
					t.Errorf("%s is left", e)
				}
			}
		})
	}
	if resumed == 0 && testcases.Full() { // the small array of a plain run may be done before its checkpoint is
		t.Error("no run resumed where one was killed")
	}
	t.Logf("of %d kills the worst lost tasks that %d workers had done in %v; together the runs took %v of processors more than undisturbed ones",
		all, workers, worst.Round(time.Millisecond), again.Round(time.Millisecond))
}

// workers is how many a run has: as many as the test's own would.
var workers = runtime.GOMAXPROCS(0)

// processorTime is the time of processors that an ended process has taken, which does not
// depend on what else the machine does.
func processorTime(c *exec.Cmd) time.Duration {
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// repeated is how long all workers together took, on processors of their own, for those tasks
// of a run that the next one did again. spent is what the run has taken of processors.
func repeated(before, now []record.Task, spent time.Duration) time.Duration {
	type task struct {
		stage uint16
		chunk int64
	}
	did := map[task]bool{}
	for _, row := range now {
		did[task{row.Stage, row.Chunk}] = true
	}
	var lost, all time.Duration
	for _, row := range before {
		all += row.Duration
		if did[task{row.Stage, row.Chunk}] {
			lost += row.Duration
		}
	}
	if lost == 0 {
		return 0
	}
	return time.Duration(float64(spent) * float64(lost) / float64(all) / float64(workers))
}

// noted reads from an output's workspace what its run has done, but for stages that may be computed again all the same.
func noted(p *host.Plan, target string) map[int]checkpoint.Tasks {
	workspace := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".gonbext")
	f, err := os.Open(filepath.Join(workspace, "journal"))
	if err != nil {
		return nil
	}
	defer f.Close()
	s, _, err := checkpoint.ReadJournal(f)
	if err != nil {
		return nil // it was killed before the journal's header was there
	}
	for stage := range s.Finished {
		if s.Done[stage] != nil {
			delete(s.Done, stage) // what a stage kept in memory may be computed again
		}
	}
	for stage := range p.Stages {
		for _, i := range p.Stages[stage].Outputs {
			if _, err := os.Stat(filepath.Join(workspace, checkpoint.ArrayFile(i))); err == nil && !s.Finished[stage] {
				delete(s.Done, stage) // the kill came between the end of its file and the note of it
			}
		}
	}
	return s.Done
}

// lastRun returns the last record and its tasks, of which no earlier run had done one. It
// returns the one before where a run was killed before it had a record.
func lastRun(t *testing.T, runs, before string, done map[int]checkpoint.Tasks) (name string, tasks []record.Task) {
	t.Helper()
	all, err := record.List(runs)
	if err != nil || len(all) == 0 || all[0].Path == before {
		return before, nil
	}
	r, err := record.Read(all[0].Path) // the newest
	if err != nil {
		t.Fatal(err)
	}
	for row := range r.Tasks() {
		tasks = append(tasks, *row)
		if done[int(row.Stage)].Has(int(row.Chunk)) {
			t.Fatalf("chunk %d of stage %d was done, and was computed again (%s; %+v)", row.Chunk, row.Stage, r.Header.Resume, r.Header.Stages)
		}
	}
	return all[0].Path, tasks
}

// same compares the elements of two stored arrays, chunk by chunk.
func same(t *testing.T, want, got string) {
	t.Helper()
	differ := oocore.Open(want).NotEqual(oocore.Open(got)).Any()
	v, err := oocore.Collect[bool](context.Background(), differ, oocore.Memory("256MiB"))
	if err != nil {
		t.Fatal(err)
	}
	if v[0] {
		t.Fatal("the result differs from that of an undisturbed run")
	}
	if err := os.RemoveAll(got); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, paths ...string) {
	for _, p := range paths {
		if err := os.RemoveAll(p); err != nil {
			t.Error(err)
		}
	}
}

func entries(t *testing.T, dir string) (names []string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}
