// Package device runs stages on a device, tile by tile: uploads, kernels and downloads of several tiles at once. It is
// what devices implement, too.
package device

import (
	"context"
	"errors"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// Device computes in memory of its own what the executor has read.
type Device interface {
	// Spec is what the planner knows of the device. It does not change.
	Spec() device.Spec
	// Pin locks the pages of a buffer, so that the device copies from them and to them
	// while the host does something else. Where it fails, copies are slower and right.
	Pin(b []byte) (unpin func() error, err error)
	// Open takes all the device memory of a stage, as s.Buffers declares it. An error that is
	// ErrMemory means that a smaller stage may succeed; nothing is taken then.
	Open(s *size.DeviceStage) (Work, error)
	// Keep allocates memory for a panel of a product's operand that outlives the stage.
	Keep(bytes int64) (Resident, error)
	Usage() Usage
}

// Usage is the memory of a device, in bytes.
type Usage struct {
	Used    int64 // by this device value
	Peak    int64 // the most of it so far
	Free    int64
	Others  int64 // taken by others
	Context int64 // taken by the driver and its libraries for this process, as far as is known
}

// Work is a stage on a device. Its calls enqueue work and return. Jobs of one slot are
// done in the order of the calls; each has up to s.Depth of them under way. Buffers that
// a call is given belong to the device until its Job's Wait returns without an error, or
// until Close.
type Work interface {
	// Begin empties the partials of a slot, for the task of a chunk.
	Begin(slot int, chunk grid.Box)
	// Map evaluates the stage's program for a tile from each load's elements into out,
	// dense in C order, and folds the stage's side reductions into the slot's partials.
	Map(slot int, tile grid.Box, in [][]byte, out []byte) Job
	// Reduce folds a tile into the slot's partials.
	Reduce(slot int, tile grid.Box, in [][]byte) Job
	// Fold folds a block of a tile that was left to the CPU, of which values has what each
	// fold takes. The slot has no tile in flight.
	Fold(slot int, block grid.Box, values [][]byte) Job
	// Resume lets the slot's tiles be folded after one that was left to the CPU.
	Resume(slot int)
	// Partials copies the slot's partials, one for each fold.
	Partials(slot int, dst [][]byte) Job
	// Place makes the next Multiply read an operand, 0 or 1, from resident memory, and Load
	// copy to it. It is called before the operand's Load, if there is one.
	Place(operand int, at Resident)
	// Load copies rows of an operand, 0 or 1, to where the next Multiply takes them from:
	// the panel's rows from first on, of n bytes each.
	Load(operand, first, n int, src []byte) Job
	// Multiply adds the product of the panels that are loaded to the accumulators.
	Multiply(p Panel) Job
	// Fetch copies rows of the accumulators, dense in C order.
	Fetch(first, rows int, dst []byte) Job
	// Close ends what is under way, and gives back all memory.
	Close() error
}

// Panel is a step of a product: Rows × K elements of the one operand and K × Cols of the
// other.
type Panel struct {
	Rows, Cols, K int
	First         bool // the accumulators are zero before
}

// Job is a call under way on a device.
type Job interface {
	// Wait returns when the call is done, or when ctx ends. An error that is
	// ErrMemory means that a smaller stage may succeed.
	Wait(ctx context.Context) (Times, error)
}

// Times are the parts of a job, and the bytes that it moved between host and device.
type Times struct {
	Upload, Compute, Download time.Duration
	Moved                     int64
}

// ErrLeftToCPU is returned for a tile of operands that the device does not compute. In a
// stage that folds it is returned too for all tiles of the slot that come after it, of which
// none is folded before Resume.
var ErrLeftToCPU = errors.New("the CPU computes these operands")

// ErrMemory is returned where a device has no room.
var ErrMemory = errors.New("out of device memory")

// CPU is the device of runs that have no other: it opens no stage, and all are done in
// slots.
type CPU struct{}

// Spec has the name "cpu", and no memory of its own.
func (CPU) Spec() device.Spec { return device.Spec{Name: "cpu"} }

// Pin does nothing: there is no device that copies.
func (CPU) Pin([]byte) (func() error, error) { return func() error { return nil }, nil }

// Open returns an error: no plan puts a stage on a device without memory.
func (CPU) Open(*size.DeviceStage) (Work, error) {
	return nil, errors.New("the CPU opens no stage")
}

// Keep returns an error, as Open does.
func (CPU) Keep(int64) (Resident, error) { return nil, errors.New("the CPU has no resident memory") }

// Usage is zero: the run's own arena counts.
func (CPU) Usage() Usage { return Usage{} }
