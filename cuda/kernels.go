package cuda

import (
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/device"
)

// function is a kernel that is loaded.
type function struct {
	driver.Function
	sizes func(lengths ...[]int) (grid, block [3]uint32)
}

// launch enqueues a kernel.
func (k *function) launch(s driver.Stream, lengths [][]int, args ...uint64) error {
	grid, block := [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}
	if k.sizes != nil {
		grid, block = k.sizes(lengths...)
	}
	return s.Launch(k.Function, grid, block, args...)
}

// form returns the form in which the kernels of a GPU are made.
func (g *GPU) form() device.Form {
	if g.ptx {
		return device.PTX
	}
	return device.Loops
}

// The memory of kernels in PTX besides the buffers of a stage: a flag for each tile in flight,
// which a kernel sets where it leaves the tile to the CPU, and one for each slot, after which
// nothing more is folded into it.
const (
	flagBytes  = 4
	flagsBytes = 16 << 10
)

// mostPartials are as many partial results as there are threads that keep a large card busy.
const mostPartials = 1 << 15
