// Package oocore computes on arrays larger than memory. An Array is a lazy, immutable,
// N-dimensional value. Operations build an expression and read nothing but headers; Save and
// Collect compute it, chunk by chunk, within a budget of memory:
//
//	x := oocore.Open("acts.npy")
//	centred, err := x.Sub(x.Mean(0)).Save(ctx, "centred.npy", oocore.Memory("256MiB"))
//
// Names, broadcasting, types and results are NumPy's. An operation never fails at the call: the
// first error travels with the value, names the operation, the shapes and the program's line, and
// comes out at Err, Save and Collect.
//
// Numbers of Go's types int, float64 and complex128 are weak, as Python's are in NumPy 2: they take
// the type of the array that they meet. Those of sized types keep theirs: of int8, x.Mul(int64(2))
// is int64.
//
// # Arrays
//
// They come from files ([Open], [OpenContext], [OpenStack], [OpenAll]), values of the program ([FromSlice], [FromFunc],
// [FromSeq], [FromReader], [FromStore], [Create]), texts ([Eval], [EvalContext]) and functions ([MapChunks], [MapArrays],
// [MapAll], [MapBatches], [Overlap], [ApplyAlong], [ReduceFunc]).
//
// What one is: [Array.Shape], [Array.Dims], [Array.Axis], [Array.DimNames], [Array.DType], [Array.Size], [Array.Bytes],
// [Array.Chunks], [Array.String], [Array.Err].
//
// What is done with it: [Array.Save], [Array.Append], [Array.WriteTo], [Array.Print], [Array.Plan], [Array.Explain],
// [Collect], [CollectAll], [Item], [SaveAll], [Batches], [ChunksOf], [RowsOf].
//
// In other forms of what is listed below: [Array.GroupByLabel], [Array.Index], [Array.SetAt], [Array.SetMask], [Array.Rechunk], [Array.T],
// [Array.RepeatEach], [Array.SplitAt], [Array.Pyramid], [Array.PyramidAlong].
//
// # What a run changes in the process
//
// While runs are active Go's memory limit (GOMEMLIMIT) is what their budgets leave to the heap, and
// never less than what is live and a quarter of that: a service whose heap grows meanwhile keeps its
// rate. GOMAXPROCS is raised to the number of tasks in flight, so that calls of C libraries leave Go's
// scheduler a processor. Both are as before when the last run has ended. On Linux the threads of a run in a
// Pool have a lower priority after a tenth of a second, so that requests are served first. LeaveRuntime leaves
// all three alone. A run whose budget is short collects garbage first, as debug.FreeOSMemory does. The first
// product of matrices loads OpenBLAS, where there is one, with one thread for the whole process.
// What was saved is noted in the user's cache folder, unless GONBEXT_RUNS is "off". Signals are left to the
// program. Runs at once wait for one another where their budgets say so: see Memory and Pool.
//
// Compatibility: names stay, or become Deprecated; packages device and host change with the
// engine. CHANGELOG.md says where results change bits.
package oocore

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// Array is an N-dimensional array that is not computed yet. It is immutable and
// safe for concurrent use.
//
// Shapes broadcast and types promote as NumPy's do. Where they cannot, and for an axis that
// the array does not have, the result carries an error. What an operation costs in passes
// over the data and in memory, in addition to one chunk of its inputs and of its result, is
// that of its kind unless its own comment has more:
//
//   - Functions of each element, and those that choose, move or repeat elements, are part of
//     the pass that reads their result. They hold a block of 16 Ki elements.
//   - Reductions take one pass, which those along the same axes of one array share. They hold
//     an accumulator for each result.
//   - Products, such as MatMul, Einsum and Tensordot, read each operand once for every group
//     of tiles of the other. They hold a group of tiles and a panel of each operand; of
//     matrices below 16 KiB, about 1 MiB of them for each slot.
type Array struct {
	//lint:ignore U1000 package door calls its method
	value
	chunks []int // that Rechunk has asked for
	// opaque is the path that could not be opened; an array that is made of this one has none.
	opaque string
}

// value is the array's expression, or the error that it carries.
//
//lint:ignore U1000 package door calls its method
type value = door.Value

// Error is the error of an operation: which, on what shapes and types, at which line of the
// program, and why.
type Error = types.Error

func made(n *graph.Node, err error) *Array { return door.Made[Array](n, err) }

// expression is the array's node, or the error that it carries.
func (a *Array) expression() (*graph.Node, error) { return door.Node(a) }

// build makes an array of one operation on arrays and numbers. It is called by
// exported functions and methods, whose caller's line it notes.
func build(op string, operation func(site graph.Site, in []*graph.Node) (*graph.Node, error), operands ...any) *Array {
	return door.Build[Array](op, operation, operands...)
}

// Err returns the first error of the operations that made the array, or nil.
func (a *Array) Err() error {
	_, err := a.expression()
	return err
}

// Shape returns the array's lengths; nil where it carries an error.
func (a *Array) Shape() []int {
	n, err := a.expression()
	if err != nil {
		return nil
	}
	return slices.Clone(n.Shape)
}

// DimNames returns the names of the dimensions, as far as the stored arrays that the array is
// computed from agree on them; "" where one has none, and nil where all have none.
func (a *Array) DimNames() []string {
	n, err := a.expression()
	if err != nil {
		return nil
	}
	return slices.Clone(n.DimNames())
}

// Axis returns the axis of the dimension with a name: x.Mean(axis) reduces along it. The
// error is the array's own, or that no dimension, or more than one, has the name.
func (a *Array) Axis(name string) (int, error) {
	n, err := a.expression()
	if err != nil {
		return 0, err
	}
	axis, err := n.NamedAxis(name)
	if err == nil {
		return axis, nil
	}
	return 0, &Error{Op: "axis", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: graph.Caller(), Err: err}
}

// Dims returns the number of dimensions.
func (a *Array) Dims() int { return len(a.Shape()) }

// DType returns the type of the elements; its zero value where the array carries an
// error.
func (a *Array) DType() DType {
	n, err := a.expression()
	if err != nil {
		return dtype.Invalid
	}
	return n.DType
}

// Size returns the number of elements; 0 where the array carries an error.
func (a *Array) Size() int {
	n, err := a.expression()
	if err != nil {
		return 0
	}
	return grid.Size(n.Shape)
}

// Bytes returns what the elements would take in memory.
func (a *Array) Bytes() int64 { return int64(a.Size()) * int64(a.DType().Size()) }

// Chunks returns the lengths in which the array is stored, or is to be by Rechunk; nil where
// it is computed or its file has none, so that any region is as good as another.
func (a *Array) Chunks() []int {
	n, err := a.expression()
	if err == nil && a.chunks != nil {
		return slices.Clone(a.chunks)
	}
	if err != nil || n.Kind != graph.Source {
		return nil
	}
	return slices.Clone(n.Stored.Info.Chunks)
}

// String returns the array in one line: its expression, shape, type and bytes, and its
// chunks where it is stored in chunks; or its error.
func (a *Array) String() string {
	n, err := a.expression()
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("%s: %s %s, %s", n, units.Shape(n.Shape), n.DType, units.Bytes(a.Bytes()))
	if chunks := a.Chunks(); chunks != nil {
		s += ", in chunks of " + units.Shape(chunks)
	}
	return s
}

// The methods and functions of rows: see package op.
//go:generate go run ./internal/methods

func called(op string) door.Call[Array, *Array] { return door.Called[Array](op) }

func moving(op string) door.Call[Array, *Array] { return door.Moving[Array](op) }

// results are those of an operation whose shape follows from values: see counted. An error comes as
// each that there would be.
func results(ctx context.Context, c *door.Call[Array, *Array], opts []Option, build func(run op.Run) ([]*graph.Node, error)) []*Array {
	if c.Err() != nil {
		return c.List(nil, nil)
	}
	return c.List(counted(ctx, c.Op, opts, build))
}
