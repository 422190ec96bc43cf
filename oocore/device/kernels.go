package device

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/internal/vm"
)

// Form is what kernels are made in. Both compute the same of the same arguments.
type Form int

const (
	// PTX is NVIDIA's assembly text, which the drivers of GPUs take.
	PTX Form = iota
	// Loops are the CPU's own, over memory that a program can address. They take their
	// registers, and what they pack into, from the scratch memory of the stage, which is
	// declared for them alone.
	Loops
)

// Address is that of memory of a device. 0 is none.
type Address uint64

// Kernel is a function for a device. Its arguments are words of eight bytes: integers, and
// addresses.
type Kernel struct {
	Name string // of the module's entry
	PTX  string // the module; "" for none
	Go   func(m Accessor, args []uint64) (Cost, error)
	// Launch returns the grid and the block of a launch in PTX: of a map and a fold for the
	// lengths of a tile, of what empties or joins accumulators for their number, of a product
	// for the lengths of the result. It is nil in Go.
	Launch func(lengths ...[]int) (grid, block [3]uint32)
}

// Accessor gives a kernel in Go the device's memory.
type Accessor interface {
	// Bytes is memory of one allocation.
	Bytes(a Address, n int64) []byte
}

// Cost is what a kernel has done, from which a modelled device takes its time.
type Cost struct{ Operations, Bytes int64 }

// MostParameters bounds the parameters of a kernel in PTX, for a Spec.
const MostParameters = ptx.MostParameters

// Capabilities are the operations and types that a form has kernels for. Complex numbers are
// left to the CPU.
func (f Form) Capabilities() Capabilities {
	if f == PTX {
		return ptx.Capabilities()
	}
	real := func(t dtype.Type) bool { return t.Kind() != dtype.KindComplex }
	c := Capabilities{Elementwise: map[kernel.Op]device.Types{}, Folds: map[kernel.Reduction]device.Types{},
		Casts: device.TypesOf(real), Products: device.TypesOf(real)}
	for _, op := range kernel.Ops() {
		c.Elementwise[op] = device.TypesOf(func(t dtype.Type) bool {
			_, ok := kernel.Lookup(op, t)
			return ok && real(t)
		})
	}
	for _, row := range kernel.Reductions() {
		r := row.Reduction
		c.Folds[r] = device.TypesOf(func(t dtype.Type) bool {
			_, ok := kernel.NewFolder(r, t)
			return ok && real(t)
		})
	}
	return c
}

// Map returns what evaluates the program of a stage for a tile. Its arguments are the address
// of a flag, which it sets where it leaves the tile to the CPU, those of results and of the
// loads that read, the number of elements, and the start and length of the tile along each
// axis. A result whose address is 0 is not wanted.
func (f Form) Map(s *Stage, scratch Address) (Kernel, error) {
	if !has(s, 1) {
		return Kernel{}, errNoProgram
	}
	if f == Loops {
		return mapInGo(s, scratch), nil
	}
	return first(emitted(ptx.Map(&s.Programs[0])))
}

// Fold returns what empties the accumulators of a stage's i-th fold, what folds a tile into
// them, and what joins partial results, where there are several of each accumulator.
//
// The first's arguments are the address of accumulators and their number. The second's are
// the addresses of two flags, of the accumulators and of the values, the number of
// accumulators, that of the blocks before, and along each axis the start and length of the
// tile and of the chunk. The third's are the addresses of accumulators and of their partial
// results, and the number of accumulators.
func (f Form) Fold(s *Stage, i int) ([]Kernel, error) {
	if !has(s, 0) || i < 0 || i >= len(s.Folds) {
		return nil, errNoProgram
	}
	if f == Loops {
		return []Kernel{initInGo(s, i), foldInGo(s, i)}, nil
	}
	return emitted(ptx.Fold(s.Stage.Stage, i, s.Partials))
}

// Product returns what adds the product of two panels. Its arguments are the addresses of the
// accumulators and of the panels, and the numbers of rows, of columns and of what is summed.
func (f Form) Product(s *Stage, scratch Address) (Kernel, error) {
	if !has(s, 1) || s.Super == nil {
		return Kernel{}, errNoProgram
	}
	if f == Loops {
		return productInGo(s, scratch), nil
	}
	return first(emitted(ptx.Product(s.Programs[0].Type(s.Programs[0].Out[0]), s.Super.Type)))
}

var errNoProgram = errors.New("the stage has no program of this kind")

// has reports a stage that a plan has made, with so many programs.
func has(s *Stage, programs int) bool {
	return s != nil && s.Stage.Stage != nil && len(s.Programs) >= programs
}

// emitted is the kernels of a module, in its order.
func emitted(m ptx.Module, err error) (all []Kernel, _ error) {
	for i := range m.Kernels {
		k := &m.Kernels[i]
		all = append(all, Kernel{Name: k.Name, PTX: m.Text, Launch: k.Launch})
	}
	return all, err
}

func first(all []Kernel, err error) (Kernel, error) {
	if err != nil {
		return Kernel{}, err
	}
	return all[0], nil
}

func mapInGo(s *Stage, scratch Address) Kernel {
	prog := &s.Programs[0]
	var machine *vm.Machine
	in := make([][]byte, len(prog.Loads))
	return Kernel{Name: "map", Go: func(m Accessor, args []uint64) (cost Cost, err error) {
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
		cost = Cost{Operations: int64(len(prog.Code)) * int64(tile.Size())}
		at := 0
		for i := range prog.Loads {
			if l := &prog.Loads[i]; l.Reads() {
				in[i] = m.Bytes(Address(loads[at]), int64(grid.Size(l.Held(tile.Shape)))*int64(l.Type.Size()))
				cost.Bytes += int64(len(in[i]))
				at++
			}
		}
		results := make([][]byte, len(outs))
		for k, address := range outs {
			if address != 0 {
				results[k] = m.Bytes(Address(address), int64(tile.Size())*int64(prog.Type(prog.Out[k]).Size()))
				cost.Bytes += int64(len(results[k]))
			}
		}
		machine.Tile(tile, in)
		first := 0
		for b := range tile.Split(s.Block) {
			if machine.Block(b, first, nil); machine.Fails(b.Size()) {
				return cost, ErrLeftToCPU
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
func boxOf(args []uint64, every, at int) (b Box) {
	for ; len(args) > 0; args = args[every:] {
		b.Start, b.Shape = append(b.Start, int(args[at])), append(b.Shape, int(args[at+1]))
	}
	return b
}

func initInGo(s *Stage, i int) Kernel {
	f := s.Folder(i)
	return Kernel{Name: "init", Go: func(m Accessor, args []uint64) (cost Cost, err error) {
		n := int(args[1])
		state := m.Bytes(Address(args[0]), int64(n*f.Size()))
		f.Init(state, n)
		return Cost{Bytes: int64(len(state))}, nil
	}}
}

func foldInGo(s *Stage, i int) Kernel {
	f, layout := s.Folder(i), vm.NewLayout(s.Stage.Stage, i)
	prog := &s.Programs[0]
	size := prog.Type(prog.Out[s.FoldOut(i)]).Size()
	return Kernel{Name: "fold", Go: func(m Accessor, args []uint64) (cost Cost, err error) {
		n := int(args[4])
		tile, chunk := boxOf(args[6:], 4, 0), boxOf(args[6:], 4, 2)
		layout.Chunk(chunk)
		state := m.Bytes(Address(args[2]), int64(n*f.Size()))
		x := m.Bytes(Address(args[3]), int64(tile.Size()*size))
		first := 0
		for b := range tile.Split(s.Block) {
			layout.Fold(f, state, n, x[first*size:], b)
			first += b.Size()
		}
		return Cost{Operations: int64(tile.Size()), Bytes: int64(len(x))}, nil
	}}
}

func productInGo(s *Stage, scratch Address) Kernel {
	p, sup := &s.Programs[0], s.Super
	in, sum := p.Type(p.Out[0]), sup.Type
	other := s.Programs[1].Type(s.Programs[1].Out[0])
	gemm := kernel.Gemm
	if sum == dtype.Int32 && in != dtype.Int32 {
		gemm = kernel.GemmInt32
	}
	return Kernel{Name: "product", Go: func(m Accessor, args []uint64) (cost Cost, err error) {
		rows, cols, k := int(args[3]), int(args[4]), int(args[5])
		cost = Cost{Operations: 2 * int64(rows) * int64(cols) * int64(k), Bytes: int64(rows * cols * sum.Size())}
		if rows == 0 || cols == 0 || k == 0 {
			return cost, nil
		}
		c := m.Bytes(Address(args[0]), int64(rows*cols*sum.Size()))
		a := m.Bytes(Address(args[1]), int64(rows*k*in.Size()))
		b := m.Bytes(Address(args[2]), int64(k*cols*other.Size()))
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
