//go:build cuda && cgo && linux && (amd64 || arm64)

// Package gorgonia is NVIDIA's driver through gorgonia.org/cu. The program opens it at the
// first use, and starts without one.
package gorgonia

// The folder lib holds an empty libcuda.a, so that the linker finds the library
// that gorgonia.org/cu names. Its functions are those of driver.c.

// #cgo LDFLAGS: -L${SRCDIR}/lib -ldl
// #include <stddef.h>
// int driver_open(const char **why);
// const char *driver_text(int status);
// int driver_lock(void *at, size_t bytes);
// int driver_unlock(void *at);
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/libcuda"
)

//go:generate sh entries.sh entries.h

// Driver is the machine's.
type Driver struct{}

// Open opens the library and starts the driver.
var Open = sync.OnceValues(func() (*Driver, error) {
	var why *C.char
	status := int(C.driver_open(&why))
	switch {
	case status < 0:
		return nil, fmt.Errorf("%w (%s)", libcuda.ErrAbsent, C.GoString(why))
	case status > 0:
		return nil, fmt.Errorf("the NVIDIA driver does not start (error %d: %s)", status, explained(status, "it gives no reason"))
	}
	return &Driver{}, nil
})

func explained(status int, otherwise string) string {
	if text := C.driver_text(C.int(status)); text != nil {
		return C.GoString(text)
	}
	return otherwise
}

// failed is the error of a call of cu, whose errors are statuses.
func failed(call string, err error) error {
	if err == nil {
		return nil
	}
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Int {
		return fmt.Errorf("%s: %w", call, err)
	}
	return status(call, int(v.Int()))
}

func status(call string, s int) error {
	if s == 0 {
		return nil
	}
	return &driver.Error{Call: call, Status: s, Text: explained(s, "")}
}

// Version is the newest CUDA that the driver offers.
func (*Driver) Version() (int, error) {
	v := cu.Version()
	if v < 0 {
		return 0, errors.New("cuDriverGetVersion fails")
	}
	return v, nil
}

// Count is the number of devices that the process may see.
func (*Driver) Count() (int, error) {
	n, err := cu.NumDevices()
	return n, failed("cuDeviceGetCount", err)
}

// Properties are those of a device.
func (*Driver) Properties(ordinal int) (p driver.Properties, err error) {
	d, err := cu.GetDevice(ordinal)
	if err != nil {
		return p, failed("cuDeviceGet", err)
	}
	if p.Name, err = d.Name(); err != nil {
		return p, failed("cuDeviceGetName", err)
	}
	if p.Major, err = d.Attribute(cu.ComputeCapabilityMajor); err == nil {
		p.Minor, err = d.Attribute(cu.ComputeCapabilityMinor)
	}
	return p, failed("cuDeviceGetAttribute", err)
}

// Open retains the primary context of a device.
func (*Driver) Open(ordinal int) (driver.Context, error) {
	d, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, failed("cuDeviceGet", err)
	}
	c, err := d.RetainPrimaryCtx()
	if err != nil {
		return nil, failed("cuDevicePrimaryCtxRetain", err)
	}
	return &Context{device: d, handle: c}, nil
}

// Context is a primary context. Each call begins by making it the thread's.
type Context struct {
	device cu.Device
	handle cu.CUContext
}

func (c *Context) do(name string, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(c.handle); err != nil {
		return failed("cuCtxSetCurrent", err)
	}
	return failed(name, call())
}

// Memory is what no process has taken, and all of the device's.
func (c *Context) Memory() (free, total int64, err error) {
	err = c.do("cuMemGetInfo", func() (err error) {
		free, total, err = cu.MemInfo()
		return err
	})
	return free, total, err
}

// Alloc takes memory of the device.
func (c *Context) Alloc(bytes int64) (at driver.Address, err error) {
	err = c.do("cuMemAlloc", func() error {
		p, err := cu.MemAlloc(bytes)
		at = driver.Address(p)
		return err
	})
	return at, err
}

// Free gives memory back.
func (c *Context) Free(a driver.Address) error {
	return c.do("cuMemFree", func() error { return cu.MemFree(cu.DevicePtr(a)) })
}

// Lock locks the pages of host memory, which cu has no function for.
func (c *Context) Lock(host []byte) (err error) {
	return errors.Join(c.do("cuMemHostRegister", func() error {
		err = status("cuMemHostRegister", int(C.driver_lock(unsafe.Pointer(unsafe.SliceData(host)), C.size_t(len(host)))))
		return nil
	}), err)
}

// Unlock undoes Lock.
func (c *Context) Unlock(host []byte) (err error) {
	return errors.Join(c.do("cuMemHostUnregister", func() error {
		err = status("cuMemHostUnregister", int(C.driver_unlock(unsafe.Pointer(unsafe.SliceData(host)))))
		return nil
	}), err)
}

// Close releases the context.
func (c *Context) Close() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return errors.Join(failed("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{})), failed("cuDevicePrimaryCtxRelease", c.device.ReleasePrimaryCtx()))
}

type function struct {
	context *Context
	module  cu.Module
	handle  cu.Function
}

// Load compiles the kernel's module.
func (c *Context) Load(k driver.Kernel) (driver.Function, error) {
	if k.PTX == "" {
		return nil, fmt.Errorf("kernel %s has no form in PTX", k.Name)
	}
	f := &function{context: c}
	err := c.do("cuModuleLoadData", func() (err error) {
		f.module, err = cu.LoadData(k.PTX)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	err = c.do("cuModuleGetFunction", func() (err error) {
		f.handle, err = f.module.Function(k.Name)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("kernel %s: %w", k.Name, err), f.Close())
	}
	return f, nil
}

func (f *function) Close() error { return f.context.do("cuModuleUnload", f.module.Unload) }
