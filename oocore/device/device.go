// Package device is the extension point for devices: what computes stages of a run in memory
// of its own, such as a GPU. A program that only computes on one gives it to oocore.On, and
// needs nothing of this package; package cuda implements it, and devicetest is the suite that
// every implementation passes.
//
// A run asks a Device for its Spec when it plans, and opens each Stage that the plan puts on
// it. What the stage computes comes as kernels, in PTX for GPUs or as functions in Go.
//
// The names here stand for types of the engine, whose fields and methods may gain others
// from one release to the next.
package device

import (
	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	plandevice "github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/suggest"
	"github.com/gonbext/gonbext/oocore/record"
)

// What a device implements.
type (
	// Device computes in memory of its own what the executor has read.
	Device = device.Device
	// Work is a stage that is open on a device.
	Work = device.Work
	// Job is a call under way on a device.
	Job = device.Job
	// Resident is memory of a device that outlives a stage.
	Resident = device.Resident
)

// What a device is asked, and answers.
type (
	// Spec is what the planner knows of a device.
	Spec = plandevice.Spec
	// Capabilities are what a device has kernels for.
	Capabilities = plandevice.Capabilities
	// Rates are those of a device in a second. One that is 0 is not known.
	Rates = plandevice.Rates
	// Stage is a stage that is sized for a device.
	Stage = size.DeviceStage
	// Buffer is memory that a stage declares.
	Buffer = size.Buffer
	// Box is a rectangle of an array: where it starts, and its shape.
	Box = grid.Box
	// Panel is a step of a product.
	Panel = device.Panel
	// Times are the parts of a job, and the bytes that it moved between host and device.
	Times = device.Times
	// Usage is the memory of a device, in bytes.
	Usage = device.Usage
)

// The kinds of a Stage that a device may be given.
const (
	MapStage    = plan.MapStage
	ReduceStage = plan.ReduceStage
	MatMulStage = plan.MatMulStage
)

// CPU is the device of runs that have no other. One that opens no stage of its own embeds it.
type CPU = device.CPU

var (
	// ErrMemory is returned where a device has no room: a smaller stage may succeed.
	ErrMemory = device.ErrMemory
	// ErrLeftToCPU is returned for a tile of operands that the device does not compute.
	ErrLeftToCPU = device.ErrLeftToCPU
)

// PageSize is the granularity of what the engine's buffers take.
const PageSize = arena.PageSize

// Reserved is what an allocation of n bytes counts: whole pages.
func Reserved(n int64) int64 { return arena.Reserved(n) }

// OpenBLAS is the version of the library that multiplies matrices on the CPU, if it has one.
func OpenBLAS() (version string, ok bool) { return kernel.OpenBLAS() }

// Distance is how far one name is from another, for an error that says which was probably
// meant: the bytes to add, drop or change, and neighbours to swap.
func Distance(a, b string) int { return suggest.Distance(a, b) }

// Memory is that of a modelled device: memory of the host that counts as the device's, up to
// a limit.
type Memory struct{ arena *arena.Arena }

// Block is an allocation of a Memory. Its Data is outside of Go's heap.
type Block = arena.Buffer

// NewMemory returns memory of so many bytes, of which none is taken.
func NewMemory(bytes int64) *Memory { return &Memory{arena.New(bytes)} }

// Alloc takes n bytes.
func (m *Memory) Alloc(n int64) (*Block, error) {
	if m == nil || m.arena == nil {
		return nil, ErrMemory
	}
	return m.arena.Alloc(arena.Tag{Chunk: -1, Class: record.Device}, n)
}

// Used is the bytes that are taken.
func (m *Memory) Used() int64 {
	if m == nil || m.arena == nil {
		return 0
	}
	return m.arena.Now()[record.Device]
}

// Close returns an error that names what is still taken.
func (m *Memory) Close() error {
	if m == nil || m.arena == nil {
		return nil
	}
	return m.arena.Close()
}
