package exec_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/remote"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/exectest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// workerArgument makes a copy of the test's binary a worker process.
const workerArgument = "gonbext-test-worker"

// asWorker serves a coordinator, where the test's binary was started to do that.
func asWorker() bool {
	if len(os.Args) < 5 || os.Args[1] != workerArgument {
		return false
	}
	budget, _ := strconv.ParseInt(os.Args[3], 10, 64)
	workers, _ := strconv.Atoi(os.Args[4])
	var in io.Reader = os.Stdin
	if len(os.Args) > 5 {
		in = exectest.Mortal(in, os.Args[5])
	}
	if err := remote.Serve(context.Background(), os.Args[2], budget, workers, in, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func workers(n int) *remote.Processes {
	return &remote.Processes{N: n, Command: func(file string, budget int64, workers int) []string {
		return []string{os.Args[0], workerArgument, file, strconv.FormatInt(budget, 10), strconv.Itoa(workers)}
	}}
}

// inProcesses runs a plan in n worker processes, in the least budget that will do.
func inProcesses(n int) exectest.Run {
	return func(p *plan.Plan, env exec.Env) (record.End, error) {
		return inWorkers(context.Background(), p, env, workers(n))
	}
}

func inWorkers(ctx context.Context, p *plan.Plan, env exec.Env, w *remote.Processes) (record.End, error) {
	n := w.N
	o := size.Options{Budget: 1, Overhead: 16 << 20, Workers: 2, Processes: n}
	_, err := size.New(p, o)
	short, ok := errors.AsType[*types.MemoryError](err)
	if !ok {
		return record.End{}, fmt.Errorf("a budget of one byte: %w", err)
	}
	o.Budget = short.Need
	s, err := size.New(p, o)
	if err != nil {
		return record.End{}, err
	}
	env.Executor = w
	end, err := exec.Run(ctx, s, env)
	if err == nil && end.Peak > s.Peak.Host() {
		err = fmt.Errorf("the processes together reserved %d bytes, predicted %d", end.Peak, s.Peak.Host())
	}
	return end, err
}

func TestProcessesPassTheSuite(t *testing.T) {
	counts := []int{3}
	if testcases.Full() {
		counts = append(counts, 1)
	}
	for _, n := range counts {
		t.Run(strconv.Itoa(n), func(t *testing.T) { exectest.Test(t, inProcesses(n)) })
	}
}

// Workers are killed at any moment: the bytes are those of one process, and no task that
// was done is done again. At full scale every case of the suite takes its turn.
func TestProcessesReplaceKilledWorkers(t *testing.T) {
	rng := testcases.Rand(t)
	kills := 8
	if testcases.Full() {
		kills = 200
	}
	cases, err := exectest.Cases(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deaths := filepath.Join(t.TempDir(), "deaths")
	if err := os.WriteFile(deaths, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := workers(3)
	immortal := w.Command
	w.Command = func(file string, budget int64, workers int) []string {
		return append(immortal(file, budget, workers), deaths)
	}
	rng.Shuffle(len(cases), func(i, k int) { cases[i], cases[k] = cases[k], cases[i] })
	for i := 0; ; i++ {
		c := cases[i%len(cases)]
		want, sums, _ := exectest.Do(t, c, exectest.Slots)
		got, gotSums, _ := exectest.Do(t, c, func(p *plan.Plan, env exec.Env) (record.End, error) {
			return recorded(t, p, func(r *record.Writer) (record.End, error) {
				env.Record = r
				return inWorkers(context.Background(), p, env, w)
			})
		})
		if !bytes.Equal(got, want) || !slices.Equal(sums, gotSums) {
			t.Fatalf("%s: the result has other bytes than in this process", c.Name)
		}
		st, err := os.Stat(deaths)
		if err != nil {
			t.Fatal(err)
		}
		if st.Size() >= int64(kills) && (i >= len(cases) || !testcases.Full()) {
			return
		}
		if i > 100*kills {
			t.Fatalf("only %d workers were killed", st.Size())
		}
	}
}

// recorded runs a plan, and checks that its record has one row for each of its tasks.
func recorded(t *testing.T, p *plan.Plan, run func(*record.Writer) (record.End, error)) (record.End, error) {
	t.Helper()
	header := record.Header{}
	for range p.Stages {
		header.Stages = append(header.Stages, record.Stage{})
	}
	w, err := record.Create(t.TempDir(), header)
	if err != nil {
		t.Fatal(err)
	}
	end, err := run(w)
	r, failed := record.Read(w.Path())
	if failed != nil {
		t.Fatal(failed)
	}
	rows := map[[2]int64]int{}
	for row := range r.Tasks() {
		rows[[2]int64{int64(row.Stage), row.Chunk}]++
	}
	for at, n := range rows {
		if n != 1 {
			t.Errorf("chunk %d of stage %d was done %d times", at[1], at[0], n)
		}
	}
	if err == nil && (len(rows) != p.Tasks() || end.Computed != int64(p.Tasks())) {
		t.Errorf("the record has %d of %d tasks, and counts %d", len(rows), p.Tasks(), end.Computed)
	}
	return end, err
}

// strange is an operation that adds one, takes a while, and ends its process or fails
// where a file says so.
type strange struct {
	Lengths []int  `json:"lengths"`
	Exit    string `json:"exit"` // a file: the process ends at its chunk if that is there
	Fail    string `json:"fail"`
	At      int    `json:"at"`
	Nap     int    `json:"nap"` // milliseconds
}

func init() { blockwise.Register("exec_test/strange", strange{}) }

func (s strange) Chunks() []int { return s.Lengths }

func (s strange) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}}
}

func (s strange) Fill(ctx context.Context, t *blockwise.Task) error {
	if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil {
		return err
	}
	if t.Box.Start[0] == s.At*s.Lengths[0] {
		if _, err := os.Stat(s.Exit); err == nil {
			fmt.Fprintln(os.Stderr, "the disk is on fire")
			os.Exit(3)
		}
		if _, err := os.Stat(s.Fail); err == nil {
			return errDisk
		}
	}
	v := dtype.Slice[float64](t.Dst)
	for i := range v {
		v[i]++
	}
	time.Sleep(time.Duration(s.Nap) * time.Millisecond)
	return nil
}

// strangely is a plan of 100 chunks of a stored array, each one more.
func strangely(t *testing.T, dir string, op strange) (*plan.Plan, []byte) {
	t.Helper()
	const rows, cols = 400, 10
	src := filepath.Join(dir, "x.npy")
	if _, err := os.Stat(src); err != nil {
		run(t, ramp(t, rows, cols), src)
	}
	op.Lengths = []int{4, cols}
	x := open(t, src)
	n := must[*graph.Node](t)(graph.NewBlockwise(site, "strange", op, x.Shape, x.DType, []*graph.Node{x}))
	want := make([]float64, rows*cols)
	for i := range want {
		want[i] = float64(i) + 1
	}
	return must[*plan.Plan](t)(compile.New(n, compile.Target{Path: filepath.Join(dir, "o.npy")})), dtype.Bytes(want)
}

func keepOf(t *testing.T, p *plan.Plan) *checkpoint.Checkpoint {
	t.Helper()
	return must[*checkpoint.Checkpoint](t)(checkpoint.New(p, p.Fingerprint("", nil), false))
}

// A chunk that ends every worker is one error that says which stage and tasks, and what
// the worker said. What is done stays, and is not done again by one process.
func TestProcessesGiveUpOnAChunkThatEndsEveryWorker(t *testing.T) {
	dir := t.TempDir()
	fuse := filepath.Join(dir, "fuse")
	if err := os.WriteFile(fuse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, want := strangely(t, dir, strange{Exit: fuse, At: 60})
	_, err := inWorkers(context.Background(), p, exec.Env{Checkpoint: keepOf(t, p)}, workers(2))
	kept, ok := errors.AsType[*exec.ResumableError](err)
	if !ok || !strings.Contains(err.Error(), "strange") || !strings.Contains(err.Error(), "60") || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "the disk is on fire") {
		t.Fatalf("got %v", err)
	}
	if err := os.Remove(fuse); err != nil {
		t.Fatal(err)
	}
	end, err := exectest.Slots(p, exec.Env{Checkpoint: keepOf(t, p)})
	if err != nil || end.Skipped != kept.Tasks || end.Computed != int64(p.Tasks())-kept.Tasks {
		t.Errorf("%v: %d computed and %d skipped, of %d with %d kept", err, end.Computed, end.Skipped, p.Tasks(), kept.Tasks)
	}
	if got := must[[]byte](t)(exectest.Elements(filepath.Join(dir, "o.npy"))); !bytes.Equal(got, want) {
		t.Error("the result is another")
	}
}

// The error of a task in a worker is the run's, and names its chunk.
func TestProcessesReturnATasksError(t *testing.T) {
	dir := t.TempDir()
	fuse := filepath.Join(dir, "fuse")
	if err := os.WriteFile(fuse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, want := strangely(t, dir, strange{Fail: fuse, At: 60})
	_, err := inWorkers(context.Background(), p, exec.Env{Checkpoint: keepOf(t, p)}, workers(2))
	if err == nil || !strings.Contains(err.Error(), errDisk.Error()) || !strings.Contains(err.Error(), "[240:244") {
		t.Fatalf("got %v", err)
	}
	if err := os.Remove(fuse); err != nil {
		t.Fatal(err)
	}
	end, err := inWorkers(context.Background(), p, exec.Env{Checkpoint: keepOf(t, p)}, workers(3))
	if err != nil || end.Computed+end.Skipped != int64(p.Tasks()) {
		t.Errorf("%v: %d computed and %d skipped of %d", err, end.Computed, end.Skipped, p.Tasks())
	}
	if got := must[[]byte](t)(exectest.Elements(filepath.Join(dir, "o.npy"))); !bytes.Equal(got, want) {
		t.Error("the result is another")
	}
}

// Several outputs of one plan have the bytes of one process's, whichever workers are killed.
func TestProcessesWriteSeveralOutputsThroughKills(t *testing.T) {
	x := must[*graph.Node](t)(graph.Uniform(site, dtype.Float32, 7, 1024, 512))
	roots := must[*graph.Node](t)(graph.Apply(site, kernel.Sqrt, x))
	save := func(dir string, run exectest.Run) (all [][]byte) {
		t.Helper()
		targets := []compile.Target{{Path: filepath.Join(dir, "x.npy")}, {Path: filepath.Join(dir, "roots.zarr"), Chunks: []int{64, 512}, Codec: "none"}}
		p := must[*plan.Plan](t)(compile.NewAll(compile.Output{Root: x, Target: targets[0]}, compile.Output{Root: roots, Target: targets[1]}))
		if _, err := run(p, exec.Env{Checkpoint: keepOf(t, p)}); err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			all = append(all, must[[]byte](t)(exectest.Elements(target.Path)))
		}
		if left := must[[]string](t)(filepath.Glob(filepath.Join(dir, ".*"))); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
		return all
	}
	want := save(t.TempDir(), exectest.Slots)
	deaths := filepath.Join(t.TempDir(), "deaths")
	if err := os.WriteFile(deaths, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := workers(2)
	immortal := w.Command
	w.Command = func(file string, budget int64, workers int) []string {
		return append(immortal(file, budget, workers), deaths)
	}
	for range 50 {
		got := save(t.TempDir(), func(p *plan.Plan, env exec.Env) (record.End, error) {
			return inWorkers(context.Background(), p, env, w)
		})
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("output %d has other bytes than in this process", i)
			}
		}
		if st := must[os.FileInfo](t)(os.Stat(deaths)); st.Size() >= 4 {
			return
		}
	}
	t.Error("fewer than four workers were killed")
}

// An interrupted run continues in one process or in others, and repeats nothing.
func TestProcessesInterruptAndResume(t *testing.T) {
	for name, second := range map[string]exectest.Run{"one": exectest.Slots, "three": inProcesses(3)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p, want := strangely(t, dir, strange{Nap: 60})
			ctx, cancel := context.WithCancel(context.Background())
			journal := filepath.Join(dir, ".o.npy.gonbext", "journal")
			keep := keepOf(t, p)
			first := must[os.FileInfo](t)(os.Stat(journal)).Size()
			go func() {
				for ctx.Err() == nil {
					if st, err := os.Stat(journal); err == nil && st.Size() > first {
						cancel()
					}
					time.Sleep(time.Millisecond)
				}
			}()
			end, err := inWorkers(ctx, p, exec.Env{Checkpoint: keep}, workers(2))
			cancel()
			kept, ok := errors.AsType[*exec.ResumableError](err)
			if !ok || !errors.Is(err, context.Canceled) || end.Computed != kept.Tasks {
				t.Fatalf("got %v, with %d tasks done", err, end.Computed)
			}
			end, err = second(p, exec.Env{Checkpoint: keepOf(t, p)})
			if err != nil || end.Skipped != kept.Tasks || end.Computed != int64(p.Tasks())-kept.Tasks {
				t.Errorf("%v: %d computed and %d skipped, of %d with %d kept", err, end.Computed, end.Skipped, p.Tasks(), kept.Tasks)
			}
			if got := must[[]byte](t)(exectest.Elements(filepath.Join(dir, "o.npy"))); !bytes.Equal(got, want) {
				t.Error("the result is another")
			}
		})
	}
}

// No process and no file is left of a run, however it ended.
func leftOver(t *testing.T) (pids []string) {
	t.Helper()
	out, err := osexec.Command("ps", "-o", "pid=,args=", "--ppid", strconv.Itoa(os.Getpid())).Output()
	if err != nil {
		t.Skip("no ps: ", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, workerArgument) {
			pids = append(pids, line)
		}
	}
	return pids
}

func TestProcessesLeaveNoneBehind(t *testing.T) {
	dir := t.TempDir()
	p, _ := strangely(t, dir, strange{})
	if _, err := inProcesses(2)(p, exec.Env{Checkpoint: keepOf(t, p)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	p, _ = strangely(t, dir, strange{Nap: 60})
	_, _ = inWorkers(ctx, p, exec.Env{Checkpoint: keepOf(t, p)}, workers(2))
	if left := leftOver(t); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// A budget that is too small for all processes is an error that says what will do.
func TestProcessesShareTheBudget(t *testing.T) {
	p, _ := strangely(t, t.TempDir(), strange{})
	needs := map[int]int64{}
	for _, n := range []int{1, 2, 5} {
		_, err := size.New(p, size.Options{Budget: 20 << 20, Overhead: 16 << 20, Workers: 2, Processes: n})
		short, ok := errors.AsType[*types.MemoryError](err)
		if !ok {
			t.Fatalf("%d processes: %v", n, err)
		}
		needs[n] = short.Need
		if _, err := size.New(p, size.Options{Budget: short.Need, Overhead: 16 << 20, Workers: 2, Processes: n}); err != nil {
			t.Errorf("%d processes in the budget that they need: %v", n, err)
		}
		if _, err := size.New(p, size.Options{Budget: short.Need - 1<<20, Overhead: 16 << 20, Workers: 2, Processes: n}); err == nil {
			t.Errorf("%d processes fit into less than they need", n)
		}
	}
	if each := needs[2] - needs[1]; needs[5] != needs[1]+4*each {
		t.Errorf("needs are %v", slices.Sorted(maps.Values(needs)))
	}
}

// What is wrong with a plan's file, its tasks or its inputs is one error, before
// anything is written.
func TestWorkerRejects(t *testing.T) {
	dir := t.TempDir()
	p, _ := strangely(t, dir, strange{})
	encoded := must[[]byte](t)(p.Encode())
	file := func(b []byte) string {
		name := filepath.Join(t.TempDir(), "plan")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	whole := must[[]byte](t)(os.ReadFile(exec.WritePlanFile(t, filepath.Join(t.TempDir(), "plan"), encoded)))
	damaged := slices.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	foreign := exec.WritePlanFile(t, filepath.Join(t.TempDir(), "plan"), []byte(`{"hello": "world"}`))
	older := exec.WritePlanFile(t, filepath.Join(t.TempDir(), "plan"), bytes.Replace(encoded, []byte(p.Revisions), []byte("gonbext-0"), 1))
	for name, c := range map[string]struct{ file, want string }{
		"no file":         {filepath.Join(dir, "none"), "no such file"},
		"a folder":        {dir, "not a file with a plan"},
		"empty":           {file(nil), "not a file with a plan"},
		"cut short":       {file(whole[:len(whole)-10]), "damaged"},
		"damaged":         {file(damaged), "damaged"},
		"an array":        {filepath.Join(dir, "x.npy"), "not a file with a plan"},
		"foreign":         {foreign, "not a plan"},
		"another version": {older, "gonbext-0"},
	} {
		if _, err := exec.NewWorker(c.file, 256<<20, 1); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want that it says %q", name, err, c.want)
		}
	}
	good := file(whole)
	if _, err := exec.NewWorker(good, 1<<20, 1); !errors.As(err, new(*types.MemoryError)) {
		t.Errorf("a budget of 1 MiB: %v", err)
	}
	w := must[*exec.Worker](t)(exec.NewWorker(good, 256<<20, 1))
	for _, c := range []struct {
		stage, first, end int
		want              string
	}{{-1, 0, 1, "no stage -1"}, {1, 0, 1, "no stage 1"}, {0, -1, 1, "-1..1"}, {0, 0, 101, "0..101"}, {0, 5, 5, "5..5"}, {0, 7, 3, "7..3"}, {0, 0, 1, storage.ErrNotStaged.Error()}} {
		if _, err := w.Run(context.Background(), c.stage, exec.Range{First: c.first, End: c.end}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("stage %d, tasks %d..%d: %v, want that it says %q", c.stage, c.first, c.end, err, c.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	run(t, ramp(t, 400, 10), filepath.Join(dir, "x.npy")) // another file of the same name
	w, err := exec.NewWorker(good, 256<<20, 1)
	if err == nil {
		_, err = w.Run(context.Background(), 0, exec.Range{First: 0, End: 1})
	}
	if err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a changed input: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// A plan with a Go function does not go to other processes.
func TestProcessesRejectGoFunctions(t *testing.T) {
	n := must[*graph.Node](t)(udf.Map(site, func(dst []byte, src [][]byte, _ grid.Box) error { return nil }, dtype.Float64, udf.MapOptions{Chunks: []int{10}}, ramp(t, 100)))
	p := must[*plan.Plan](t)(compile.New(n, compile.Target{}))
	env, _, err := exectest.Environment(p)
	if err == nil {
		_, err = inProcesses(1)(p, env)
	}
	if !errors.Is(err, plan.ErrNotPortable) {
		t.Errorf("got %v, want ErrNotPortable", err)
	}
}

// BenchmarkWorker is what starting a worker process costs, and asking it for a range of one
// small task, which it makes durable.
func BenchmarkWorker(b *testing.B) {
	x, err := graph.Full(site, dtype.ValueOf(uint8(1)), 100_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(b.TempDir(), "o.npy")
	p := must[*plan.Plan](b)(compile.New(x, compile.Target{Path: out, Chunks: []int{1, 1}}))
	staging := must[*storage.StagingDir](b)(storage.NewStagingDir(out))
	w := must[store.Writer](b)(store.Create(out, store.Meta{Shape: x.Shape, DType: x.DType, StagingDir: staging}))
	file := exec.WritePlanFile(b, staging.Join("plan"), must[[]byte](b)(p.Encode()))
	command := workers(1).Command(file, 256<<20, 1)
	var started, asked time.Duration
	ranges := 0
	for b.Loop() {
		begun := time.Now()
		c := osexec.Command(command[0], command[1:]...)
		in := must[io.WriteCloser](b)(c.StdinPipe())
		answers := bufio.NewScanner(must[io.ReadCloser](b)(c.StdoutPipe()))
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		answers.Scan()
		started += time.Since(begun)
		for i := range 50 {
			begun := time.Now()
			fmt.Fprintf(in, `{"stage":0,"tasks":{"first":%d,"end":%d}}`+"\n", i, i+1)
			if !answers.Scan() || !strings.Contains(answers.Text(), `"done"`) {
				b.Fatal(answers.Text())
			}
			asked += time.Since(begun)
			ranges++
		}
		if err := errors.Join(in.Close(), c.Wait()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(started.Microseconds())/1000/float64(b.N), "ms/start")
	b.ReportMetric(float64(asked.Microseconds())/1000/float64(ranges), "ms/range")
	if err := errors.Join(w.Abort(), staging.Remove()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRange is what a task costs in a worker process, of a run that starts it.
func BenchmarkRange(b *testing.B) {
	x, err := graph.Full(site, dtype.ValueOf(uint8(1)), 100_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	p, err := compile.New(x, compile.Target{Chunks: []int{1, 1}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		env, _, err := exectest.Environment(p)
		if err == nil {
			_, err = inProcesses(1)(p, env)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/100_000, "µs/task")
}

// Workers that are kept serve one run after the other, and end with Close.
func TestProcessesKeepWorkers(t *testing.T) {
	dir := t.TempDir()
	w := workers(2)
	w.Keep = true
	var first []string
	for i := range 3 {
		p, want := strangely(t, dir, strange{At: i})
		if _, err := inWorkers(context.Background(), p, exec.Env{Checkpoint: keepOf(t, p)}, w); err != nil {
			t.Fatal(err)
		}
		if got := must[[]byte](t)(exectest.Elements(filepath.Join(dir, "o.npy"))); !bytes.Equal(got, want) {
			t.Error("the result is another")
		}
		now := leftOver(t)
		if i == 0 {
			first = now
		}
		if len(now) != 2 || !slices.Equal(now, first) {
			t.Errorf("after run %d there are %v, and after the first %v", i, now, first)
		}
	}
	w.Close()
	if left := leftOver(t); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
