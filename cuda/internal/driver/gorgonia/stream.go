//go:build cuda && cgo && linux && (amd64 || arm64)

package gorgonia

import (
	"errors"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

type stream struct {
	context *Context
	handle  cu.Stream
}

// NewStream makes a stream that does not wait for the default one.
func (c *Context) NewStream() (driver.Stream, error) {
	s := &stream{context: c}
	err := c.do("cuStreamCreate", func() (err error) {
		s.handle, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stream) Upload(to driver.Address, from []byte) error {
	return s.context.do("cuMemcpyHtoDAsync", func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(from)), int64(len(from)), s.handle)
	})
}

func (s *stream) Download(to []byte, from driver.Address) error {
	return s.context.do("cuMemcpyDtoHAsync", func() error {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(to)), cu.DevicePtr(from), int64(len(to)), s.handle)
	})
}

func (s *stream) Clear(at driver.Address, bytes int64) error {
	return s.context.do("cuMemsetD8Async", func() error { return cu.MemsetD8Async(cu.DevicePtr(at), 0, bytes, s.handle) })
}

func (s *stream) Launch(f driver.Function, grid, block [3]uint32, args ...uint64) error {
	params := make([]unsafe.Pointer, len(args))
	for i := range args {
		params[i] = unsafe.Pointer(&args[i])
	}
	return s.context.do("cuLaunchKernel", func() error {
		return f.(*function).handle.Launch(int(grid[0]), int(grid[1]), int(grid[2]), int(block[0]), int(block[1]), int(block[2]), 0, s.handle, params)
	})
}

// Call gives f the stream's handle, which is all that cu's value has.
func (s *stream) Call(f func(stream uintptr) error) error {
	var said error
	err := s.context.do("", func() error {
		said = f(*(*uintptr)(unsafe.Pointer(&s.handle)))
		return nil
	})
	return errors.Join(err, said)
}

func (s *stream) Record(e driver.Event) error {
	return s.context.do("cuEventRecord", func() error { return e.(*event).handle.Record(s.handle) })
}

func (s *stream) Wait(e driver.Event) error {
	return s.context.do("cuStreamWaitEvent", func() error { return s.handle.Wait(e.(*event).handle, 0) })
}

func (s *stream) Close() error {
	return errors.Join(s.context.do("cuStreamSynchronize", s.handle.Synchronize), s.context.do("cuStreamDestroy", s.handle.Destroy))
}

type event struct {
	context *Context
	handle  cu.Event
}

// NewEvent makes an event with a time, for which the host waits without spinning.
func (c *Context) NewEvent() (driver.Event, error) {
	e := &event{context: c}
	err := c.do("cuEventCreate", func() (err error) {
		e.handle, err = cu.MakeEvent(cu.BlockingSyncEvent)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (e *event) Wait() error { return e.context.do("cuEventSynchronize", e.handle.Synchronize) }

func (e *event) Since(first driver.Event) (took time.Duration, err error) {
	err = e.context.do("cuEventElapsedTime", func() error {
		ms, err := first.(*event).handle.Elapsed(e.handle)
		took = time.Duration(ms * float64(time.Millisecond))
		return err
	})
	return took, err
}

func (e *event) Close() error {
	return e.context.do("cuEventDestroy", func() error { return cu.DestroyEvent(&e.handle) })
}
