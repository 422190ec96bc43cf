package exec_test

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/exec"
)

// oneByOne is an executor that gives another one the tasks of each stage one by one, the last
// first: what an executor may do whose tasks leave partial results in files, and slots may not
// where they merge.
func oneByOne(e exec.Executor) exec.Executor { return backwards{e} }

type backwards struct{ exec.Executor }

type backwardsStages struct{ exec.Stages }

type backwardsRunner struct{ exec.Runner }

func (b backwards) Open(c *exec.Coordinator) (exec.Stages, error) {
	s, err := b.Executor.Open(c)
	return backwardsStages{s}, err
}

func (b backwardsStages) Stage(ctx context.Context, stage int) (exec.Runner, error) {
	r, err := b.Stages.Stage(ctx, stage)
	return backwardsRunner{r}, err
}

func (b backwardsRunner) Run(ctx context.Context, tasks exec.Tasks, done func(index int)) error {
	for at := tasks[len(tasks)-1].End - 1; at >= tasks[0].First; at-- {
		if !tasks.Has(at) {
			continue
		}
		if err := b.Runner.Run(ctx, exec.Tasks{{First: at, End: at + 1}}, done); err != nil {
			return err
		}
	}
	return nil
}
