package size

import (
	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// What a task allocates is declared here, once. A prediction is the sum of a
// declaration, and an executor takes its buffers from it: only this package makes a
// Buffer that is one.

// Buffer is memory of one class. The zero value is none.
type Buffer struct {
	class   record.Class
	bytes   int64
	foreign bool // a library allocates it: it is only counted
}

// Bytes is the buffer's length.
func (b Buffer) Bytes() int64 { return b.bytes }

// Class is what the buffer is for.
func (b Buffer) Class() record.Class { return b.class }

// Alloc takes the buffer from an arena for a stage. It returns nil for none, and a
// buffer without Data for what a library allocates.
func (b Buffer) Alloc(a *arena.Arena, stage int) (*arena.Buffer, error) {
	tag := arena.Tag{Stage: stage, Chunk: -1, Class: b.class}
	switch {
	case b.bytes == 0:
		return nil, nil
	case b.foreign:
		return a.Charge(tag, b.bytes)
	}
	return a.Alloc(tag, b.bytes)
}

// reserved is what the buffer takes of an arena.
func (b Buffer) reserved() int64 {
	if b.foreign || b.bytes == 0 {
		return b.bytes
	}
	return arena.Reserved(b.bytes)
}

// Buffers declares the memory of a stage.
type Buffers struct {
	Slot    Slot     // of each slot of a map or a reduce stage, or of each workspace where slots share these
	Encoded []Buffer // of each slot that shares them, for each load: an encoded chunk, and of the first the encoded result too
	Product Product  // of a matmul stage
	Merge   Slot     // of the process that merges partial results
	Row     []Buffer // of a coordinator: the partial results of one task, as a worker left them
	Rare    Buffer   // registers by which the CPU computes tiles that a device leaves to it

	slot, workspace, stage tally // of a slot, of a workspace, and of the stage as a whole
}

// Slot declares what a slot of a map or a reduce stage takes.
type Slot struct {
	Lane    Lane
	Out     Buffer   // of a map: what it writes at once
	Chunk   Buffer   // of a map that computes several of the output's chunks at once, and writes them one by one
	Write   Session  // of its output
	Levels  []Level  // of a pyramid: of each level after the first
	States  []Buffer // the accumulators of each fold
	Results []Buffer // of each fold, where a task makes whole results

	Sets []StagingSet // of a stage on a device, instead of Out and of the elements of Lane
}

// Level declares what a slot takes to make a level of a pyramid of the one before.
type Level struct {
	Box   []int  // the most that a chunk of the one before makes
	Lane  Lane   // of its program, for such a box
	Part  Buffer // such a box
	Out   Buffer // a chunk
	Write Session
}

// DeviceBuffers declares the memory of a device, without the sets and accumulators of each
// slot, which are as large as the host's.
type DeviceBuffers struct {
	Scratch Buffer   // of the kernels
	Values  []Buffer // of a tile, in the order of FoldTemporaries

	Partials []Buffer // of each slot, for each fold: partial results; none where there is one of each accumulator

	// Of a matmul stage: the accumulators, and panels in flight.
	Sums   Buffer
	Panels [][2]Buffer
	Kept   [2]KeptOperand // operands whose panels are allocated as they arrive and stay resident
}

// StagingSet declares the host's side of a tile in flight on a device.
type StagingSet struct {
	In  []Buffer // of each load
	Out Buffer   // of a map
}

// Product declares what a matmul stage takes.
type Product struct {
	Sums     Buffer      // the accumulators of a super-tile
	Panels   [][2]Buffer // in flight, of both operands
	Operands [2]Lane
	Pack     []Buffer // of each worker: what it packs into
	Cast     []Buffer // of each worker: a row of tiles in the result's type, where that is another
	Write    []Session
	Library  Buffer

	// Of a product on a device, which has the accumulators, panels and what it packs into:
	// what is on its way there, and from there.
	Strips, Rows []Buffer
}

// Lane declares what evaluating a program for boxes takes, tile by tile.
type Lane struct {
	Box       []int // the largest box
	Tile      []int
	Loads     []LoadBuffers // of each load
	Registers Buffer
	Block     Buffer // where tiles of the box do not follow each other: a block's results on their way into it
}

// LoadBuffers declares what filling a load for a tile takes.
type LoadBuffers struct {
	Elements Buffer  // in the array's own order; none where they are read to their place, or generated
	Read     Session // of an array
	Scratch  Buffer  // of an operation of boxes
	Reversed Buffer  // the operation's box, where the load shows it backwards
	Inputs   []Lane  // of the operation
}

// Session declares what reading or writing encoded chunks takes: a buffer, and what
// libraries take of Go's heap.
type Session struct{ Scratch, Heap Buffer }

// KeptOperand declares the panels of an operand that stay resident on a device after a stage.
type KeptOperand struct {
	Name  string // identifies the operand's elements, while its file does not change; "" where none stay
	Bytes int64  // at the most, including those that are resident already
}

// tally makes declarations and adds up what they reserve.
type tally struct {
	plan   *plan.Plan
	spills func(array int) bool
	whole  bool // chunks are decoded in one go
	sum    record.Bytes
	heap   int64 // that codec libraries take of Go's
}
