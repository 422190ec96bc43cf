package libcuda

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

type stream struct {
	context *Context
	handle  uintptr
}

// nonBlocking streams do not wait for the default one, which others may use.
const nonBlocking = 1

// NewStream makes a stream.
func (c *Context) NewStream() (driver.Stream, error) {
	s := &stream{context: c}
	if err := do(c, "cuStreamCreate", c.driver.streamCreate, uintptr(unsafe.Pointer(&s.handle)), nonBlocking); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stream) Upload(to driver.Address, from []byte) error {
	return do(s.context, "cuMemcpyHtoDAsync", s.context.driver.toDevice, uintptr(to), uintptr(unsafe.Pointer(unsafe.SliceData(from))), uintptr(len(from)), s.handle)
}

func (s *stream) Download(to []byte, from driver.Address) error {
	return do(s.context, "cuMemcpyDtoHAsync", s.context.driver.toHost, uintptr(unsafe.Pointer(unsafe.SliceData(to))), uintptr(from), uintptr(len(to)), s.handle)
}

func (s *stream) Clear(at driver.Address, bytes int64) error {
	return do(s.context, "cuMemsetD8Async", s.context.driver.set, uintptr(at), 0, uintptr(bytes), s.handle)
}

func (s *stream) Launch(f driver.Function, grid, block [3]uint32, args ...uint64) error {
	params := make([]unsafe.Pointer, len(args)+1) // the driver reads them before it returns
	for i := range args {
		params[i] = unsafe.Pointer(&args[i])
	}
	return do(s.context, "cuLaunchKernel", s.context.driver.launch, f.(*function).handle,
		uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]), uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		0, s.handle, uintptr(unsafe.Pointer(&params[0])), 0)
}

// Call returns what f does.
func (s *stream) Call(f func(stream uintptr) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := call(s.context.driver.setCurrent, s.context.handle); status != 0 {
		return s.context.driver.failed("cuCtxSetCurrent", status)
	}
	return f(s.handle)
}

func (s *stream) Record(e driver.Event) error {
	return do(s.context, "cuEventRecord", s.context.driver.eventRecord, e.(*event).handle, s.handle)
}

func (s *stream) Wait(e driver.Event) error {
	return do(s.context, "cuStreamWaitEvent", s.context.driver.streamWaitEvent, s.handle, e.(*event).handle, 0)
}

func (s *stream) Close() error {
	return errors.Join(do(s.context, "cuStreamSynchronize", s.context.driver.streamSynchronize, s.handle),
		do(s.context, "cuStreamDestroy", s.context.driver.streamDestroy, s.handle))
}

type event struct {
	context *Context
	handle  uintptr
}

// blockingSync lets the host's thread sleep until an event is done. Without it the driver
// spins a core.
const blockingSync = 1

// NewEvent makes an event with a time.
func (c *Context) NewEvent() (driver.Event, error) {
	e := &event{context: c}
	if err := do(c, "cuEventCreate", c.driver.eventCreate, uintptr(unsafe.Pointer(&e.handle)), blockingSync); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *event) Wait() error {
	return do(e.context, "cuEventSynchronize", e.context.driver.eventSynchronize, e.handle)
}

func (e *event) Since(first driver.Event) (time.Duration, error) {
	var ms float32
	err := do(e.context, "cuEventElapsedTime", e.context.driver.elapsed, uintptr(unsafe.Pointer(&ms)), first.(*event).handle, e.handle)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

func (e *event) Close() error {
	return do(e.context, "cuEventDestroy", e.context.driver.eventDestroy, e.handle)
}
