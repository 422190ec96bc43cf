//go:build linux

package libcuda_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/double"
	"github.com/gonbext/gonbext/cuda/internal/driver/drivertest"
	"github.com/gonbext/gonbext/cuda/internal/driver/libcuda"
)

var library *double.Library

func TestMain(m *testing.M) {
	if drivertest.OnMachine() {
		os.Exit(m.Run())
	}
	folder, l, err := double.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	library = l
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func open(t *testing.T) *libcuda.Driver {
	t.Helper()
	d, err := libcuda.Open()
	if err != nil {
		t.Fatal(err)
	}
	if library == nil {
		return d
	}
	library.Memory(64 << 20)
	t.Cleanup(func() { library.Fail("", 0, 0) })
	return d
}

func TestDriverPassesTheSuiteOfDrivers(t *testing.T) { drivertest.Test(t, open(t)) }

// Each call that fails says its name, and what it means is told from its status.
func TestDriverNamesTheCallThatFails(t *testing.T) {
	d := open(t)
	for _, c := range []struct {
		function string
		status   int
		is       error
		call     func(c driver.Context, s driver.Stream, e driver.Event, a driver.Address) error
	}{
		{"cuMemAlloc", 2, driver.ErrMemory, func(c driver.Context, _ driver.Stream, _ driver.Event, _ driver.Address) error {
			_, err := c.Alloc(1)
			return err
		}},
		{"cuMemHostRegister", 712, nil, func(c driver.Context, _ driver.Stream, _ driver.Event, _ driver.Address) error {
			return c.Lock(make([]byte, 4096))
		}},
		{"cuMemcpyHtoDAsync", 719, driver.ErrLost, func(_ driver.Context, s driver.Stream, _ driver.Event, a driver.Address) error {
			return s.Upload(a, make([]byte, 8))
		}},
		{"cuMemcpyDtoHAsync", 700, driver.ErrLost, func(_ driver.Context, s driver.Stream, _ driver.Event, a driver.Address) error {
			return s.Download(make([]byte, 8), a)
		}},
		{"cuEventSynchronize", 46, driver.ErrLost, func(_ driver.Context, _ driver.Stream, e driver.Event, _ driver.Address) error { return e.Wait() }},
		{"cuStreamCreate", 2, driver.ErrMemory, func(c driver.Context, _ driver.Stream, _ driver.Event, _ driver.Address) error {
			_, err := c.NewStream()
			return err
		}},
		{"cuModuleLoadData", 218, nil, func(c driver.Context, _ driver.Stream, _ driver.Event, _ driver.Address) error {
			_, err := c.Load(driver.Kernel{Name: "none", PTX: "none"})
			return err
		}},
	} {
		context, err := d.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := context.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		event, err := context.NewEvent()
		if err != nil {
			t.Fatal(err)
		}
		at, err := context.Alloc(4096)
		if err != nil {
			t.Fatal(err)
		}
		library.Fail(c.function, 1, c.status)
		err = c.call(context, stream, event, at)
		var said *driver.Error
		if !errors.As(err, &said) || said.Call != c.function || said.Status != c.status {
			t.Errorf("%s gave %v", c.function, err)
		}
		if got := errors.Is(err, driver.ErrMemory); got != (c.is == driver.ErrMemory) {
			t.Errorf("%v is out of memory: %v", err, got)
		}
		if got := errors.Is(err, driver.ErrLost); got != (c.is == driver.ErrLost) {
			t.Errorf("%v is the loss of the device: %v", err, got)
		}
		if err := errors.Join(stream.Close(), event.Close(), context.Free(at), context.Close()); err != nil {
			t.Error(err)
		}
	}
}

// What a kernel or a copy does wrong comes out where the host waits, and from all later
// calls.
func TestDriverReportsACopyOutOfBounds(t *testing.T) {
	d := open(t)
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := c.NewStream()
	e, _ := c.NewEvent()
	a, err := c.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Upload(a, make([]byte, 101)), s.Record(e)); err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(); !errors.Is(err, driver.ErrLost) {
		t.Errorf("the host waits for a copy out of bounds, and gets %v", err)
	}
	if _, err := c.Alloc(1); !errors.Is(err, driver.ErrLost) {
		t.Errorf("an allocation after that gives %v", err)
	}
	_ = s.Close()
	_ = e.Close()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
