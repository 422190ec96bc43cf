package exec_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/exectest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/types"
)

// Processes leave partial results in files: their tasks may run in any order.
func TestProcessesRunTasksInAnyOrder(t *testing.T) {
	exectest.Test(t, func(p *plan.Plan, env exec.Env) (record.End, error) {
		env.Executor = oneByOne(workers(2))
		return sizedRun(p, env, 2)
	})
}

// Slots that are given tasks backwards compute the same, or return an error where they merge.
func TestSlotsRejectOrderThatCannotBeMerged(t *testing.T) {
	cases := must[[]exectest.Case](t)(exectest.Cases(t.TempDir()))
	rejected := 0
	for _, c := range cases {
		run := func(p *plan.Plan, env exec.Env) (record.End, error) {
			env.Executor = oneByOne(exec.Slots{})
			end, err := sizedRun(p, env, 0)
			if merges := slices.ContainsFunc(p.Stages, func(s plan.Stage) bool { return s.Merges() && s.Tasks() > 1 }); merges != (err != nil) {
				t.Errorf("%s: merges: %v, and the error is %v", c.Name, merges, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "in order") {
					t.Errorf("%s: %v", c.Name, err)
				}
				rejected++
				return exectest.Slots(p, must[exec.Env](t)(environment(p, env)))
			}
			return end, err
		}
		want, _, _ := exectest.Do(t, c, exectest.Slots)
		if got, _, _ := exectest.Do(t, c, run); !slices.Equal(got, want) {
			t.Errorf("%s: other bytes", c.Name)
		}
	}
	if rejected == 0 {
		t.Error("no case merges")
	}
}

// environment is that of a second run, after one that failed and closed its checkpoint.
func environment(p *plan.Plan, first exec.Env) (exec.Env, error) {
	env, _, err := exectest.Environment(p)
	env.SideReductions = first.SideReductions
	if first.Into != nil {
		env.Into = first.Into
	}
	return env, err
}

// sizedRun sizes a plan for so many processes, or for this one, and runs it.
func sizedRun(p *plan.Plan, env exec.Env, processes int) (record.End, error) {
	s, err := size.New(p, size.Options{Budget: 512 << 20, Overhead: 16 << 20, Workers: 2, Processes: processes})
	if err != nil {
		return record.End{}, err
	}
	return exec.Run(context.Background(), s, env)
}

// faulty is an executor that changes what its slots report.
type faulty struct {
	run   func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error
	close func()
}

type faultyStages struct {
	exec.Stages
	faulty
}

type faultyRunner struct {
	exec.Runner
	faulty
}

func (f faulty) Open(c *exec.Coordinator) (exec.Stages, error) {
	s, err := exec.Slots{}.Open(c)
	return faultyStages{s, f}, err
}

func (f faultyStages) Close() error { return f.Stages.Close() }

func (f faultyStages) Stage(ctx context.Context, stage int) (exec.Runner, error) {
	r, err := f.Stages.Stage(ctx, stage)
	return faultyRunner{r, f.faulty}, err
}

func (f faultyRunner) Run(ctx context.Context, tasks exec.Tasks, done func(int)) error {
	return f.run(f.Runner, ctx, tasks, done)
}

func (f faultyRunner) Close() error {
	err := f.Runner.Close()
	if f.close != nil {
		f.close()
	}
	return err
}

// delegating gives its slots all tasks as it gets them.
var delegating = faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
	return r.Run(ctx, tasks, done)
}}

// An executor that breaks its contract is told so by the run, which puts no output in place.
func TestRunRejectsFaultyExecutor(t *testing.T) {
	src := filepath.Join(t.TempDir(), "x.npy")
	run(t, ramp(t, 1500, 1000), src)
	x := open(t, src)
	sum := must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: []int{0}}))
	kinds := map[string]*plan.Plan{
		"map":   must[*plan.Plan](t)(compile.New(x, compile.Target{Chunks: []int{100, 1000}})),
		"merge": must[*plan.Plan](t)(compile.New(must[*graph.Node](t)(graph.Apply(site, kernel.Subtract, x, sum)), compile.Target{Chunks: []int{100, 1000}})),
	}
	var late func()
	for name, f := range map[string]struct {
		faulty
		says string
	}{
		"twice": {faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
			return r.Run(ctx, tasks, func(i int) { done(i); done(i) })
		}}, "twice"},
		"beyond the last": {faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
			return r.Run(ctx, tasks, func(i int) { done(i + tasks[len(tasks)-1].End) })
		}}, "not given"},
		"negative": {faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
			return r.Run(ctx, tasks, func(i int) { done(-1 - i) })
		}}, "not given"},
		"never": {faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
			return r.Run(ctx, tasks, func(i int) {
				if i > 0 {
					done(i)
				}
			})
		}}, "has not reported task 0"},
		"without running": {faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error { return nil }}, "has not reported"},
		"after Close": {faulty{run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
			late = func() { done(0) }
			return delegating.run(r, ctx, tasks, done)
		}, close: func() { late() }}, "after its runner was closed"},
	} {
		for kind, p := range kinds {
			committed := false
			env := exec.Env{Into: make([]byte, p.Arrays[p.Output].Bytes()), Executor: f.faulty,
				Committed: func(context.Context, int, bool) { committed = true }}
			_, err := sizedRun(p, env, 0)
			if err == nil || !strings.Contains(err.Error(), f.says) || !strings.Contains(err.Error(), "fault of the executor") || committed {
				t.Errorf("%s of a %s: %v, want that it says %q; committed: %v", name, kind, err, f.says, committed)
			}
		}
	}
	// Reports of results that were never computed are found where these are to be merged.
	_, err := sizedRun(kinds["merge"], exec.Env{Into: make([]byte, 12_000_000), Executor: faulty{
		run: func(r exec.Runner, ctx context.Context, tasks exec.Tasks, done func(int)) error {
			for i := range tasks.All() {
				done(i)
			}
			return nil
		}}}, 0)
	if err == nil || !strings.Contains(err.Error(), "and the results of 0") {
		t.Errorf("tasks reported and not run: %v", err)
	}
}

// A plan that was sized for another executor is an error before anything is opened.
func TestExecutorsRejectPlansForOthers(t *testing.T) {
	p := must[*plan.Plan](t)(compile.New(ramp(t, 100), compile.Target{}))
	for _, c := range []struct {
		executor  exec.Executor
		processes int
		says      string
	}{{exec.Slots{}, 2, "sized for worker processes"}, {nil, 2, "sized for worker processes"}, {workers(2), 0, "sized for this process"}} {
		if _, err := sizedRun(p, exec.Env{Executor: c.executor, Into: make([]byte, 800)}, c.processes); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want that it says %q", c.executor, err, c.says)
		}
	}
}

// An error of another process is of the type that it has there, whatever lies between.
func TestErrorsCrossProcesses(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "x.npy", Err: syscall.ENOENT}
	for _, err := range []error{
		&slots.TaskError{Stage: "sqrt", Err: fmt.Errorf("reading: %w", missing)},
		errors.Join(&types.MemoryError{Op: "sort", Need: 5 << 20, Limit: 1 << 20}, context.Canceled),
		&slots.PanicError{Value: errDisk, Line: "a.go:3"},
		&slots.PanicError{Value: "index out of range", Line: "a.go:3"},
	} {
		got := exec.AcrossProcesses(t, err)
		if got.Error() != err.Error() {
			t.Errorf("%q is %q", err, got)
		}
		for _, target := range []error{fs.ErrNotExist, syscall.ENOENT, context.Canceled} {
			if errors.Is(got, target) != errors.Is(err, target) {
				t.Errorf("%q: Is(%q) differs", err, target)
			}
		}
		if task, ok := errors.AsType[*slots.TaskError](got); ok != errors.As(err, new(*slots.TaskError)) || ok && task.Stage != "sqrt" {
			t.Errorf("%q: the task's error differs", err)
		}
		if small, ok := errors.AsType[*types.MemoryError](got); ok != errors.As(err, new(*types.MemoryError)) || ok && small.Need != 5<<20 {
			t.Errorf("%q: the memory's error differs", err)
		}
		if path, ok := errors.AsType[*fs.PathError](got); ok != errors.As(err, new(*fs.PathError)) || ok && path.Path != "x.npy" {
			t.Errorf("%q: the path's error differs", err)
		}
	}
}
