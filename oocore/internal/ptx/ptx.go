// Package ptx writes kernels for GPUs as PTX, NVIDIA's assembly text, which every driver
// since 2018 compiles for its card: no toolkit is needed to build or to run them.
//
// A kernel's parameters are words of eight bytes: integers, and addresses on the device
// that are multiples of 16. Tiles have fewer than 2³¹ elements.
//
// Elementwise operations, conversions, generators and reductions of integers, and
// extremes of any type, have the bits that package kernel gives, but for what a NaN
// carries and which of two zeros an extreme is. A few operands of some functions are rare:
// the kernels leave them to the CPU, and say so in a word of memory that the host clears
// before.
package ptx

//go:generate go run ../kernel/internal/asm ptx .

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Module is a text for a driver to load.
type Module struct {
	Text    string // ends with a zero byte
	Kernels []Kernel
}

// Kernel is an entry of a module.
type Kernel struct {
	Name   string
	Params []string // names, for messages
	shape  func(lengths ...[]int) (grid, block [3]uint32)
}

// Launch returns the grid and the block of a launch: of a map for the lengths of a tile,
// of init and merge for the number of accumulators, of fold for the lengths of a tile, of
// a product for those of the result.
func (k *Kernel) Launch(lengths ...[]int) (grid, block [3]uint32) { return k.shape(lengths...) }

const (
	header = ".version 6.0\n.target sm_52\n.address_size 64\n"
	// threads of a block.
	threads = 256
	// mostBlocks bounds the blocks of a grid whose threads each take several elements.
	mostBlocks = 65535
)

// newModule joins entries.
func newModule(kernels []Kernel, entries ...string) Module {
	return Module{Text: header + strings.Join(entries, "") + "\x00", Kernels: kernels}
}

// blocksFor is a thread an element, in one dimension.
func blocksFor(lengths ...[]int) (blocks, block [3]uint32) {
	n := (grid.Size(lengths[0]) + threads - 1) / threads
	return [3]uint32{uint32(max(min(n, mostBlocks), 1)), 1, 1}, [3]uint32{threads, 1, 1}
}
