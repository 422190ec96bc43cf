package moved

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
)

// The suite that every device passes.
func TestConformance(t *testing.T) {
	devicetest.Test(t, devicetest.Subject{
		New: func(t testing.TB, memory int64) device.Device {
			return &Device{Device: &faulty{Device: cuda.Model(strconv.FormatInt(memory, 10))}}
		},
		Fail: func(d device.Device, f func(operation string) error) { d.(*Device).Device.(*faulty).fail = f },
	})
}

// faulty is a device whose operations fail when a test says so.
type faulty struct {
	device.Device
	fail func(operation string) error
}

func (d *faulty) asked(operation string) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(operation)
}

func (d *faulty) Pin(b []byte) (func() error, error) {
	if err := d.asked("pin"); err != nil {
		return nil, err
	}
	return d.Device.Pin(b)
}

func (d *faulty) Keep(bytes int64) (device.Resident, error) {
	if err := d.asked("allocate"); err != nil {
		return nil, err
	}
	return d.Device.Keep(bytes)
}

func (d *faulty) Open(s *device.Stage) (device.Work, error) {
	for range 3 { // of buffers of several kinds
		if err := d.asked("allocate"); err != nil {
			return nil, err
		}
	}
	w, err := d.Device.Open(s)
	return &faultyWork{Work: w, of: d}, err
}

type faultyWork struct {
	device.Work
	of    *faulty
	under sync.WaitGroup
}

// begin is a job that fails as its operations do. The first is asked for at once, the others while the caller goes on.
func (w *faultyWork) begin(do func() device.Job, operations ...string) device.Job {
	j := &faultyJob{done: make(chan struct{})}
	if operations[0] == "upload" {
		if j.err = w.of.asked("upload"); j.err != nil {
			close(j.done)
			return j
		}
		operations = operations[1:]
	}
	j.Job = do()
	w.under.Go(func() {
		defer close(j.done)
		for _, operation := range operations {
			if err := w.of.asked(operation); err != nil && j.err == nil {
				j.err = err
			}
		}
	})
	return j
}

func (w *faultyWork) Map(slot int, tile device.Box, in [][]byte, out []byte) device.Job {
	operations := []string{"upload", "compute", "download"}
	if len(in) == 0 {
		operations = operations[1:]
	}
	return w.begin(func() device.Job { return w.Work.Map(slot, tile, in, out) }, operations...)
}

func (w *faultyWork) Reduce(slot int, tile device.Box, in [][]byte) device.Job {
	return w.begin(func() device.Job { return w.Work.Reduce(slot, tile, in) }, "compute")
}

func (w *faultyWork) Partials(slot int, dst [][]byte) device.Job {
	return w.begin(func() device.Job { return w.Work.Partials(slot, dst) }, "download")
}

func (w *faultyWork) Load(operand, first, n int, src []byte) device.Job {
	return w.begin(func() device.Job { return w.Work.Load(operand, first, n, src) }, "upload")
}

func (w *faultyWork) Multiply(p device.Panel) device.Job {
	return w.begin(func() device.Job { return w.Work.Multiply(p) }, "compute")
}

func (w *faultyWork) Fetch(first, rows int, dst []byte) device.Job {
	return w.begin(func() device.Job { return w.Work.Fetch(first, rows, dst) }, "download")
}

func (w *faultyWork) Close() error {
	w.under.Wait()
	return w.Work.Close()
}

type faultyJob struct {
	device.Job
	done chan struct{}
	err  error
}

func (j *faultyJob) Wait(ctx context.Context) (device.Times, error) {
	select {
	case <-j.done:
	case <-ctx.Done():
		return device.Times{}, ctx.Err()
	}
	if j.err != nil {
		return device.Times{}, j.err
	}
	return j.Job.Wait(ctx)
}

func TestDeviceCountsWhatIsCopied(t *testing.T) {
	d := &Device{Device: cuda.Model("64MiB")}
	const n = 1 << 22
	x := oocore.FromSlice(make([]float32, n)).Add(1)
	got, err := oocore.Collect[float32](t.Context(), x, oocore.On(d))
	if err != nil || len(got) != n || got[n-1] != 1 || d.Bytes() != 2*4*n {
		t.Errorf("%d bytes were copied, of %d, %v", d.Bytes(), 2*4*n, err)
	}
}
