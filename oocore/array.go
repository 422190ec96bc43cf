// Package oocore computes on arrays larger than memory.
//
// An Array is a lazy, immutable, N-dimensional value. Operations build an
// expression and read nothing but the headers of files; Save and Collect compute
// it, chunk by chunk, within a budget of memory:
//
//	x := oocore.Open("acts.npy")
//	centred, err := x.Sub(x.Mean(0)).Save(ctx, "centred.npy", oocore.Memory("256MiB"))
//
// Names, broadcasting, types and results are NumPy's. An operation never fails
// at the call: the first error travels with the value, names the operation, the
// shapes and the line of the program that called it, and comes out at Err, Save
// and Collect.
//
// Numbers of Go's types int, float64 and complex128 are weak, as Python's are in
// NumPy 2: they take the type of the array that they meet. Those of sized types
// keep theirs, as NumPy's scalars do. So for a float32 array, x.Mul(2) and
// x.Mul(0.5) are float32; for an int8 one, x.Mul(int64(2)) is int64.
package oocore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/units"
)

// Array is an N-dimensional array that is not computed yet. It is immutable and
// safe for concurrent use.
type Array struct {
	node   *graph.Node // nil where err is set
	err    error
	chunks []int // that Rechunk has asked for
}

// Error is an operation that was refused: which, on what, where in the program,
// and why.
type Error = graph.Error

// errNoArray is the error of an Array that no function of this package made.
var errNoArray = errors.New("there is no array: a *oocore.Array is nil")

func made(n *graph.Node, err error) *Array {
	if err != nil {
		return &Array{err: err}
	}
	return &Array{node: n}
}

// expression is the array's node, or the error that it carries.
func (a *Array) expression() (*graph.Node, error) {
	switch {
	case a == nil:
		return nil, errNoArray
	case a.err != nil:
		return nil, a.err
	case a.node == nil:
		return nil, errNoArray
	}
	return a.node, nil
}

// operand is the node of what an operation was given: an array or a number.
func operand(site graph.Site, v any) (*graph.Node, error) {
	if a, ok := v.(*Array); ok {
		return a.expression()
	}
	return graph.Scalar(site, v)
}

// build makes an array of one operation on arrays and numbers. It is called by
// exported functions and methods, whose caller's line it notes.
func build(op string, operation func(site graph.Site, in []*graph.Node) (*graph.Node, error), operands ...any) *Array {
	site := graph.Caller()
	in := make([]*graph.Node, len(operands))
	for i, v := range operands {
		n, err := operand(site, v)
		if _, earlier := errors.AsType[*Error](err); err != nil && !earlier {
			err = &Error{Op: op, Site: site, Err: err}
		}
		if err != nil {
			return &Array{err: err}
		}
		in[i] = n
	}
	return made(operation(site, in))
}

// Build is the array of an operation that another package brings: f makes its node of
// those of the operands, which are arrays and numbers.
func Build(op string, f func(site graph.Site, in []*graph.Node) (*graph.Node, error), operands ...any) *Array {
	return build(op, f, operands...)
}

// apply is build for an elementwise operation.
func apply(op kernel.Op, operands ...any) *Array {
	return build(op.String(), func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return graph.Apply(site, op, in...)
	}, operands...)
}

// view is build for an operation on one array and nothing else.
func (a *Array) view(op string, operation func(site graph.Site, n *graph.Node) (*graph.Node, error)) *Array {
	return build(op, func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return operation(site, in[0])
	}, a)
}

// Err is the first error of the operations that made the array, or nil.
func (a *Array) Err() error {
	_, err := a.expression()
	return err
}

// Shape is the array's lengths; nil where it carries an error.
func (a *Array) Shape() []int {
	n, err := a.expression()
	if err != nil {
		return nil
	}
	return slices.Clone(n.Shape)
}

// Dims is the number of dimensions.
func (a *Array) Dims() int { return len(a.Shape()) }

// DType is the type of the elements; its zero value where the array carries an
// error.
func (a *Array) DType() DType {
	n, err := a.expression()
	if err != nil {
		return dtype.Invalid
	}
	return n.DType
}

// Size is the number of elements; 0 where the array carries an error.
func (a *Array) Size() int {
	n, err := a.expression()
	if err != nil {
		return 0
	}
	return grid.Size(n.Shape)
}

// DimNames are the names of the dimensions, "" of one without, as far as stored inputs have them
// and operations keep them; nil where none has one.
func (a *Array) DimNames() []string {
	n, err := a.expression()
	if err != nil {
		return nil
	}
	return slices.Clone(graph.DimNames(n))
}

// Axis is the number of the dimension with a name, for whatever takes an axis:
// x.Mean(x.Axis("time")). Where none has the name, what takes the number is an error that says
// so.
func (a *Array) Axis(name string) int {
	if at := slices.Index(a.DimNames(), name); name != "" && at >= 0 {
		return at
	}
	return grid.NoAxis
}

// Bytes is what the elements would take in memory.
func (a *Array) Bytes() int64 { return int64(a.Size()) * int64(a.DType().Size()) }

// Chunks are the lengths in which the array is stored, or is to be by Rechunk; nil where
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

// String is the array in one line: its expression, shape, type and bytes, and
// chunks where it is stored in such; or its error.
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
