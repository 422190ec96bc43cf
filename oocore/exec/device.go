package exec

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
)

// A Device computes tiles that the executor has read.
type Device interface {
	// Name is what plans and records call the device.
	Name() string
	// Memory is the device's own memory in bytes; 0 where it computes in the host's.
	Memory() int64
	// OnHost reports that this memory is the host's too, as a modelled device's is.
	OnHost() bool
	// Lane prepares to compute a program on tiles of at most the given lengths. On a
	// device with memory it is one stream of plan.DeviceLanes.
	Lane(p *plan.Program, tile []int, a *arena.Arena, stage int) (Lane, error)
	// Used is what of its own memory is reserved now.
	Used() int64
	// Peak is the most of it that was reserved since the last call.
	Peak() int64
}

// Lane computes tiles, one at a time.
type Lane interface {
	// Compute evaluates the program for a tile from each load's elements into dst,
	// dense in C order. It returns the bytes that moved between host and device, and
	// an error that is ErrDeviceMemory where a smaller tile may succeed.
	Compute(ctx context.Context, tile grid.Box, inputs [][]byte, dst []byte) (moved int64, err error)
	Close() error
}

// ErrDeviceMemory is returned by a lane when the device has no room for a tile.
var ErrDeviceMemory = errors.New("out of device memory")

// CPU is the device that computes in the host's memory.
type CPU struct{}

// Name is "cpu".
func (CPU) Name() string { return "cpu" }

// Memory is 0: the CPU has no memory beside the host's.
func (CPU) Memory() int64 { return 0 }

// OnHost is true.
func (CPU) OnHost() bool { return true }

// Peak is 0.
func (CPU) Peak() int64 { return 0 }

// Used is 0: the run's own arena counts.
func (CPU) Used() int64 { return 0 }

// Lane is none: slots compute for themselves.
func (CPU) Lane(*plan.Program, []int, *arena.Arena, int) (Lane, error) {
	return nil, errors.New("the CPU has no streams")
}
