package plan

import (
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// BlockElems is the number of elements that a program computes at once: small
// enough for a few registers of them to stay in a core's second-level cache.
const BlockElems = 16384

// Program computes values for every element of a domain, block by block. Its
// values are numbered: first the loads, then the result of each instruction.
type Program struct {
	Domain []int   `json:"domain"`
	Loads  []Load  `json:"loads"`
	Code   []Instr `json:"code"`
	Out    []int   `json:"out"` // values that are results
	Checks []int   `json:"-"`   // of a stage on a device: bools, which the CPU has to look at where one is true
}

// LoadKind says where a load's elements come from.
type LoadKind string

// The kinds of loads.
const (
	LoadArray  LoadKind = "array"
	LoadConst  LoadKind = "const"
	LoadIota   LoadKind = "iota"
	LoadRandom LoadKind = "random"
	LoadBlocks LoadKind = "blocks" // what an operation computes of other programs' values
	LoadTap    LoadKind = "tap"    // an element of a window that another load holds, on a device
)

// Load fills a value from an array, an operation or a generator, seen through a view
// of the domain.
type Load struct {
	Kind  LoadKind    `json:"kind"`
	Type  dtype.Type  `json:"type"`
	Array int         `json:"array,omitempty"` // index into the plan's Arrays
	View  grid.View   `json:"view"`
	Shape []int       `json:"shape,omitempty"` // of a generator: its linear positions; of an operation's result
	Value dtype.Value `json:"value,omitzero"`  // of a constant; an iota's first
	Delta dtype.Value `json:"delta,omitzero"`
	Seed  uint64      `json:"seed,omitempty"`

	Op     *blockwise.Value `json:"op,omitempty"`
	Inputs []Program        `json:"inputs,omitempty"` // of Op
	Site   string           `json:"-"`                // the user's line that made Op, in the process that planned

	// Of a stage on a device. A load with an Extent has no value: it holds what taps take, by
	// axis so many elements for each window.
	Extent []int `json:"-"`
	Base   int   `json:"-"` // of a tap: the load that holds it
	At     []int `json:"-"` // of a tap: its place in the window
}

// Instr computes one value from others. A cast has Op Invalid.
type Instr struct {
	Op   kernel.Op  `json:"op"`
	Type dtype.Type `json:"type"` // of the operands; of the last two for Where
	To   dtype.Type `json:"to"`   // of the result
	Args []int      `json:"args"`
}

// Type is the type of a value.
func (p *Program) Type(value int) dtype.Type {
	if value < len(p.Loads) {
		return p.Loads[value].Type
	}
	return p.Code[value-len(p.Loads)].To
}

// Reads reports a load whose elements are read tile by tile, rather than generated.
func (l *Load) Reads() bool { return l.Kind == LoadArray || l.Kind == LoadBlocks }

// Arrays are the loads of arrays, also those of what its operations read.
func (p *Program) Arrays() iter.Seq[*Load] {
	return func(yield func(*Load) bool) { p.arrays(yield) }
}

func (p *Program) arrays(yield func(*Load) bool) bool {
	for i := range p.Loads {
		l := &p.Loads[i]
		if l.Kind == LoadArray && !yield(l) {
			return false
		}
		for k := range l.Inputs {
			if !l.Inputs[k].arrays(yield) {
				return false
			}
		}
	}
	return true
}

// Gathered are the loads of arrays below operations of several inputs: what these read of one may depend on the elements of another.
func (p *Program) Gathered() iter.Seq[*Load] {
	return func(yield func(*Load) bool) {
		for i := range p.Loads {
			for k := range p.Loads[i].Inputs {
				in := &p.Loads[i].Inputs[k]
				below := in.Gathered()
				if len(p.Loads[i].Inputs) > 1 {
					below = in.Arrays()
				}
				for l := range below {
					if !yield(l) {
						return
					}
				}
			}
		}
	}
}

// Dense reports a load whose elements, read for a box of the domain in the
// array's own order, already lie in the domain's order without gaps: no axis is
// broadcast or permuted.
func (l *Load) Dense() bool {
	if !l.Reads() || l.Extent != nil || l.Permuted() {
		return false
	}
	for d, n := range l.View.Shape {
		if n != 1 && !slices.Contains(l.View.Axis, d) {
			return false
		}
	}
	return true
}

// Permuted reports a load whose array axes are in another order than the
// domain's, so that what is read has to be transposed.
func (l *Load) Permuted() bool {
	last := -1
	for _, a := range l.View.Axis {
		if a < 0 {
			continue
		}
		if a <= last {
			return true
		}
		last = a
	}
	return false
}

// mostFilled bounds the registers of constants and other loads that are filled once, or
// at the start of each block. Where a program has more of them, each has a register only
// while it is used, so that registers do not grow with a program's length.
const mostFilled = 24

// FilledAt is, for each load, the instruction before which its register is filled; -1
// where that is at the start of a block, or never.
func (p *Program) FilledAt() []int {
	at := make([]int, len(p.Loads))
	filled := 0
	for v := range p.Loads {
		at[v] = -1
		if !p.Loads[v].Dense() {
			filled++
		}
	}
	if filled <= mostFilled {
		return at
	}
	for i := len(p.Code) - 1; i >= 0; i-- {
		for _, a := range p.Code[i].Args {
			if a < len(p.Loads) && !p.Loads[a].Dense() {
				at[a] = i
			}
		}
	}
	for _, v := range slices.Concat(p.Out, p.Checks) {
		if v < len(p.Loads) {
			at[v] = -1
		}
	}
	return at
}

// Registers assigns each value a register, reusing those whose value is no
// longer needed. A value that is read straight from an input has register -1, as
// has, where direct says so, the single result that is written to its place.
// Loads that are filled at the start keep theirs to themselves.
// The second result is the number of registers, each of BlockElems elements of
// the widest type.
func (p *Program) Registers(direct bool) ([]int, int) {
	n := len(p.Loads) + len(p.Code)
	reg := make([]int, n)
	lastUse := slices.Repeat([]int{-1}, n)
	for i, in := range p.Code {
		for _, a := range in.Args {
			lastUse[a] = i
		}
	}
	for _, v := range slices.Concat(p.Out, p.Checks) {
		lastUse[v] = len(p.Code)
	}
	count := 0
	filledAt := p.FilledAt()
	starts := make([][]int, len(p.Code)) // loads that each instruction is the first to use
	for v := range p.Loads {
		switch at := filledAt[v]; {
		case p.Loads[v].Dense() || p.Loads[v].Extent != nil:
			reg[v] = -1
		case at >= 0:
			starts[at] = append(starts[at], v)
		default:
			reg[v] = count
			count++
		}
	}
	ends := func(v, i int) bool { return lastUse[v] == i && (v >= len(p.Loads) || filledAt[v] >= 0) }
	var free []int
	take := func() int {
		if len(free) == 0 {
			count++
			return count - 1
		}
		r := free[len(free)-1]
		free = free[:len(free)-1]
		return r
	}
	for i, in := range p.Code {
		v := len(p.Loads) + i
		for _, l := range starts[i] {
			reg[l] = take()
		}
		// Operands that die here may be overwritten: kernels allow dst to be one of them
		// only when the element sizes agree.
		for k, a := range in.Args {
			if ends(a, i) && !slices.Contains(in.Args[:k], a) && p.Type(a).Size() == in.To.Size() {
				free = append(free, reg[a])
				lastUse[a] = -2
			}
		}
		if direct && v == n-1 && len(p.Out) == 1 && p.Out[0] == v {
			reg[v] = -1
		} else {
			reg[v] = take()
		}
		for k, a := range in.Args {
			if ends(a, i) && !slices.Contains(in.Args[:k], a) {
				free = append(free, reg[a])
			}
		}
	}
	return reg, count
}

// Width is the size of the program's widest element.
func (p *Program) Width() int {
	w := 1
	for v := range len(p.Loads) + len(p.Code) {
		w = max(w, p.Type(v).Size())
	}
	return w
}

// Plain reports a program that only reads one array, whose elements can be read
// straight to where they are wanted.
func (p *Program) Plain() bool {
	return len(p.Code) == 0 && len(p.Out) == 1 && p.Loads[p.Out[0]].Dense()
}

// Box are the lengths in the load's own array of what a tile of the domain needs. A tile may
// be longer than the domain, where it lies in the chunks of a larger array.
func (l *Load) Box(tile []int) []int {
	box := make([]int, len(l.View.Axis))
	for d, a := range l.View.Axis {
		box[d] = 1
		if a >= 0 {
			box[d] = max(min(tile[a], l.View.Shape[a]), 1)
		}
	}
	return box
}

// Region is what the load needs of its array for a box of the domain.
func (l *Load) Region(b grid.Box) grid.Region {
	r := l.View.Region(b)
	for d, n := range l.Extent {
		r.Count[d] = (r.Count[d]-1)*r.Step[d] + n
		r.Step[d] = 1
	}
	return r
}

// Held are the lengths of what the load holds for a tile of the domain.
func (l *Load) Held(tile []int) []int {
	box := l.Box(tile)
	for d, n := range l.Extent {
		box[d] = (box[d]-1)*l.View.Step[d] + n
	}
	return box
}

// Reversed reports a load whose array is seen backwards along some axis.
func (l *Load) Reversed() bool {
	return slices.ContainsFunc(l.View.Step, func(s int) bool { return s < 0 })
}

// InputBytes is what reading a tile of the domain takes for a load: its elements
// in the array's own order.
func (l *Load) InputBytes(tile []int) int64 {
	if !l.Reads() {
		return 0
	}
	return arena.Reserved(int64(grid.Size(l.Held(tile))) * int64(l.Type.Size()))
}

// RegisterBytes is what a program's registers take.
func (p *Program) RegisterBytes(direct bool) int64 {
	_, n := p.Registers(direct)
	return int64(n) * BlockElems * int64(p.Width())
}

// ItemSize is the size of the widest element that a program reads from an array.
func (p *Program) ItemSize(least int) int {
	for _, l := range p.Loads {
		if l.Reads() {
			least = max(least, l.Type.Size())
		}
	}
	return least
}

// HasBlocks reports a program that reads what an operation computes.
func (p *Program) HasBlocks() bool {
	return slices.ContainsFunc(p.Loads, func(l Load) bool { return l.Kind == LoadBlocks })
}

// Moves reports a program that only reads, also through operations that only move elements.
func (p *Program) Moves() bool {
	if len(p.Code) > 0 {
		return false
	}
	for i := range p.Loads {
		if l := &p.Loads[i]; l.Kind == LoadBlocks && !l.Moves() {
			return false
		}
	}
	return true
}

// Moves reports an operation that only moves elements, with inputs that are read.
func (l *Load) Moves() bool {
	if !blockwise.Has(l.Op.Op, blockwise.OnlyMoves) {
		return false
	}
	for k := range l.Inputs {
		if !l.Inputs[k].Moves() {
			return false
		}
	}
	return true
}

// KernelParameters are those of a kernel that evaluates the program for a tile: a flag, each
// result, each input that is read, and the tile's size, starts and lengths.
func (p *Program) KernelParameters() int {
	n := 2 + len(p.Out) + 2*len(p.Domain)
	for i := range p.Loads {
		if p.Loads[i].Reads() {
			n++
		}
	}
	return n
}
