package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/exec/matmul"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

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
