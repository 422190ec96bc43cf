// Package libcuda is NVIDIA's driver, opened while the program runs and called without cgo.
package libcuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// ErrAbsent is returned where the machine has no driver.
var ErrAbsent = errors.New("no NVIDIA driver was found")

// Driver is the machine's. Its fields are the functions of the library.
type Driver struct {
	init, getErrorString, driverGetVersion                            uintptr
	deviceGetCount, deviceGet, deviceGetName, deviceGetAttribute      uintptr
	primaryRetain, primaryRelease, setCurrent                         uintptr
	memGetInfo, memAlloc, memFree, hostRegister, hostUnregister       uintptr
	streamCreate, streamDestroy, streamSynchronize, streamWaitEvent   uintptr
	eventCreate, eventDestroy, eventRecord, eventSynchronize, elapsed uintptr
	toDevice, toHost, set                                             uintptr
	moduleLoad, moduleUnload, moduleGetFunction, launch               uintptr
}

// Open opens the library and starts the driver. The library stays open: drivers do not
// close well.
var Open = sync.OnceValues(func() (*Driver, error) {
	lib, err := open()
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrAbsent, err)
	}
	d := &Driver{}
	for name, at := range map[string]*uintptr{
		"cuInit": &d.init, "cuGetErrorString": &d.getErrorString, "cuDriverGetVersion": &d.driverGetVersion,
		"cuDeviceGetCount": &d.deviceGetCount, "cuDeviceGet": &d.deviceGet, "cuDeviceGetName": &d.deviceGetName, "cuDeviceGetAttribute": &d.deviceGetAttribute,
		"cuDevicePrimaryCtxRetain": &d.primaryRetain, "cuDevicePrimaryCtxRelease": &d.primaryRelease, "cuCtxSetCurrent": &d.setCurrent,
		"cuMemGetInfo_v2": &d.memGetInfo, "cuMemAlloc_v2": &d.memAlloc, "cuMemFree_v2": &d.memFree, "cuMemHostRegister_v2": &d.hostRegister, "cuMemHostUnregister": &d.hostUnregister,
		"cuStreamCreate": &d.streamCreate, "cuStreamDestroy_v2": &d.streamDestroy, "cuStreamSynchronize": &d.streamSynchronize, "cuStreamWaitEvent": &d.streamWaitEvent,
		"cuEventCreate": &d.eventCreate, "cuEventDestroy_v2": &d.eventDestroy, "cuEventRecord": &d.eventRecord, "cuEventSynchronize": &d.eventSynchronize, "cuEventElapsedTime": &d.elapsed,
		"cuMemcpyHtoDAsync_v2": &d.toDevice, "cuMemcpyDtoHAsync_v2": &d.toHost, "cuMemsetD8Async": &d.set,
		"cuModuleLoadData": &d.moduleLoad, "cuModuleUnload": &d.moduleUnload, "cuModuleGetFunction": &d.moduleGetFunction, "cuLaunchKernel": &d.launch,
	} {
		if *at, err = symbol(lib, name); err != nil {
			return nil, fmt.Errorf("the NVIDIA driver is too old, and has no %s: update it", name)
		}
	}
	if status := call(d.init, 0); status != 0 {
		err := d.failed("cuInit", status).(*driver.Error)
		if err.Text == "" {
			err.Text = "it gives no reason"
		}
		return nil, fmt.Errorf("the NVIDIA driver does not start (error %d: %s)", err.Status, err.Text)
	}
	return d, nil
})

// failed is the error of a status; nil for success.
func (d *Driver) failed(name string, status int) error {
	if status == 0 {
		return nil
	}
	e := &driver.Error{Call: name, Status: status}
	var text *byte
	if call(d.getErrorString, uintptr(status), uintptr(unsafe.Pointer(&text))) == 0 && text != nil {
		n := 0
		for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
			n++
		}
		e.Text = string(unsafe.Slice(text, n))
	}
	return e
}

// Version is the newest CUDA that the driver offers.
func (d *Driver) Version() (int, error) {
	var version int32
	err := d.failed("cuDriverGetVersion", call(d.driverGetVersion, uintptr(unsafe.Pointer(&version))))
	return int(version), err
}

// Count is the number of devices that the process may see.
func (d *Driver) Count() (int, error) {
	var n int32
	err := d.failed("cuDeviceGetCount", call(d.deviceGetCount, uintptr(unsafe.Pointer(&n))))
	return int(n), err
}

func (d *Driver) device(ordinal int) (uintptr, error) {
	var device int32
	err := d.failed("cuDeviceGet", call(d.deviceGet, uintptr(unsafe.Pointer(&device)), uintptr(ordinal)))
	return uintptr(device), err
}

// Properties are those of a device.
func (d *Driver) Properties(ordinal int) (p driver.Properties, err error) {
	device, err := d.device(ordinal)
	if err != nil {
		return p, err
	}
	name := make([]byte, 256)
	if err := d.failed("cuDeviceGetName", call(d.deviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), device)); err != nil {
		return p, err
	}
	n := 0
	for n < len(name) && name[n] != 0 {
		n++
	}
	p.Name = string(name[:n])
	for attribute, to := range map[uintptr]*int{75: &p.Major, 76: &p.Minor} {
		var value int32
		if err := d.failed("cuDeviceGetAttribute", call(d.deviceGetAttribute, uintptr(unsafe.Pointer(&value)), attribute, device)); err != nil {
			return p, err
		}
		*to = int(value)
	}
	return p, nil
}

// Open retains the primary context of a device, which is shared by whatever else in this
// process uses it.
func (d *Driver) Open(ordinal int) (driver.Context, error) {
	device, err := d.device(ordinal)
	if err != nil {
		return nil, err
	}
	c := &Context{driver: d, device: device, modules: map[string]*module{}}
	if err := d.failed("cuDevicePrimaryCtxRetain", call(d.primaryRetain, uintptr(unsafe.Pointer(&c.handle)), device)); err != nil {
		return nil, err
	}
	return c, nil
}

// Context is a primary context. The current context is a thread's, so that each call
// begins by making this one current.
type Context struct {
	driver *Driver
	device uintptr
	handle uintptr

	mu      sync.Mutex
	modules map[string]*module // by text
}

// module is text that is loaded, for as many functions as are open.
type module struct {
	handle uintptr
	users  int
}

// do calls a function with the context being current.
//
//go:uintptrescapes
func do(c *Context, name string, function uintptr, args ...uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := call(c.driver.setCurrent, c.handle); status != 0 {
		return c.driver.failed("cuCtxSetCurrent", status)
	}
	return c.driver.failed(name, call(function, args...))
}

// Memory is what no process has taken, and all of the device's.
func (c *Context) Memory() (free, total int64, err error) {
	var f, t uintptr
	err = do(c, "cuMemGetInfo", c.driver.memGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

// Alloc takes memory of the device.
func (c *Context) Alloc(bytes int64) (driver.Address, error) {
	var at uintptr
	err := do(c, "cuMemAlloc", c.driver.memAlloc, uintptr(unsafe.Pointer(&at)), uintptr(bytes))
	return driver.Address(at), err
}

// Free gives memory back.
func (c *Context) Free(a driver.Address) error {
	return do(c, "cuMemFree", c.driver.memFree, uintptr(a))
}

// Lock locks the pages of host memory.
func (c *Context) Lock(host []byte) error {
	return do(c, "cuMemHostRegister", c.driver.hostRegister, uintptr(unsafe.Pointer(unsafe.SliceData(host))), uintptr(len(host)), 0)
}

// Unlock undoes Lock.
func (c *Context) Unlock(host []byte) error {
	return do(c, "cuMemHostUnregister", c.driver.hostUnregister, uintptr(unsafe.Pointer(unsafe.SliceData(host))))
}

// Close releases the context.
func (c *Context) Close() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return errors.Join(c.driver.failed("cuCtxSetCurrent", call(c.driver.setCurrent, 0)),
		c.driver.failed("cuDevicePrimaryCtxRelease", call(c.driver.primaryRelease, c.device)))
}

// Load compiles the kernel's module, unless it is loaded already.
func (c *Context) Load(k driver.Kernel) (driver.Function, error) {
	if k.PTX == "" {
		return nil, fmt.Errorf("kernel %s has no form in PTX", k.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.modules[k.PTX]
	if m == nil {
		m = &module{}
		text := append([]byte(k.PTX), 0)
		if err := do(c, "cuModuleLoadData", c.driver.moduleLoad, uintptr(unsafe.Pointer(&m.handle)), uintptr(unsafe.Pointer(&text[0]))); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		c.modules[k.PTX] = m
	}
	m.users++
	f := &function{context: c, text: k.PTX}
	name := append([]byte(k.Name), 0)
	if err := do(c, "cuModuleGetFunction", c.driver.moduleGetFunction, uintptr(unsafe.Pointer(&f.handle)), m.handle, uintptr(unsafe.Pointer(&name[0]))); err != nil {
		return nil, errors.Join(fmt.Errorf("kernel %s: %w", k.Name, err), c.release(k.PTX))
	}
	return f, nil
}

// release unloads a module that no function needs any more.
func (c *Context) release(text string) error {
	m := c.modules[text]
	if m.users--; m.users > 0 {
		return nil
	}
	delete(c.modules, text)
	return do(c, "cuModuleUnload", c.driver.moduleUnload, m.handle)
}

type function struct {
	context *Context
	handle  uintptr
	text    string
}

func (f *function) Close() error {
	f.context.mu.Lock()
	defer f.context.mu.Unlock()
	return f.context.release(f.text)
}
