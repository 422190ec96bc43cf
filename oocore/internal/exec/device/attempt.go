package device

import (
	"context"
	"fmt"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// Attempt is a stage that is done on a device.
type Attempt struct {
	Run             *slots.Shared
	Device          Device
	Kept            *KeptInputs // nil for none
	Index           int
	Stage           *size.DeviceStage
	Retries, Splits uint8
	Event           func(action record.Action, bytes int64) // records what happened to the stage
	Work            Work                                    // while it is open

	pageable sync.Once // it is recorded that pages are not locked
}

// Open takes the memory of the device.
func (o *Attempt) Open() (err error) {
	if o.Work, err = o.Device.Open(o.Stage); err != nil {
		return fmt.Errorf("%s: %w", o.Run.Plan.Device.Name, err)
	}
	return nil
}

// Begin prepares the rows of a slot's tasks, with its share of the device's memory.
func (o *Attempt) Begin(s *slots.Slot, share int64) {
	s.Row.Stage, s.Row.Device, s.Row.Retries, s.Row.Splits = uint16(o.Index), 1, o.Retries, o.Splits
	s.Row.Requested[record.Device], s.Row.Reserved[record.Device] = share, share
}

// Pinned takes buffers that the device copies from or to. Where their pages cannot be
// locked, copies are slower, and the record says so.
func (o *Attempt) Pinned(s *slots.Slot, declared ...size.Buffer) ([][]byte, error) {
	all, err := s.Alloc(declared...)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b == nil {
			continue
		}
		unpin, err := o.Device.Pin(b)
		if err != nil {
			o.pageable.Do(func() { o.Event(record.NotLocked, int64(len(b))) })
			continue
		}
		s.AtEnd(unpin)
	}
	return all, nil
}

// Wait waits for a job, and adds what it took to the row of a slot.
func (o *Attempt) Wait(ctx context.Context, s *slots.Slot, j Job) error {
	times, err := j.Wait(ctx)
	s.Row.Upload += times.Upload
	s.Row.Computing += times.Compute
	s.Row.Download += times.Download
	s.Row.Moved += times.Moved
	if err != nil && !slots.Cancelled(ctx, err) {
		return fmt.Errorf("%s: %w", o.Run.Plan.Device.Name, err)
	}
	return err
}
