package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// deviceStages streams the stages that the plan puts on the device through it, and runs the
// others in slots.
type deviceStages struct{ slots }

// Close does nothing: each stage gives back what it took.
func (deviceStages) Close() error { return nil }

// Stage opens a stage on the device.
func (e deviceStages) Stage(ctx context.Context, stage int) (Runner, error) {
	s := e.run.plan.OnDevice[stage]
	if s == nil {
		return e.slots.Stage(ctx, stage)
	}
	r := &deviceRunner{attempt: attempt{run: e.run, index: stage, stage: s}}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// attempt is a way to do a stage on the device.
type attempt struct {
	run             *run
	index           int
	stage           *size.DeviceStage // nil where slots do it
	retries, splits uint8
}

// deviceRunner runs a stage on the device. Where that has no room, at the beginning or
// later, it tries again, then with half the tile and half of that, and at last in slots.
type deviceRunner struct {
	attempt
	runner Runner // nil where none is open
}

// open opens the stage in the first way that the device has room for.
func (r *deviceRunner) open(ctx context.Context) (err error) {
	for r.stage != nil {
		if r.runner, err = openOnDevice(r.attempt); err == nil {
			r.run.noteDevicePeak()
			return nil
		}
		r.runner = nil
		if !errors.Is(err, ErrDeviceMemory) {
			return err
		}
		if err := r.outOfMemory(); err != nil {
			return err
		}
	}
	r.runner, err = slots{r.run}.Stage(ctx, r.index)
	return err
}

// outOfMemory chooses the next way to do the stage, and records it: first without resident
// operands, then once more as it was, since others may have freed memory, then with half the
// tile.
func (r *deviceRunner) outOfMemory() error {
	run := r.run
	run.counts.oom.Add(1)
	free := run.device.Usage().Free
	e := record.Event{At: time.Since(run.start), Stage: uint16(r.index), Action: record.Retried, Free: free}
	switch kept := run.kept.Total(); {
	case kept > 0:
		if err := run.kept.giveUp(); err != nil {
			return err
		}
		without := *r.stage
		without.Memory.Kept = [2]size.KeptOperand{}
		r.stage, e.Action, e.Bytes = &without, record.GaveUpKept, kept
	case r.retries == 0:
		r.retries = 1
	default:
		r.stage = run.plan.Halve(r.stage)
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
		if !errors.Is(err, ErrDeviceMemory) && !errors.Is(err, ErrLeftToCPU) {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		if errors.Is(err, ErrLeftToCPU) { // more than the tiles that a rareTiles computes
			r.stage = nil
			r.run.event(r.index, record.RareToCPU, 0)
		} else if err := r.outOfMemory(); err != nil {
			return err
		}
		tasks = tasks.Without(finished)
		if err := r.open(ctx); err != nil {
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

// openOnDevice takes the memory of a stage, that of the device first.
func openOnDevice(a attempt) (runner Runner, err error) {
	name := a.run.plan.Device.Name
	w, err := a.run.device.Open(a.stage)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	on := &onDevice{attempt: a, work: w}
	switch a.stage.Kind {
	case plan.MapStage, plan.ReduceStage:
		runner, err = newDevicePool(on)
	case plan.MatMulStage:
		runner, err = newDeviceProduct(on)
	default:
		err = fmt.Errorf("the plan puts a stage of kind %q on %s", a.stage.Kind, name)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return runner, nil
}

// onDevice is an open stage, for what runs its tasks.
type onDevice struct {
	attempt
	work Work

	pageable sync.Once // it is recorded that pages are not locked
}

// begin prepares the rows of a slot's tasks, with its share of the device's memory.
func (o *onDevice) begin(s *slot, share int64) {
	s.row.Stage, s.row.Device, s.row.Retries, s.row.Splits = uint16(o.index), 1, o.retries, o.splits
	s.row.Requested[record.Device], s.row.Reserved[record.Device] = share, share
}

// pinned takes buffers that the device copies from or to. Where their pages cannot be
// locked, copies are slower, and the record says so.
func (o *onDevice) pinned(s *slot, declared ...size.Buffer) ([][]byte, error) {
	all, err := s.alloc(declared...)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b == nil {
			continue
		}
		unpin, err := o.run.device.Pin(b)
		if err != nil {
			o.pageable.Do(func() { o.run.event(o.index, record.NotLocked, int64(len(b))) })
			continue
		}
		s.close = append(s.close, unpin)
	}
	return all, nil
}

// wait waits for a job, and adds what it took to the row of a slot.
func (o *onDevice) wait(ctx context.Context, s *slot, j Job) error {
	times, err := j.Wait(ctx)
	s.row.Upload += times.Upload
	s.row.Computing += times.Compute
	s.row.Download += times.Download
	s.row.Moved += times.Moved
	if err != nil && !cancelled(ctx, err) {
		return fmt.Errorf("%s: %w", o.run.plan.Device.Name, err)
	}
	return err
}
