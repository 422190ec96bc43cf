//go:build unix

package ptx_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gonbext/gonbext/oocore/internal/ptx"
)

// onMachine reports that GONBEXT_TEST_DRIVER is "machine": kernels run on the card that this
// machine has, and are not evaluated.
func onMachine() bool { return os.Getenv("GONBEXT_TEST_DRIVER") == "machine" }

// card is the machine's driver, and a stream of its first GPU.
type card struct {
	setCurrent      func(context uintptr) int32
	alloc           func(at *uintptr, bytes uintptr) int32
	free            func(at uintptr) int32
	upload          func(to uintptr, from unsafe.Pointer, bytes, stream uintptr) int32
	download        func(to unsafe.Pointer, from, bytes, stream uintptr) int32
	load            func(module *uintptr, text string) int32
	unload          func(module uintptr) int32
	function        func(f *uintptr, module uintptr, name string) int32
	launch          func(f uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, params, extra unsafe.Pointer) int32
	synchronize     func(stream uintptr) int32
	context, stream uintptr
	start           func(flags uint32) int32
	device          func(d *int32, ordinal int32) int32
	retain          func(context *uintptr, d int32) int32
	createStream    func(stream *uintptr, flags uint32) int32
}

// status is an error for each status of the driver but 0.
func status(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: error %d", call, code)
}

// theCard opens the driver, once. Calls that follow are of the thread that the context is
// current on.
var theCard = sync.OnceValues(func() (*card, error) {
	lib, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	c := &card{}
	for name, f := range map[string]any{
		"cuInit": &c.start, "cuDeviceGet": &c.device, "cuDevicePrimaryCtxRetain": &c.retain, "cuCtxSetCurrent": &c.setCurrent,
		"cuMemAlloc_v2": &c.alloc, "cuMemFree_v2": &c.free, "cuMemcpyHtoDAsync_v2": &c.upload, "cuMemcpyDtoHAsync_v2": &c.download,
		"cuModuleLoadData": &c.load, "cuModuleUnload": &c.unload, "cuModuleGetFunction": &c.function, "cuLaunchKernel": &c.launch,
		"cuStreamCreate": &c.createStream, "cuStreamSynchronize": &c.synchronize,
	} {
		purego.RegisterLibFunc(f, lib, name)
	}
	var d int32
	for _, do := range []func() error{
		func() error { return status("cuInit", c.start(0)) },
		func() error { return status("cuDeviceGet", c.device(&d, 0)) },
		func() error { return status("cuDevicePrimaryCtxRetain", c.retain(&c.context, d)) },
		func() error { return status("cuCtxSetCurrent", c.setCurrent(c.context)) },
		func() error { return status("cuStreamCreate", c.createStream(&c.stream, 1)) },
	} {
		if err := do(); err != nil {
			return nil, err
		}
	}
	return c, nil
})

// launchOnCard runs a kernel on the machine's GPU, over copies of the memory that is given.
func launchOnCard(m ptx.Module, name string, grid, block [3]uint32, args ...any) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := theCard()
	if err != nil {
		return err
	}
	if err := status("cuCtxSetCurrent", c.setCurrent(c.context)); err != nil {
		return err
	}
	var module, f uintptr
	if err := status("cuModuleLoadData", c.load(&module, m.Text)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, status("cuModuleUnload", c.unload(module))) }()
	if err := status("cuModuleGetFunction", c.function(&f, module, name)); err != nil {
		return err
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	words, params, copies := make([]uint64, len(args)), make([]unsafe.Pointer, len(args)+1), map[*byte]uintptr{}
	var out []func() error
	for i, a := range args {
		pinned.Pin(&words[i])
		params[i] = unsafe.Pointer(&words[i])
		switch a := a.(type) {
		case int:
			words[i] = uint64(a)
		case []byte:
			if len(a) == 0 {
				continue
			}
			host := unsafe.SliceData(a)
			at, ok := copies[host]
			if !ok {
				if err := status("cuMemAlloc", c.alloc(&at, uintptr(len(a)))); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, status("cuMemFree", c.free(at))) }()
				copies[host] = at
				pinned.Pin(host)
				if err := status("cuMemcpyHtoDAsync", c.upload(at, unsafe.Pointer(host), uintptr(len(a)), c.stream)); err != nil {
					return err
				}
				out = append(out, func() error {
					return status("cuMemcpyDtoHAsync", c.download(unsafe.Pointer(host), at, uintptr(len(a)), c.stream))
				})
			}
			words[i] = uint64(at)
		default:
			return fmt.Errorf("argument %d is a %T", i, a)
		}
	}
	err = status("cuLaunchKernel", c.launch(f, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, c.stream, unsafe.Pointer(&params[0]), nil))
	for _, download := range out {
		err = errors.Join(err, download())
	}
	return errors.Join(err, status("cuStreamSynchronize", c.synchronize(c.stream)))
}
