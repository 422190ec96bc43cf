//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

// The folder lib holds an empty libcuda.a, so that the linker finds the library
// that gorgonia.org/cu names. Its functions are those of nvidia_driver.c.

// #cgo LDFLAGS: -L${SRCDIR}/lib -ldl
// const char *driver_open(void);
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"gorgonia.org/cu"
)

//go:generate sh nvidia_entries.sh nvidia_entries.h

const lacks = "lists GPUs and does not compute on them yet"

// openDriver loads the driver and starts it, once in a process.
var openDriver = sync.OnceValue(func() error {
	if why := C.driver_open(); why != nil {
		return fmt.Errorf("%s: %s", C.GoString(why), instead)
	}
	return nil
})

func devices() ([]Info, error) {
	if err := openDriver(); err != nil {
		return nil, err
	}
	// The current context is the thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("the NVIDIA driver does not count its GPUs: %w", err)
	}
	version := cu.Version()
	if version < 0 {
		return nil, errors.New("the NVIDIA driver does not say its version")
	}
	var list []Info
	var silent []error
	for i := range n {
		info := Info{Device: fmt.Sprintf("cuda:%d", i), Driver: fmt.Sprintf("%d.%d", version/1000, version%1000/10)}
		if err := info.ask(i); err != nil {
			silent = append(silent, fmt.Errorf("%s does not answer: %w", info.Device, err))
			continue
		}
		list = append(list, info)
	}
	return list, errors.Join(silent...)
}

// ask fills in what GPU number i says of itself.
func (info *Info) ask(i int) error {
	d, err := cu.GetDevice(i)
	if err != nil {
		return err
	}
	if info.Name, err = d.Name(); err != nil {
		return err
	}
	major, err := d.Attribute(cu.ComputeCapabilityMajor)
	if err != nil {
		return err
	}
	minor, err := d.Attribute(cu.ComputeCapabilityMinor)
	if err != nil {
		return err
	}
	info.Compute = fmt.Sprintf("%d.%d", major, minor)
	// Memory is known to a context only. The primary one is shared by whatever
	// else in this process uses the GPU.
	ctx, err := d.RetainPrimaryCtx()
	if err != nil {
		return err
	}
	if err = cu.SetCurrentContext(ctx); err == nil {
		info.Free, info.Total, err = cu.MemInfo()
		err = errors.Join(err, cu.SetCurrentContext(cu.CUContext{}))
	}
	return errors.Join(err, d.ReleasePrimaryCtx())
}
