package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/exec/matmul"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// Slots is the executor of this process: a stage's tasks run in its slots, on the CPU. It is
// a run's executor where its environment has none.
type Slots struct{}

// Open returns an error for a plan that was sized for a device or for processes.
func (Slots) Open(c *Coordinator) (Stages, error) { return OnDevice{Device: device.CPU{}}.Open(c) }

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

// deviceRunner runs a stage on the device. Where that has no room, at the beginning or
// later, it tries again, then with half the tile and half of that, and at last in slots.
type deviceRunner struct {
	run             *run
	index           int
	stage           *size.DeviceStage // nil where slots do it
	retries, splits uint8
	runner          Runner // nil where none is open
}

// open opens the stage in the first way that the device has room for.
func (r *deviceRunner) open() (err error) {
	for r.stage != nil {
		if r.runner, err = r.onDevice(); err == nil {
			r.run.noteDevicePeak()
			return nil
		}
		r.runner = nil
		if !errors.Is(err, device.ErrMemory) {
			return err
		}
		if err := r.outOfMemory(); err != nil {
			return err
		}
	}
	r.runner, err = inSlots(r.run.Shared, r.index)
	return err
}

// onDevice takes the memory of the stage, that of the device first.
func (r *deviceRunner) onDevice() (runner Runner, err error) {
	o := &device.Attempt{Run: r.run.Shared, Device: r.run.device, Kept: r.run.kept, Index: r.index, Stage: r.stage, Retries: r.retries, Splits: r.splits,
		Event: func(action record.Action, bytes int64) { r.run.event(r.index, action, bytes) }}
	if err := o.Open(); err != nil {
		return nil, err
	}
	switch r.stage.Kind {
	case plan.MapStage, plan.ReduceStage:
		runner, err = opened(device.NewPool(o))
	case plan.MatMulStage:
		runner, err = opened(matmul.NewOnDevice(o))
	default:
		err = fmt.Errorf("the plan puts a stage of kind %q on %s", r.stage.Kind, r.run.Plan.Device.Name)
	}
	if err != nil {
		return nil, errors.Join(err, o.Work.Close())
	}
	return runner, nil
}

// outOfMemory chooses the next way to do the stage, and records it: first without resident
// operands, then once more as it was, since others may have freed memory, then with half the
// tile.
func (r *deviceRunner) outOfMemory() error {
	run := r.run
	run.Counts.OOM.Add(1)
	free := run.device.Usage().Free
	e := record.Event{At: time.Since(run.Start), Stage: uint16(r.index), Action: record.Retried, Free: free}
	switch kept := run.kept.Total(); {
	case kept > 0:
		if err := run.kept.GiveUp(); err != nil {
			return err
		}
		without := *r.stage
		without.Memory.Kept = [2]size.KeptOperand{}
		r.stage, e.Action, e.Bytes = &without, record.GaveUpKept, kept
	case r.retries == 0:
		r.retries = 1
	default:
		r.stage = run.Plan.Halve(r.stage)
		r.splits++
		e.Action = record.LeftToCPU
		if r.stage != nil {
			e.Action = record.Halved
		}
	}
	if r.stage != nil && e.Action != record.GaveUpKept {
		e.Bytes = r.stage.DevicePeak
	}
	run.env.Record.Event(e)
	return nil
}

// Run runs tasks. Those that are done when the device has no room any more stay done.
func (r *deviceRunner) Run(ctx context.Context, tasks Tasks, done func(index int)) error {
	var mu sync.Mutex
	var finished Tasks
	for {
		err := r.runner.Run(ctx, tasks, func(index int) {
			mu.Lock()
			finished.Add(index, 1)
			mu.Unlock()
			done(index)
		})
		if !errors.Is(err, device.ErrMemory) && !errors.Is(err, device.ErrLeftToCPU) {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		if errors.Is(err, device.ErrLeftToCPU) { // more than the tiles that a rareTiles computes
			r.stage = nil
			r.run.event(r.index, record.RareToCPU, 0)
		} else if err := r.outOfMemory(); err != nil {
			return err
		}
		tasks = tasks.Without(finished)
		if err := r.open(); err != nil {
			return err
		}
	}
}

// Close gives back the memory of host and device.
func (r *deviceRunner) Close() error {
	if r.runner == nil {
		return nil
	}
	r.run.noteDevicePeak()
	err := r.runner.Close()
	r.runner = nil
	return err
}

// noteDevicePeak takes in what a stage has taken of the device's memory.
func (r *run) noteDevicePeak() { r.devicePeak = max(r.devicePeak, r.device.Usage().Used) }

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
