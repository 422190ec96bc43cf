// Package driver is what the device code of package cuda asks of a GPU's driver. Three
// things implement it: libcuda opened at run time, gorgonia.org/cu, and a model in Go. The
// suite in package drivertest holds all three to the same behaviour.
//
// It follows CUDA's driver API: a stream does what is enqueued in order, streams go on at
// the same time, and events order one after another. Calls of a Stream enqueue and return;
// memory that they are given, of host or device, is theirs until an event that was recorded
// behind them is done. All values are safe for concurrent use.
package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gonbext/gonbext/oocore/device"
)

// ErrMemory is returned where the device has no room.
var ErrMemory = errors.New("out of device memory")

// ErrLost is returned where the device does nothing any more in this process.
var ErrLost = errors.New("the device is lost")

// Error is a call that a driver rejects.
type Error struct {
	Call   string // the driver's function
	Status int
	Text   string // the driver's explanation; may be empty
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: error %d", e.Call, e.Status)
	}
	return fmt.Sprintf("%s: error %d, %s", e.Call, e.Status, e.Text)
}

// StatusMemory is CUDA's for a device without room.
const StatusMemory = 2

// lost are the statuses of CUDA after which nothing is done in a process any more.
var lost = []int{
	46,                      // device unavailable
	214,                     // uncorrectable memory error
	226,                     // contained error
	700,                     // illegal address
	702,                     // launch timeout
	710,                     // assertion
	714, 715, 716, 717, 718, // hardware stack, instruction, alignment, address space, program counter
	719, // launch failed
}

// Is reports that an error is ErrMemory or ErrLost.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrMemory:
		return e.Status == StatusMemory
	case ErrLost:
		return slices.Contains(lost, e.Status)
	}
	return false
}

// Driver finds the GPUs of a machine.
type Driver interface {
	// Version is the newest CUDA that the driver offers: 1000 × major + 10 × minor.
	Version() (int, error)
	Count() (int, error)
	Properties(device int) (Properties, error)
	// Open retains a context on a device. A process has one context on each device.
	Open(device int) (Context, error)
}

// Properties are those of a device.
type Properties struct {
	Name         string
	Major, Minor int // compute capability
}

// Context is what a process has on a device.
type Context interface {
	// Memory is what no process has taken, and all of the device's.
	Memory() (free, total int64, err error)
	// Alloc takes memory of the device, whose bytes are undefined.
	Alloc(bytes int64) (Address, error)
	// Free gives memory back when the streams have done what uses it.
	Free(Address) error
	// Lock locks the pages of host memory, so that copies from there and to there do not
	// hold the caller.
	Lock(host []byte) error
	Unlock(host []byte) error
	NewStream() (Stream, error)
	NewEvent() (Event, error)
	Load(Kernel) (Function, error)
	// Close releases the context. What was made of it must have been closed before.
	Close() error
}

// Address is that of memory of a device. 0 is none.
type Address = device.Address

// Stream does what is enqueued in order.
type Stream interface {
	Upload(to Address, from []byte) error
	Download(to []byte, from Address) error
	// Clear sets bytes to zero.
	Clear(at Address, bytes int64) error
	// Launch runs a kernel in so many blocks of so many threads. Each argument is the bits of
	// a parameter, in eight bytes.
	Launch(f Function, grid, block [3]uint32, args ...uint64) error
	// Call lets a library enqueue work of its own: f is called with the stream as the driver's
	// own libraries know it, while the context is the thread's.
	Call(f func(stream uintptr) error) error
	// Record lets an event be done when all that was enqueued before is.
	Record(Event) error
	// Wait holds what is enqueued later back until an event is done, as it was recorded
	// last; not at all where it never was.
	Wait(Event) error
	// Close waits for what was enqueued, and ends the stream.
	Close() error
}

// Event is a point in a stream.
type Event interface {
	// Wait blocks until the event is done, as it was recorded last, without spinning. It
	// returns what has failed on the device.
	Wait() error
	// Since is the time on the device between two events that are done.
	Since(Event) (time.Duration, error)
	Close() error
}

// Function is a kernel that is loaded.
type Function interface {
	Close() error
}

// Kernel is a function for a device, in one of the forms that drivers take.
type Kernel = device.Kernel

// Memory is the device's as a kernel in Go sees it.
type Memory = device.Accessor

// Cost is what a kernel has done, from which the model takes its time.
type Cost = device.Cost
