// Package moved counts the bytes that runs copy to a device and back: the example of a device that is made outside
// of gonbext's module. A program gives a Device to oocore.On.
package moved

import (
	"context"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/device"
)

// Device is another device, such as cuda.Model("1GiB"), whose copies are counted.
type Device struct {
	device.Device
	bytes atomic.Int64
}

// Bytes returns how many bytes were copied so far.
func (d *Device) Bytes() int64 { return d.bytes.Load() }

// Open begins a stage of a run.
func (d *Device) Open(s *device.Stage) (device.Work, error) {
	w, err := d.Device.Open(s)
	if err != nil {
		return nil, err
	}
	return work{w, d}, nil
}

// work is a stage that is open. Its other methods copy nothing.
type work struct {
	device.Work
	of *Device
}

func (w work) Map(slot int, tile device.Box, in [][]byte, out []byte) device.Job {
	return job{w.Work.Map(slot, tile, in, out), w.of}
}

func (w work) Reduce(slot int, tile device.Box, in [][]byte) device.Job {
	return job{w.Work.Reduce(slot, tile, in), w.of}
}

func (w work) Fold(slot int, block device.Box, values [][]byte) device.Job {
	return job{w.Work.Fold(slot, block, values), w.of}
}

func (w work) Partials(slot int, dst [][]byte) device.Job {
	return job{w.Work.Partials(slot, dst), w.of}
}

func (w work) Load(operand, first, n int, src []byte) device.Job {
	return job{w.Work.Load(operand, first, n, src), w.of}
}

func (w work) Fetch(first, rows int, dst []byte) device.Job {
	return job{w.Work.Fetch(first, rows, dst), w.of}
}

// job is a call under way.
type job struct {
	device.Job
	of *Device
}

func (j job) Wait(ctx context.Context) (device.Times, error) {
	times, err := j.Job.Wait(ctx)
	j.of.bytes.Add(times.Moved)
	return times, err
}
