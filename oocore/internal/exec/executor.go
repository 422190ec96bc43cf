package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/exec/matmul"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan"
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

// Slots is the executor of this process: a stage's tasks run in its slots, on the CPU. It is
// a run's executor where its environment has none.
type Slots struct{}

// Open returns an error for a plan that was sized for a device or for processes.
func (Slots) Open(c *Coordinator) (Stages, error) { return OnDevice{Device: device.CPU{}}.Open(c) }

// OnDevice is the executor of this process with a device: the stages that the plan puts there
// are streamed through it, the others run in slots.
type OnDevice struct {
	Device device.Device      // nil is CPU
	Kept   *device.KeptInputs // operands that are resident on the device from run to run; nil for none
}

// Open returns an error for a plan that was sized for another device or for processes.
func (o OnDevice) Open(c *Coordinator) (Stages, error) {
	if o.Device == nil {
		o.Device = device.CPU{}
	}
	r := c.run
	if r.Plan.Each.Workers > 0 {
		return nil, errors.New("the plan is sized for worker processes, and the executor is of this process")
	}
	if name := o.Device.Spec().Name; r.Plan.Device.Memory > 0 && name != r.Plan.Device.Name {
		return nil, fmt.Errorf("the plan is for %s, and the device is %s", r.Plan.Device.Name, name)
	}
	r.device, r.kept = o.Device, o.Kept
	return local{r}, nil
}

// local serves a run in this process: it streams the stages that the plan puts on the device through it, and runs the
// others in slots.
type local struct{ run *run }

// Close does nothing: each stage gives back what it took.
func (local) Close() error { return nil }

// Stage opens a stage on the device, or allocates the buffers of its slots.
func (e local) Stage(_ context.Context, stage int) (Runner, error) {
	s := e.run.Plan.OnDevice[stage]
	if s == nil {
		return inSlots(e.run.Shared, stage)
	}
	r := &deviceRunner{run: e.run, index: stage, stage: s}
	return opened(r, r.open())
}

// inSlots allocates the buffers of a stage's slots, on the CPU.
func inSlots(r *slots.Shared, stage int) (Runner, error) {
	switch s := &r.Plan.Stages[stage]; s.Kind {
	case plan.MapStage:
		return opened(slots.NewMapPool(r, stage))
	case plan.ReduceStage:
		return opened(slots.NewReducePool(r, stage))
	case plan.MatMulStage:
		return opened(matmul.New(r, stage))
	default:
		return nil, fmt.Errorf("the plan has a stage of kind %q, which this version does not know", s.Kind)
	}
}

// opened is a runner, and nil after an error.
func opened[R Runner](r R, err error) (Runner, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
