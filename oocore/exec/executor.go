package exec

import (
	"context"

	"github.com/gonbext/gonbext/oocore/exec/checkpoint"
)

// A task is (stage, index): index runs over 0 … Stage.Tasks(). Which chunk an index
// stands for is the stage's to say. Executors differ in where tasks run; the run opens
// and commits arrays, keeps the checkpoint and writes the record for all of them.

// Executor runs the tasks of a plan's stages.
type Executor interface {
	// Stage prepares to run tasks of a stage, and takes all the memory that they need.
	Stage(ctx context.Context, stage int) (Runner, error)
}

// Runner runs tasks of one stage.
type Runner interface {
	// Run runs tasks, in any order and many at once, and calls done for each one whose
	// results are written. When it returns an error some tasks may be done, and none is
	// running. A cancelled context ends it within a tile.
	Run(ctx context.Context, tasks Tasks, done func(index int)) error
	Close() error
}

type (
	// Range is tasks that follow each other.
	Range = checkpoint.Range
	// Tasks is a set of a stage's tasks.
	Tasks = checkpoint.Tasks
)
