package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The jobs that merge leave what the elements have written to a collection's arrays.
func TestCollectionHasWhatElementsWrote(t *testing.T) {
	for _, to := range []string{"folder", "out.zarr", "out.safetensors"} {
		t.Run(to, func(t *testing.T) {
			q := newQueue(t)
			in, out := filepath.Join(t.TempDir(), "in.safetensors"), filepath.Join(t.TempDir(), to)
			x := counting(t, 100, 10)
			if _, err := oocore.SaveAll(t.Context(), []oocore.Output{{Array: x, Path: in + "#a"}, {Array: x.Neg(), Path: in + "#b"}}); err != nil {
				t.Fatal(err)
			}
			more := oocore.OpenAll(in).Map(func(_ string, x *oocore.Array) *oocore.Array { return x.Add(1) })
			q.submit(out, func(opts ...oocore.Option) error {
				_, err := more.Save(t.Context(), out, append(opts, oocore.Chunks(10))...)
				return err
			})
			q.finish(0)
			plus, minus := make([]float64, 100), make([]float64, 100)
			for i := range plus {
				plus[i], minus[i] = float64(1+i), float64(1-i)
			}
			saved := oocore.OpenAll(out)
			holds(t, saved.Get("a"), plus)
			holds(t, saved.Get("b"), minus)
		})
	}
}

// A job that is killed when it has ended a stage, and has not noted that, is started again: it has the
// stage's tasks done again where it cannot take what they wrote.
func TestMergeKilledBeforeItsNote(t *testing.T) {
	center := func(x *oocore.Array) *oocore.Array { return x.Sub(x.Mean()) }
	for _, c := range []struct {
		name     string
		make     func(x *oocore.Array) *oocore.Array
		n, chunk int
		rounds   int // of the stage
	}{
		{"map", func(x *oocore.Array) *oocore.Array {
			return x.Neg().Reshape(20, 50).MatMul(x.Reshape(50, 20)).Reshape(400)
		}, 1000, 100, 2},
		{"one result a task", center, 1000, 1000, 2},
		{"partial results", center, 1 << 20, 1 << 18, 1}, // which the job has merged
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newQueue(t)
			out := filepath.Join(t.TempDir(), "out.npy")
			a := c.make(counting(t, c.n, c.chunk))
			want, err := oocore.Collect[float64](t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			q.submit(out, func(opts ...oocore.Option) error { _, err := a.Save(t.Context(), out, opts...); return err })
			q.elements(0)
			q.killed(func() {
				if err := q.merge(0); err != nil {
					t.Fatal(err)
				}
			})
			if err := q.merge(0); err != nil {
				t.Fatal(err)
			}
			if n := len(q.load().Stages[0].Rounds); n != c.rounds {
				t.Fatalf("the stage is submitted %d times, want %d", n, c.rounds)
			}
			q.finish(2 - c.rounds)
			holds(t, oocore.Open(out), want)
		})
	}
}

// A last job that is killed while it removes the run's folder, whose output is in its place, is started again: it removes the rest.
func TestMergeKilledWhileItRemovesTheFolder(t *testing.T) {
	for name, left := range map[string][]string{"the run's file": {"jobs/run.json"}, "an empty folder": nil} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			out := filepath.Join(t.TempDir(), "out.npy")
			a := counting(t, 100, 10)
			q.submit(out, func(opts ...oocore.Option) error { _, err := a.Add(1).Save(t.Context(), out, opts...); return err })
			staging := filepath.Dir(q.run.Plan)
			kept := testcases.ReadFile(t, runFile(staging))
			lock := testcases.ReadFile(t, filepath.Join(staging, "lock"))
			q.finish(0)
			if err := os.MkdirAll(filepath.Join(staging, "jobs"), 0o700); err != nil {
				t.Fatal(err)
			}
			q.write(filepath.Join(staging, "lock"), string(lock))
			for _, name := range left {
				q.write(filepath.Join(staging, name), string(kept))
			}
			if err := Merge(t.Context(), q.run.Plan, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(staging); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder is left: %v", err)
			}
		})
	}
}

// A job that submits what is missing, and is rejected, says so to those who wait, and leaves no other job.
func TestMergeIsRejected(t *testing.T) {
	for _, c := range []struct {
		name   string
		accept int // jobs
	}{{"elements", 0}, {"merge", 1}} {
		t.Run(c.name, func(t *testing.T) {
			q := newQueue(t)
			out := filepath.Join(t.TempDir(), "out.npy")
			a := counting(t, 100, 10)
			q.submit(out, func(opts ...oocore.Option) error { _, err := a.Add(1).Save(t.Context(), out, opts...); return err })
			q.end(q.run.Probe)
			q.end(q.run.Stages[0].Rounds[0].Jobs...) // and have done nothing
			q.write(filepath.Join(q.dir, "full"), strconv.Itoa(len(q.run.jobs())+c.accept))
			if err := q.merge(0); err == nil || !strings.Contains(err.Error(), "the queue is full") {
				t.Errorf("merging: %v", err)
			}
			if err := q.run.wait(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the queue is full") {
				t.Errorf("waiting: %v", err)
			}
			if left := q.active(); len(left) > 0 {
				t.Errorf("the jobs %v are left", left)
			}
		})
	}
}

// newer makes the plan that of a version to come.
func newer(q *queue) {
	text, err := os.ReadFile(q.run.Plan)
	if err != nil {
		q.t.Fatal(err)
	}
	_, plan, _ := strings.Cut(string(text), "\n")
	plan = regexp.MustCompile(`"engine":"[^"]*"`).ReplaceAllString(plan, `"engine":"gonbext 99"`)
	q.write(q.run.Plan, fmt.Sprintf("gonbext plan, sha256 %x\n%s", sha256.Sum256([]byte(plan)), plan))
}

// What a machine of the cluster finds wrong is one sentence to those who wait, and all jobs are cancelled.
func TestJobsFindWhatIsWrong(t *testing.T) {
	flip := func(q *queue) {
		text, err := os.ReadFile(q.run.Plan)
		if err != nil {
			q.t.Fatal(err)
		}
		text[len(text)-2] ^= 1
		q.write(q.run.Plan, string(text))
	}
	probe := func(q *queue) error { return Probe(q.t.Context(), q.run.Plan) }
	for name, c := range map[string]struct {
		make func(q *queue, in string)
		job  func(q *queue) error
		want string
	}{
		"an input that it does not see": {func(q *queue, in string) { _ = os.RemoveAll(in) }, probe, "put it on storage that all machines share"},
		"a plan of another version":     {func(q *queue, _ string) { newer(q) }, probe, "made by gonbext 99, another version of gonbext"},
		"another version that merges":   {func(q *queue, _ string) { newer(q) }, func(q *queue) error { return q.merge(0) }, "made by gonbext 99, another version of gonbext"},
		"a damaged plan":                {func(q *queue, _ string) { flip(q) }, func(q *queue) error { return q.merge(0) }, "the plan is damaged: its checksum differs"},
		"no plan":                       {func(q *queue, _ string) { q.write(q.run.Plan, "{}") }, func(q *queue) error { return q.merge(0) }, "this is not a file with a plan"},
		"a task that fails": {func(q *queue, in string) {
			_ = os.RemoveAll(filepath.Join(in, "c"))
			q.write(filepath.Join(in, "c"), "no folder")
		}, func(q *queue) error {
			q.end(q.run.Probe)
			for e := range q.run.Stages[0].Rounds[0].Elements.Len() {
				if err := Element(q.t.Context(), q.run.Plan, q.run.Memory, 1, 0, 0, e); err == nil {
					q.t.Error("an element ends well")
				}
			}
			q.end(q.run.Stages[0].Rounds[0].Jobs...)
			return q.merge(0)
		}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			in, out := filepath.Join(t.TempDir(), "in.zarr"), filepath.Join(t.TempDir(), "out.npy")
			if _, err := oocore.Ones(oocore.Float64, 100).Save(t.Context(), in, oocore.Chunks(10)); err != nil {
				t.Fatal(err)
			}
			q.submit(out, func(opts ...oocore.Option) error {
				_, err := oocore.Open(in).Neg().Save(t.Context(), out, opts...)
				return err
			})
			c.make(q, in)
			err := c.job(q)
			var final *FinalError
			if !errors.As(err, &final) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the job: %v", err)
			}
			if err := q.run.wait(t.Context(), nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("waiting: %v", err)
			}
			q.end(q.run.Probe)
			if left := q.active(); len(left) > 0 {
				t.Errorf("the jobs %v are left", left)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("there is an output")
			}
		})
	}
}

// Nothing but the first job is submitted where that finds that a machine does not see what it must, and nothing is left.
func TestProbeAnswersBeforeOthersAreSubmitted(t *testing.T) {
	defer func(seen, probe time.Duration) { seenTime, probeTime = seen, probe }(seenTime, probeTime)
	seenTime = 0
	for name, c := range map[string]struct {
		job  func(q *queue, in, staging string)
		want string
	}{
		"an input": {func(q *queue, in, staging string) {
			_ = os.RemoveAll(in)
			if err := Probe(q.t.Context(), filepath.Join(staging, "plan")); err == nil {
				q.t.Error("the first job ends well")
			}
		}, "put it on storage that all machines share"},
		"the plan's version": {func(q *queue, _, staging string) {
			q.run = &run{Plan: filepath.Join(staging, "plan")}
			newer(q)
			if err := Probe(q.t.Context(), q.run.Plan); err == nil {
				q.t.Error("the first job ends well")
			}
		}, "such as with another gonbext than here"},
		"the folder":    {func(q *queue, _, _ string) { q.end("1") }, "the first job has ended, and has not written to"},
		"the partition": {func(*queue, string, string) {}, "Queue does not start job 1, whose state is PENDING: its partition never has what is asked for"},
		"the program": {func(q *queue, _, staging string) {
			q.write(filepath.Join(staging, "jobs", "probe.log"), "sh: Exec format error\n")
			q.end("1")
		}, "gonbext: sh: Exec format error"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.write(filepath.Join(q.dir, "silent"), "")
			if name == "the partition" {
				batches["queue"].Stuck, batches["queue"].Help = regexp.MustCompile("^PENDING$"), "its partition never has what is asked for"
			}
			in, dir := filepath.Join(t.TempDir(), "in.zarr"), t.TempDir()
			if _, err := oocore.Ones(oocore.Float64, 100).Save(t.Context(), in, oocore.Chunks(10)); err != nil {
				t.Fatal(err)
			}
			on, err := On("queue", Options{})
			if err != nil {
				t.Fatal(err)
			}
			probeTime = time.Hour
			var group sync.WaitGroup
			group.Go(func() {
				for len(q.active()) == 0 && t.Context().Err() == nil {
					time.Sleep(time.Millisecond)
				}
				c.job(q, in, filepath.Join(dir, ".out.npy.gonbext"))
			})
			_, err = oocore.Open(in).Neg().Save(t.Context(), filepath.Join(dir, "out.npy"), on, oocore.Memory("64MiB"))
			group.Wait()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("submitting: %v", err)
			}
			if jobs, _ := os.ReadDir(filepath.Join(q.dir, "jobs")); len(jobs) != 1 || len(q.active()) > 0 {
				t.Errorf("%d jobs, of which %v are left", len(jobs), q.active())
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// Where the first job waits in a queue, the others are submitted, and wait for it.
func TestProbeInAQueue(t *testing.T) {
	defer func(probe time.Duration) { probeTime = probe }(probeTime)
	probeTime = 0
	q := newQueue(t)
	q.write(filepath.Join(q.dir, "silent"), "")
	out := filepath.Join(t.TempDir(), "out.npy")
	q.submit(out, func(opts ...oocore.Option) error {
		_, err := counting(t, 100, 10).Add(1).Save(t.Context(), out, opts...)
		return err
	})
	if want := "ok=" + q.run.Probe; !slices.Contains(q.request(q.run.Stages[0].Rounds[0].Jobs[0]), want) {
		t.Errorf("elements wait for %q, want %s", q.request(q.run.Stages[0].Rounds[0].Jobs[0]), want)
	}
	if err := Probe(t.Context(), q.run.Plan); err != nil {
		t.Error(err)
	}
	q.finish(0)
}

// An element, round or stage that the run does not have is a final error, and the run goes on.
func TestElementRejectsRange(t *testing.T) {
	q := newQueue(t)
	out := filepath.Join(t.TempDir(), "out.npy")
	q.submit(out, func(opts ...oocore.Option) error {
		_, err := counting(t, 100, 10).Neg().Save(t.Context(), out, opts...)
		return err
	})
	for _, at := range [][3]int{{-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 10}, {0, 0, -1}} {
		var final *FinalError
		if err := Element(t.Context(), q.run.Plan, q.run.Memory, 1, at[0], at[1], at[2]); !errors.As(err, &final) {
			t.Errorf("stage %d, round %d, element %d: %v", at[0], at[1], at[2], err)
		}
	}
	q.finish(0)
}

// lockless is a file system without locks.
type lockless struct{ disk.FS }

type locklessFile struct{ disk.Handle }

func (locklessFile) Lock() error { return errors.ErrUnsupported }

func (f lockless) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	h, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return locklessFile{h}, nil
}

func (f lockless) Below(root *disk.Root) disk.FS { return lockless{f.FS.Below(root)} }

// On a file system without locks runs are as elsewhere. Where another machine's process may still have the run, that is
// the error, and no job is left.
func TestFileSystemWithoutLocks(t *testing.T) {
	defer disk.Use(lockless{disk.System()})()
	defer func(limit time.Duration) { lockTime = limit }(lockTime)
	lockTime = 0
	for _, killed := range []bool{false, true} {
		q := newQueue(t)
		out := filepath.Join(t.TempDir(), "out.npy")
		q.submit(out, func(opts ...oocore.Option) error {
			_, err := counting(t, 4, 1).Neg().Save(t.Context(), out, append(opts, oocore.Chunks(1))...)
			return err
		})
		if !killed {
			q.finish(0)
			holds(t, oocore.Open(out), []float64{0, -1, -2, -3})
			continue
		}
		q.write(filepath.Join(filepath.Dir(q.run.Plan), "owner"), `{"host": "another", "pid": 7}`)
		q.elements(0)
		if err := q.merge(0); err == nil {
			t.Error("the job that merges ends well")
		}
		if err := q.run.wait(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "another") || strings.Contains(err.Error(), "\n") {
			t.Errorf("waiting: %v", err)
		}
		q.end(q.run.Probe)
		if left := q.active(); len(left) > 0 {
			t.Errorf("the jobs %v are left", left)
		}
	}
}

// A shared disk that is full before a run is submitted, or fills up while it runs, is one sentence; when there is room
// again, the same command goes on.
func TestFullSharedDisk(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: a full disk, which GONBEXT_TEST=full mounts as root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	q := newQueue(t)
	big := counting(t, 1<<20, 1<<16)
	on, err := On("queue", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := big.Neg().Save(t.Context(), filepath.Join(dir, "big.npy"), on, oocore.Memory("64MiB")); err == nil || !strings.Contains(err.Error(), "free") || strings.Contains(err.Error(), "\n") || len(q.active()) > 0 {
		t.Errorf("a full disk: %v, and %d jobs", err, len(q.active()))
	}
	out := filepath.Join(dir, "out.zarr")
	small := counting(t, 1<<16, 1<<13)
	save := func(opts ...oocore.Option) error {
		_, err := small.Neg().Save(t.Context(), out, append(opts, oocore.Codec("none"))...)
		return err
	}
	q.submit(out, save)
	fill := filepath.Join(dir, "fill")
	if err := os.WriteFile(fill, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	if err := Element(t.Context(), q.run.Plan, q.run.Memory, 1, 0, 0, 0); err == nil {
		t.Error("an element ends well on a full disk")
	}
	q.end(q.run.jobs()...)
	if err := q.merge(0); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("merging on a full disk: %v", err)
	}
	if err := q.run.wait(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no space left") && !strings.Contains(err.Error(), "a full disk") || strings.Contains(err.Error(), "\n") {
		t.Errorf("waiting: %v", err)
	}
	if left := q.active(); len(left) > 0 {
		t.Errorf("the jobs %v are left", left)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	q.submit(out, save)
	q.finish(0)
	want := make([]float64, 1<<16)
	for i := range want {
		want[i] = -float64(i)
	}
	holds(t, oocore.Open(out), want)
}

// Machines whose clocks are hours apart make the same output, and a record.
func TestClocksApart(t *testing.T) {
	q := newQueue(t)
	out := filepath.Join(t.TempDir(), "out.npy")
	q.submit(out, func(opts ...oocore.Option) error {
		_, err := counting(t, 4, 1).Neg().Save(t.Context(), out, append(opts, oocore.Chunks(1))...)
		return err
	})
	q.elements(0)
	found, err := q.run.findReports(0)
	if err != nil || len(found) < 2 {
		t.Fatalf("%d reports: %v", len(found), err)
	}
	for i, t := range found {
		rep, ok, err := q.run.readReport(0, t)
		if !ok || err != nil {
			q.t.Fatal(err)
		}
		off := time.Duration(1-2*(i%2)) * time.Hour
		rep.Begun, rep.Ended = rep.Begun.Add(off), rep.Ended.Add(-off)
		if err := q.run.putReport(0, t, rep); err != nil {
			q.t.Fatal(err)
		}
	}
	if err := q.merge(0); err != nil {
		t.Fatal(err)
	}
	holds(t, oocore.Open(out), []float64{0, -1, -2, -3})
}

// A killed element goes on at its last report.
func TestElementGoesOnAtItsLastReport(t *testing.T) {
	q := newQueue(t)
	defer func(seconds float64) { stepTime = seconds }(stepTime)
	stepTime = 0
	out := filepath.Join(t.TempDir(), "out.npy")
	on, err := On("queue", Options{Detach: true})
	if err != nil {
		t.Fatal(err)
	}
	q.submit(out, func(opts ...oocore.Option) error {
		_, err := counting(t, 32, 1).Neg().Save(t.Context(), out, append(opts, on, oocore.Chunks(1))...) // in one element
		return err
	})
	st := &q.run.Stages[0]
	if steps := st.steps(0); st.Each != 32 || len(steps) != stepsEach {
		t.Fatalf("an element has %d tasks in the steps %v", st.Each, steps)
	}
	q.elements(0)
	third := st.steps(0)[2]
	before, err := os.Stat(q.run.reportFile(0, st.steps(0)[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(q.run.reportFile(0, third)); err != nil {
		t.Fatal(err)
	}
	q.elements(0)
	if rep, ok, err := q.run.readReport(0, third); !ok || err != nil || rep.Retries != 1 || rep.Done.Len() != third.Len() {
		t.Errorf("the third report: %+v, %v", rep, err)
	}
	if after, err := os.Stat(q.run.reportFile(0, st.steps(0)[0])); err != nil || !os.SameFile(before, after) {
		t.Errorf("the first step is computed again: %v", err)
	}
	if err := q.merge(0); err != nil {
		t.Fatal(err)
	}
}

// Who waits for a run is told where it ends without its output.
func TestAttachedRunEndsWithoutOutput(t *testing.T) {
	for _, before := range []string{"none", "another"} {
		t.Run(before, func(t *testing.T) {
			q := newQueue(t)
			dir := t.TempDir()
			t.Chdir(dir)
			if before != "none" {
				if _, err := oocore.Ones(oocore.Float64, 5).Save(t.Context(), "out.npy"); err != nil {
					t.Fatal(err)
				}
			}
			in := filepath.Join(t.TempDir(), "in.zarr")
			make := func() {
				t.Helper()
				if _, err := oocore.Ones(oocore.Float64, 100).Save(t.Context(), in, oocore.Chunks(10), oocore.Fresh()); err != nil {
					t.Fatal(err)
				}
			}
			make()
			save := func(opts ...oocore.Option) error {
				x := oocore.Open(in) // which the last stage does not read
				_, err := x.Neg().Reshape(20, 5).MatMul(x.Sqrt().Reshape(5, 20)).Save(t.Context(), "out.npy", opts...)
				return err
			}
			attach := func(f func()) error {
				t.Helper()
				q.submit("out.npy", save)
				elsewhere := t.TempDir()
				t.Chdir(elsewhere)
				defer t.Chdir(dir)
				runs, err := Find(t.Context(), dir)
				if err != nil || len(runs) != 1 {
					t.Fatalf("%d runs: %v", len(runs), err)
				}
				return runs[0].Wait(t.Context(), func(string) { // it tells before it waits
					t.Chdir(dir)
					f()
					t.Chdir(elsewhere)
				})
			}
			err := attach(func() {
				last := len(q.run.Stages) - 1
				for stage := range last {
					q.elements(stage)
					if err := q.merge(stage); err != nil {
						t.Fatal(err)
					}
				}
				q.elements(last)
				make()
				if err := q.merge(last); err == nil || !strings.Contains(err.Error(), "was changed") {
					t.Fatalf("merging: %v", err)
				}
			})
			if err == nil || !strings.Contains(err.Error(), "ended without its output") {
				t.Errorf("with another input: %v", err)
			}
			if err := attach(func() { q.finish(0) }); err != nil {
				t.Errorf("with its own: %v", err)
			}
		})
	}
}

// fast is a cluster that has put the output in its place before the process that submits has left.
type fast struct{ made, output string }

func (f fast) Executor(json.RawMessage) exec.Executor { return f }
func (fast) Wait(context.Context) error               { return nil }
func (fast) Records() bool                            { return false }
func (fast) Predict(*record.Header, *size.Plan)       {}

func (f fast) Open(c *exec.Coordinator) (exec.Stages, error) {
	c.Detach()
	return f, nil
}
func (f fast) Stage(context.Context, int) (exec.Runner, error) { return f, nil }
func (f fast) Run(context.Context, exec.Tasks, func(int)) error {
	return errors.Join(os.Rename(f.made, f.output), exec.ErrLeft)
}
func (fast) Close() error { return nil }

func TestRunEndsBeforeItsSubmitter(t *testing.T) {
	newQueue(t)
	f := fast{filepath.Join(t.TempDir(), "made.npy"), filepath.Join(t.TempDir(), "out.npy")}
	a := counting(t, 100, 10).Add(1)
	if _, err := a.Save(t.Context(), f.made); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Save(t.Context(), f.output, internals.Cluster(f), oocore.Memory("64MiB")); err != nil {
		t.Error(err)
	}
}

// A stage without tasks is merged after the stage before.
func TestStageWithoutTasksWaits(t *testing.T) {
	q := newQueue(t)
	out := filepath.Join(t.TempDir(), "out.npy")
	x := counting(t, 10, 10).Add(1)
	q.submit(out, func(opts ...oocore.Option) error {
		_, err := oocore.SaveAll(t.Context(), []oocore.Output{{Array: x, Path: out}, {Array: x.Slice("5:5"), Path: out + ".npy"}}, opts...)
		return err
	})
	if len(q.run.Stages) != 2 || q.run.Stages[1].Tasks > 0 {
		t.Fatalf("the stages are %+v, want a second one without tasks", q.run.Stages)
	}
	round := q.run.Stages[1].Rounds[0]
	if want := "ok=" + q.run.Stages[0].Rounds[0].Merge; len(round.Jobs) > 0 || !slices.Contains(q.request(round.Merge), want) {
		t.Errorf("the jobs are %v and merging waits for %q, want %s", round.Jobs, q.request(round.Merge), want)
	}
}

// unsynced is a file system that reports files which get their names before their bytes are durable.
type unsynced struct {
	disk.FS
	t      *testing.T
	synced sync.Map // names
	named  []string
}

type syncedFile struct {
	disk.Handle
	name string
	of   *unsynced
}

func (f *unsynced) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	h, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return syncedFile{h, name, f}, nil
}

func (f syncedFile) Sync() error {
	f.of.synced.Store(f.name, nil)
	return f.Handle.Sync()
}

func (f *unsynced) Rename(from, to string) error {
	if _, ok := f.synced.Load(from); !ok {
		f.t.Errorf("%s is not synced", to)
	}
	f.named = append(f.named, to)
	return f.FS.Rename(from, to)
}

// Partial results are durable before their report says that they are there.
func TestPartialResultsAreDurable(t *testing.T) {
	q := newQueue(t)
	out := filepath.Join(t.TempDir(), "out.npy")
	x := counting(t, 1<<20, 1<<18)
	q.submit(out, func(opts ...oocore.Option) error { _, err := x.Mean().Save(t.Context(), out, opts...); return err })
	f := &unsynced{FS: disk.System(), t: t}
	restore := disk.Use(f)
	q.elements(0)
	restore()
	if n := q.run.Stages[0].Tasks; n < 2 || len(f.named) < n {
		t.Errorf("%d tasks have left %q", n, f.named)
	}
}
