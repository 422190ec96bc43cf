package cuda_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestBuffersCopyOnStreamsAndLeaveNothing(t *testing.T) {
	gpu := cuda.Model("4MiB")
	b := testcases.Must[*cuda.Buffer](t)(gpu.Alloc(1 << 20))
	up, down := testcases.Must[*cuda.Stream](t)(gpu.Stream()), testcases.Must[*cuda.Stream](t)(gpu.Stream())
	host := testcases.Must[*cuda.PinnedBuffer](t)(gpu.Pinned(1 << 20))
	copy(host.Data, bytes.Repeat([]byte("data"), 1<<18))
	got := make([]byte, 1000)
	for _, begin := range []func() (*cuda.Copy, error){ // nothing orders two streams: the second begins when the first is done
		func() (*cuda.Copy, error) { return up.Upload(b, host.Data) },
		func() (*cuda.Copy, error) { return down.Download(got, b) },
	} {
		if took, err := testcases.Must[*cuda.Copy](t)(begin()).Wait(); err != nil || took <= 0 {
			t.Errorf("a copy took %v: %v", took, err)
		}
	}
	if !bytes.Equal(got, host.Data[:1000]) {
		t.Error("other bytes come back")
	}
	if m := testcases.Must[cuda.Memory](t)(gpu.Memory()); m.Used != 1<<20 || m.Free != 3<<20 || m.Largest != 3<<20 || m.Others != 0 {
		t.Errorf("memory is %+v", m)
	}
	for range 2 { // the second time does nothing
		if err := errors.Join(up.Close(), down.Close(), b.Free(), host.Free()); err != nil {
			t.Error(err)
		}
	}
	if m := testcases.Must[cuda.Memory](t)(gpu.Memory()); m.Used != 0 || m.Free != 4<<20 {
		t.Errorf("memory is %+v in the end", m)
	}
	if err := cuda.Release(gpu); err != nil {
		t.Error(err)
	}
}

func TestBuffersRejectWrongSizesAndOtherDevices(t *testing.T) {
	gpu, other := cuda.Model("4MiB"), cuda.Model("8MiB")
	b := testcases.Must[*cuda.Buffer](t)(gpu.Alloc(100))
	s := testcases.Must[*cuda.Stream](t)(gpu.Stream())
	elsewhere := testcases.Must[*cuda.Stream](t)(other.Stream())
	for name, do := range map[string]func() error{
		"no bytes":       func() error { _, err := gpu.Alloc(0); return err },
		"less than none": func() error { _, err := gpu.Pinned(-1); return err },
		"too long":       func() error { _, err := s.Upload(b, make([]byte, 101)); return err },
		"nothing":        func() error { _, err := s.Download(nil, b); return err },
		"other device":   func() error { _, err := elsewhere.Upload(b, make([]byte, 1)); return err },
		"malformed":      func() error { _, err := cuda.Model("lots").Alloc(1); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := gpu.Alloc(5 << 20); !errors.Is(err, device.ErrMemory) {
		t.Errorf("more than there is gave %v", err)
	}
	if err := errors.Join(s.Close(), elsewhere.Close(), b.Free(), cuda.Release(gpu), cuda.Release(other)); err != nil {
		t.Error(err)
	}
}
