package cuda

import (
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/ptx"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/vm"
)

// The kernels of a stage, as drivers take them: PTX for a GPU, and for the model the CPU's
// own loops over the same arguments. The model's take their registers, and what they pack
// into, from the scratch memory of the stage, which is declared for the model alone.

// code is a kernel, and the blocks and threads that it takes for what has the given lengths.
type code struct {
	driver.Kernel
	sizes func(lengths ...[]int) (grid, block [3]uint32)
}

// function is code that is loaded.
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

// mapCode evaluates the program of a stage.
func mapCode(s *plan.DeviceStage, inPTX bool, scratch driver.Address) (code, error) {
	if !inPTX {
		return code{Kernel: mapInGo(s, scratch)}, nil
	}
	all, err := emitted(ptx.Map(&s.Programs[0]))
	if err != nil {
		return code{}, err
	}
	return all[0], nil
}

// foldCode is what empties the accumulators of a fold, then what folds a tile, and then what
// joins partial results, where there are several of each accumulator.
func foldCode(s *plan.DeviceStage, i int, inPTX bool) ([]code, error) {
	if !inPTX {
		return []code{{Kernel: initInGo(s, i)}, {Kernel: foldInGo(s, i)}}, nil
	}
	return emitted(ptx.Fold(s.Stage, i, s.Partials))
}

// productCode adds the product of two panels.
func productCode(s *plan.DeviceStage, inPTX bool, scratch driver.Address) (code, error) {
	if !inPTX {
		return code{Kernel: productInGo(s, scratch)}, nil
	}
	all, err := emitted(ptx.Product(operand(s), s.Super.Type))
	if err != nil {
		return code{}, err
	}
	return all[0], nil
}

// emitted is the code of a module, in its order.
func emitted(m ptx.Module, err error) (all []code, _ error) {
	for i := range m.Kernels {
		k := &m.Kernels[i]
		all = append(all, code{Kernel: driver.Kernel{Name: k.Name, PTX: m.Text}, sizes: k.Launch})
	}
	return all, err
}

// mapInGo evaluates the stage's program for a tile. Its arguments are the address of a
// flag, those of results and of the loads that read, the number of elements, and the start
// and length of the tile along each axis. A result whose address is 0 is not wanted.
func mapInGo(s *plan.DeviceStage, scratch driver.Address) driver.Kernel {
	prog := &s.Programs[0]
	var machine *vm.Machine
	in := make([][]byte, len(prog.Loads))
	return driver.Kernel{Name: "map", Go: func(m driver.Memory, args []uint64) (cost driver.Cost, err error) {
		if machine == nil {
			var registers []byte
			if n := prog.RegisterBytes(false); n > 0 {
				registers = m.Bytes(scratch, n)
			}
			if machine, err = vm.New(prog, registers, false); err != nil {
				return cost, err
			}
		}
		outs, args := args[1:1+len(prog.Out)], args[1+len(prog.Out):]
		reads := 0
		for i := range prog.Loads {
			if prog.Loads[i].Reads() {
				reads++
			}
		}
		loads, args := args[:reads], args[reads:]
		tile := boxOf(args[1:], 2, 0)
		cost = driver.Cost{Operations: int64(len(prog.Code)) * int64(tile.Size())}
		at := 0
		for i := range prog.Loads {
			if l := &prog.Loads[i]; l.Reads() {
				in[i] = m.Bytes(driver.Address(loads[at]), int64(grid.Size(l.Held(tile.Shape)))*int64(l.Type.Size()))
				cost.Bytes += int64(len(in[i]))
				at++
			}
		}
		results := make([][]byte, len(outs))
		for k, address := range outs {
			if address != 0 {
				results[k] = m.Bytes(driver.Address(address), int64(tile.Size())*int64(prog.Type(prog.Out[k]).Size()))
				cost.Bytes += int64(len(results[k]))
			}
		}
		machine.Tile(tile, in)
		first := 0
		for b := range tile.Split(s.Block) {
			if machine.Block(b, first, nil); machine.Fails(b.Size()) {
				return cost, exec.ErrLeftToCPU
			}
			for k, dst := range results {
				if size := prog.Type(prog.Out[k]).Size(); dst != nil {
					copy(dst[first*size:], machine.Result(k)[:b.Size()*size])
				}
			}
			first += b.Size()
		}
		return cost, nil
	}}
}

// boxOf is a box of whose axes args have the start and the length, from the at-th of every so
// many on.
func boxOf(args []uint64, every, at int) (b grid.Box) {
	for ; len(args) > 0; args = args[every:] {
		b.Start, b.Shape = append(b.Start, int(args[at])), append(b.Shape, int(args[at+1]))
	}
	return b
}

// initInGo empties accumulators. Its arguments are their address and their number.
func initInGo(s *plan.DeviceStage, i int) driver.Kernel {
	f := s.Folder(i)
	return driver.Kernel{Name: "init", Go: func(m driver.Memory, args []uint64) (cost driver.Cost, err error) {
		n := int(args[1])
		state := m.Bytes(driver.Address(args[0]), int64(n*f.Size()))
		f.Init(state, n)
		return driver.Cost{Bytes: int64(len(state))}, nil
	}}
}

// foldInGo folds a tile of values into accumulators. Its arguments are the addresses of two
// flags, of the accumulators and of the values, the number of accumulators, that of the
// blocks before, and along each axis the start and length of the tile and of the chunk.
func foldInGo(s *plan.DeviceStage, i int) driver.Kernel {
	f, layout := s.Folder(i), vm.NewLayout(s.Stage, i)
	prog := &s.Programs[0]
	size := prog.Type(prog.Out[s.Folded(i)]).Size()
	return driver.Kernel{Name: "fold", Go: func(m driver.Memory, args []uint64) (cost driver.Cost, err error) {
		n := int(args[4])
		tile, chunk := boxOf(args[6:], 4, 0), boxOf(args[6:], 4, 2)
		layout.Chunk(chunk)
		state := m.Bytes(driver.Address(args[2]), int64(n*f.Size()))
		x := m.Bytes(driver.Address(args[3]), int64(tile.Size()*size))
		first := 0
		for b := range tile.Split(s.Block) {
			layout.Fold(f, state, n, x[first*size:], b)
			first += b.Size()
		}
		return driver.Cost{Operations: int64(tile.Size()), Bytes: int64(len(x))}, nil
	}}
}

// productInGo adds the product of two panels. Its arguments are the addresses of the
// accumulators and of the panels, and the numbers of rows, of columns and of what is summed.
func productInGo(s *plan.DeviceStage, scratch driver.Address) driver.Kernel {
	p, sup := &s.Programs[0], s.Super
	in, sum := p.Type(p.Out[0]), sup.Type
	other := s.Programs[1].Type(s.Programs[1].Out[0])
	gemm := kernel.Gemm
	if sum == dtype.Int32 && in != dtype.Int32 {
		gemm = kernel.GemmInt32
	}
	return driver.Kernel{Name: "product", Go: func(m driver.Memory, args []uint64) (cost driver.Cost, err error) {
		rows, cols, k := int(args[3]), int(args[4]), int(args[5])
		cost = driver.Cost{Operations: 2 * int64(rows) * int64(cols) * int64(k), Bytes: int64(rows * cols * sum.Size())}
		if rows == 0 || cols == 0 || k == 0 {
			return cost, nil
		}
		c := m.Bytes(driver.Address(args[0]), int64(rows*cols*sum.Size()))
		a := m.Bytes(driver.Address(args[1]), int64(rows*k*in.Size()))
		b := m.Bytes(driver.Address(args[2]), int64(k*cols*other.Size()))
		pack := s.Memory.Scratch.Bytes()
		var packed []byte
		if pack > 0 {
			packed = m.Bytes(scratch, pack)
		}
		for row := 0; row < rows; row += sup.TileM {
			for col := 0; col < cols; col += sup.TileN {
				gemm(in, min(sup.TileM, rows-row), min(sup.TileN, cols-col), k, a[row*k*in.Size():], k,
					b[col*other.Size():], cols, c[(row*cols+col)*sum.Size():], cols, packed)
			}
		}
		return cost, nil
	}}
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
