package exec

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
)

// A task is (stage, index): index runs over 0 … Stage.Tasks(). Which chunk an index
// stands for is the stage's to say. Executors differ in where tasks run; the run opens
// and commits arrays, keeps the checkpoint and writes the record for all of them.

// Executor runs the tasks of plans: Slots, OnDevice and *Processes are executors. One value
// may serve many runs.
type Executor interface {
	// Open begins to serve a run. It returns an error for a plan that was sized for another
	// executor, and takes no memory: its arrays are not open yet.
	Open(c *Coordinator) (Stages, error)
}

// Stages is an executor that serves a run.
type Stages interface {
	// Stage prepares to run tasks of a stage, and takes all the memory that they need. The
	// run opens stages in order, one at a time.
	Stage(ctx context.Context, stage int) (Runner, error)
	// Close ends the service. It is called once, before outputs are put in their places.
	Close() error
}

// Runner runs tasks of one stage.
type Runner interface {
	// Run runs tasks, many at once, and calls done for each one whose results are written:
	// once, from any goroutine, before it returns. It returns nil when all are done. When it
	// returns an error some tasks may be done, and none is running. A cancelled context ends it
	// within a tile.
	//
	// Slots of this process merge partial results as tasks end: in a stage that merges, Run is
	// given tasks without a gap, from the first that is not merged on. Processes leave partial
	// results in files, and their tasks may run in any order.
	Run(ctx context.Context, tasks Tasks, done func(index int)) error
	Close() error
}

// ErrLeft is what Runner.Run returns where tasks go on after this process: the run ends, and
// another run of the same plan, whose executor has called Detach too, takes their reports.
var ErrLeft = errors.New("the tasks go on elsewhere")

// ErrBusy is what Runner.Run returns, wrapped, where another run makes the output: the same again does not resume anything then.
var ErrBusy = errors.New("another run computes it already")

type (
	// Range is tasks that follow each other.
	Range = checkpoint.Range
	// Tasks is a set of a stage's tasks.
	Tasks = checkpoint.Tasks
)
