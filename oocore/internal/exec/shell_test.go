package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/exectest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// shell is an executor that runs each range of tasks as a command by sh -c, as a cluster's
// engine does: a few at once, each up to three times.
type shell struct {
	command       string // gonbext
	atOnce, tasks int    // of a range
}

// Open takes plans that are sized for processes.
func (s shell) Open(c *exec.Coordinator) (exec.Stages, error) {
	if c.Plan().Each.Workers == 0 {
		return nil, errors.New("the plan is sized for one process")
	}
	return &shellStages{s, c}, nil
}

type shellStages struct {
	shell
	*exec.Coordinator
}

// Stage writes the plan for the commands.
func (s *shellStages) Stage(_ context.Context, stage int) (exec.Runner, error) {
	file, err := s.PlanFile()
	if err != nil {
		return nil, err
	}
	for _, path := range s.Files(stage).Reads { // which an engine would make sure that its machines see
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
	}
	each := s.Plan().Each
	return &shellRunner{s, stage, fmt.Sprintf("%s task --plan '%s' --memory %d --workers %d --stage %d",
		s.command, file, each.Budget, each.Workers, stage)}, nil
}

func (s *shellStages) Close() error { return nil }

type shellRunner struct {
	*shellStages
	stage   int
	command string
}

func (r *shellRunner) Close() error { return nil }

// Run cuts the tasks into ranges, and runs them a few at once.
func (r *shellRunner) Run(ctx context.Context, tasks exec.Tasks, done func(index int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ranges := make(chan exec.Range)
	var group sync.WaitGroup
	for number := range r.atOnce {
		group.Go(func() {
			for tasks := range ranges {
				if err := r.tasks(ctx, number, tasks, done); err != nil {
					cancel(err)
				}
			}
		})
	}
	for len(tasks) > 0 && ctx.Err() == nil {
		ranges <- tasks.Take(r.shell.tasks)
	}
	close(ranges)
	group.Wait()
	return context.Cause(ctx)
}

// tasks runs a range, and gives the coordinator what the command reports.
func (r *shellRunner) tasks(ctx context.Context, number int, tasks exec.Range, done func(index int)) (err error) {
	for range 3 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		begun := time.Now()
		c := osexec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("exec %s --tasks %d..%d", r.command, tasks.First, tasks.End))
		var words bytes.Buffer
		c.Stderr = &words
		out, failed := c.Output()
		var report exec.Report
		if json.Unmarshal(out, &report) == nil {
			return r.Take(ctx, r.stage, number, begun, tasks, report, done)
		}
		err = fmt.Errorf("%s: %w: %s", tasks, failed, strings.TrimSpace(words.String()))
	}
	return err
}

// inShell runs a plan with two commands at once.
func inShell(command string) func(p *plan.Plan, env exec.Env) (record.End, error) {
	return func(p *plan.Plan, env exec.Env) (record.End, error) {
		s, err := size.New(p, size.Options{Budget: 512 << 20, Overhead: 16 << 20, Workers: 2, Processes: 2})
		if err != nil {
			return record.End{}, err
		}
		env.Executor = shell{command, 2, 7}
		return exec.Run(context.Background(), s, env)
	}
}

// The suite's results have the bytes of one process where gonbext task runs each range.
func TestShellExecutorPassesTheSuite(t *testing.T) {
	if testing.Short() || !testcases.Full() {
		t.Skip("left out: tasks run by sh, with a command that takes long to link: GONBEXT_TEST=full runs them")
	}
	command := filepath.Join(t.TempDir(), "gonbext")
	if out, err := osexec.Command("go", "build", "-o", command, "github.com/gonbext/gonbext/gonbext/cmd/gonbext").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	exectest.Test(t, inShell(command))
}
