// Package blockwise defines operations that are not elementwise: an Op fills any box of its
// result from boxes of its inputs.
//
// Padding, concatenating, filters with a halo, sorting a run, transforming along an
// axis and multiplying small matrices are all such. Requirements says
// what memory a box takes: the plan predicts that, and the executor allocates it. The
// executor calls Fill for one box after another, on any number of goroutines.
//
// An Op is a value: a struct of exported fields that JSON can carry, registered under
// its name, so that a plan with it runs in another process too.
package blockwise

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

// Op computes boxes of one array. Its methods are called from many goroutines at
// once, for boxes in any order, and for a box again: they change nothing of the Op.
//
// An element has the same bits whatever box it is computed in.
//
// It takes any box, at a cost of about its size, and becomes part of whatever reads its
// result, with no pass of its own, unless it is a Chunker.
type Op interface {
	// Requirements is what filling a box of at most the given lengths takes.
	Requirements(box []int) Requirements

	// Fill computes the elements of t.Box into t.Dst.
	Fill(ctx context.Context, t *Task) error
}

// Chunker is an Op whose Fill must be given boxes of certain lengths, such as the whole of an axis
// for a transform along it. A stage of its own then computes the result.
type Chunker interface {
	// Chunks are these lengths; boxes at the end of an axis are shorter. They follow from shapes
	// and types alone, so that results never depend on a budget. nil takes any box.
	Chunks() []int
}

// ChunksOf returns the lengths of boxes that an Op must be given; nil where it takes any.
func ChunksOf(op Op) []int {
	if c, ok := op.(Chunker); ok {
		return c.Chunks()
	}
	return nil
}

// Keeper is an Op whose Fill reads each input to one place in Scratch and leaves it there as it is: the box that was
// read to a place last is not read again.
type Keeper interface {
	// Keeps reports an input of which Fill reads the same box for boxes of the result that lie side by side along an axis.
	Keeps(input, axis int) bool
}

// Taker is an Op that reads each element of its input once, by boxes that a product can be computed by: it takes its tiles
// as they are made.
type Taker interface{ TakesTiles() }

// Pooler is an Op whose element at p is made of the Factors elements of its one input that begin at
// p × Factors, or as many of them as there are.
type Pooler interface{ Pools() (factors []int) }

// Requirements is what an Op takes to fill a box.
type Requirements struct {
	// Reads has for each input the lengths of the largest box that Fill reads of it at
	// once.
	Reads [][]int
	// Spans, where it is set, has for each input the lengths of all that Fill reads of it, one box
	// after the other, so that stored chunks are decoded once for those that lie in one. nil is Reads.
	Spans [][]int
	// Scratch is the bytes of Task.Scratch: what Fill reads into, and works in.
	Scratch int64
	// DisjointReads says that boxes of any form read no element of an input much more often than
	// they need to: Reads are then the most that one box reads, not what each does, as
	// where each box of a concatenation reads its part of one input.
	DisjointReads bool
	// Gather says that in all only some of an input is read, here and there: it is not
	// worth a pass to bring the whole into another order.
	Gather bool
	// Work is about how many nanoseconds of one core filling the box takes, where that is
	// much more than moving it does: what several passes would compute again is kept
	// instead where that is less work.
	Work int64
	// State is the most bytes that the state between Steps has, which a long run saves on
	// disk; 0 where Fill has no steps.
	State int64
}

// Span is what Fill reads of an input in all.
func (r *Requirements) Span(input int) []int {
	if r.Spans != nil {
		return r.Spans[input]
	}
	return r.Reads[input]
}

// Task is one box to be filled.
type Task struct {
	Box     grid.Box // of the result
	Dst     []byte   // its elements, dense in C order
	Scratch []byte   // as Requirements says for the largest box, aligned to 64; its contents are undefined
	In      []Input
	Do      func(func() error) error // holds one of the run's workers: see Compute
	Saver   Saver                    // saves the state between Steps; nil where nobody does
}

// Compute runs what takes time and does not read, so that no more goroutines compute
// at once than the run has workers. Nothing is read inside of it.
func (t *Task) Compute(f func() error) error { return t.Do(f) }

// ComputeFrom reads a box of an input into dst, and then computes.
func (t *Task) ComputeFrom(ctx context.Context, input int, box grid.Box, dst []byte, f func() error) error {
	if err := t.In[input].Read(ctx, box, dst); err != nil {
		return err
	}
	return t.Compute(f)
}

// Place reads a box of an input, of elements of so many bytes, into the task's box, where at is the
// place of its first element: through Scratch where that is in several pieces.
func (t *Task) Place(ctx context.Context, input int, from grid.Box, at []int, size int) error {
	box := grid.Entire(t.Box.Shape)
	n, to := from.Size()*size, grid.Offset(at, box)*size
	if grid.Dense(from.Shape, box.Shape) {
		return t.In[input].Read(ctx, from, t.Dst[to:to+n])
	}
	return t.ComputeFrom(ctx, input, from, t.Scratch[:n], func() error {
		part := grid.Box{Start: at, Shape: from.Shape}
		strided.Copy(size, part, t.Dst, box, t.Scratch, part)
		return nil
	})
}

// WillRead says that Fill will soon read a box of an input. Where that is stored, a disk
// may begin with it: of boxes that lie apart several are then on their way at once.
func (t *Task) WillRead(input int, box grid.Box) {
	if in, ok := t.In[input].(interface{ WillRead(grid.Box) }); ok {
		in.WillRead(box)
	}
}

// Input is an input of an Op, computed as it is read.
type Input interface {
	// Read fills dst with a box of the input, dense in C order. Reading one box twice
	// computes it twice.
	Read(ctx context.Context, box grid.Box, dst []byte) error
}

// Trait is what holds of every Op of a type.
type Trait uint8

// The traits. The bits of a result that is neither Exact nor of Products depend on the width of
// the vectors in which sums are added up.
const (
	Exact      Trait = 1 << iota // the same bits on every machine: it only moves, compares or counts
	Products                     // bits depend on the library that multiplies matrices, too
	OnlyMoves                    // it only puts elements of its inputs, or constants, into place: a device has nothing to compute
	Selects                      // the result has elements of the first input and no others: with its units and markers of missing values
	Joins                        // the result has elements of its inputs and no others: with the units and markers that all share
	KeepsAxes                    // the axes are those of the first input, with their names
	KeepsReads                   // Fill reads each input once, to the beginning of Scratch, and leaves it there as it is
)

// AxisKeeper is an Op that has some axes of its first input, and so the names of those.
type AxisKeeper interface {
	// KeptAxes has for each axis of the result that of the first input, -1 for a new one.
	KeptAxes() []int
}

// AxisMover is an Op along some of whose axes elements stand in other places than those of the input, as sorted ones do: labels
// of places do not go with them.
type AxisMover interface {
	Moves(axis int) bool
}

var registry = struct {
	sync.RWMutex
	types  map[string]reflect.Type
	names  map[reflect.Type]string
	traits map[reflect.Type]Trait
}{types: map[string]reflect.Type{}, names: map[reflect.Type]string{}, traits: map[reflect.Type]Trait{}}

// Has reports whether an Op's type was registered with a trait.
func Has(op Op, t Trait) bool {
	registry.RLock()
	defer registry.RUnlock()
	return registry.traits[reflect.TypeOf(op)]&t != 0
}

// Describe says what holds of an Op's type that has no name, as it exists in one process only.
func Describe(op Op, traits ...Trait) {
	registry.Lock()
	defer registry.Unlock()
	for _, t := range traits {
		registry.traits[reflect.TypeOf(op)] |= t
	}
}

// Register makes an Op's type known under a name, from an init function, with what holds of it.
// op is the type's zero value. It panics for a name that another type has.
func Register(name string, op Op, traits ...Trait) {
	Describe(op, traits...)
	registry.Lock()
	defer registry.Unlock()
	t := reflect.TypeOf(op)
	if other, taken := registry.types[name]; taken {
		panic(fmt.Sprintf("blockwise: both %s and %s are registered as %q: give one of them another name", other, t, name))
	}
	registry.types[name], registry.names[t] = t, name
}

// Name returns what an Op is registered as; "" for one that is not, which exists in one
// process only.
func Name(op Op) string {
	registry.RLock()
	defer registry.RUnlock()
	return registry.names[reflect.TypeOf(op)]
}

// Value carries an Op through JSON.
type Value struct{ Op }

type encoded struct {
	Name string          `json:"name"`
	With json.RawMessage `json:"with"`
}

// MarshalJSON writes the Op's name and fields.
func (v Value) MarshalJSON() ([]byte, error) {
	with, err := json.Marshal(v.Op)
	if err != nil {
		return nil, err
	}
	return json.Marshal(encoded{Name(v.Op), with})
}

// UnmarshalJSON reads what MarshalJSON wrote of a registered Op.
func (v *Value) UnmarshalJSON(b []byte) error {
	var e encoded
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	registry.RLock()
	t, ok := registry.types[e.Name]
	registry.RUnlock()
	if !ok {
		return fmt.Errorf("there is no operation %q in this program", e.Name)
	}
	op := reflect.New(t)
	if err := json.Unmarshal(e.With, op.Interface()); err != nil {
		return fmt.Errorf("operation %s: %w", e.Name, err)
	}
	v.Op = op.Elem().Interface().(Op)
	return nil
}

// ScratchLayout hands out a task's scratch one after the other, each aligned to 64 bytes. The zero
// value has nothing to hand out and only counts, so that one function of an Op, which
// takes what it works in, serves both Requirements and Fill.
type ScratchLayout struct {
	left []byte
	size int64
}

// ScratchLayout hands out t.Scratch.
func (t *Task) ScratchLayout() *ScratchLayout { return &ScratchLayout{left: t.Scratch} }

// Take returns the next n bytes, of no known contents; nil where they are only counted.
func (p *ScratchLayout) Take(n int) []byte {
	p.size += Aligned(n)
	if p.left == nil {
		return nil
	}
	part := p.left[:n:n]
	p.left = p.left[min(Aligned(n), int64(len(p.left))):]
	return part
}

// Size returns how many bytes Requirements has to ask for, for all that was taken.
func (p *ScratchLayout) Size() int64 { return p.size }

// Aligned returns n bytes, and those up to the next multiple of 64.
func Aligned(n int) int64 { return int64(n+63) &^ 63 }
