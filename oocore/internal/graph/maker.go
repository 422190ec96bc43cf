package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Maker composes nodes. After the first error, Err, it makes nothing more, and returns a number in
// place of each result.
type Maker struct {
	Site Site
	Err  error
}

// Make returns what f makes.
func (m *Maker) Make(f func() (*Node, error)) *Node {
	if m.Err != nil {
		return rejected
	}
	return m.of(f())
}

// of returns the result of an operation. Unlike Make it is given one after an error too.
func (m *Maker) of(n *Node, err error) *Node {
	if m.Fail(err) {
		return rejected
	}
	return n
}

// rejected stands for a result that there is none of.
var rejected = &Node{Kind: Constant, Shape: []int{}, DType: dtype.Int64, Value: dtype.ValueOf(int64(0))}

// Fail makes an error Err where there is none before, and reports whether there is one.
func (m *Maker) Fail(err error) bool {
	if m.Err == nil {
		m.Err = err
	}
	return m.Err != nil
}

// Result returns a node of the named operation, or its error.
func (m *Maker) Result(op string, n *Node, in ...*Node) (*Node, error) {
	return Result(m.Site, op, n, m.Err, in...)
}

// Like gives a node the names and labels of the axes of another.
func (m *Maker) Like(n, axes *Node) *Node {
	return m.Make(func() (*Node, error) { return NameAxes(n, AllAxes(axes)...), nil })
}

// Apply is the function Apply, but for what Joins says.
func (m *Maker) Apply(op kernel.Op, in ...*Node) *Node {
	return m.Make(func() (*Node, error) { return apply(m.Site, op, in...) })
}

// Of is Apply of nodes and of numbers of Go, which Number takes.
func (m *Maker) Of(op kernel.Op, in ...any) *Node {
	nodes := make([]*Node, len(in))
	for i, v := range in {
		if n, ok := v.(*Node); ok {
			nodes[i] = n
		} else {
			nodes[i] = m.Number(v)
		}
	}
	return m.Apply(op, nodes...)
}

// Reduce is the function Aggregate.
func (m *Maker) Reduce(kind kernel.Reduction, n *Node, o ReduceOptions) *Node {
	return m.Make(func() (*Node, error) { return Aggregate(m.Site, kind, n, o) })
}

// Cast is the function AsType.
func (m *Maker) Cast(n *Node, t dtype.Type) *Node {
	return m.Make(func() (*Node, error) { return AsType(m.Site, n, t) })
}

// Reshape is the function Reshape.
func (m *Maker) Reshape(n *Node, shape ...int) *Node {
	return m.Make(func() (*Node, error) { return Reshape(m.Site, n, shape...) })
}

// Transpose is the function Transpose.
func (m *Maker) Transpose(n *Node, axes ...int) *Node {
	return m.Make(func() (*Node, error) { return Transpose(m.Site, n, axes...) })
}

// Along stands a vector along an axis of so many, the others of length one.
func (m *Maker) Along(n *Node, axis, dims int) *Node {
	lengths := slices.Repeat([]int{1}, dims)
	lengths[axis] = grid.Size(n.Shape)
	return m.Reshape(n, lengths...)
}

// Slice is the function Slice of a formatted text.
func (m *Maker) Slice(n *Node, format string, args ...any) *Node {
	return m.Make(func() (*Node, error) { return Slice(m.Site, n, fmt.Sprintf(format, args...)) })
}

// Squeeze is the function Squeeze.
func (m *Maker) Squeeze(n *Node, axes ...int) *Node {
	return m.Make(func() (*Node, error) { return Squeeze(m.Site, n, axes...) })
}

// Product is the function Product.
func (m *Maker) Product(a, b *Node) *Node {
	return m.Make(func() (*Node, error) { return Product(m.Site, a, b) })
}

// Call is what a function of a struct of arguments makes.
func Call[A any](m *Maker, f func(site Site, args A) (*Node, error), args A) *Node {
	return m.Make(func() (*Node, error) { return f(m.Site, args) })
}

// Blockwise is the function NewBlockwise.
func (m *Maker) Blockwise(name string, op blockwise.Op, shape []int, t dtype.Type, in []*Node, args ...string) *Node {
	return m.Make(func() (*Node, error) { return NewBlockwise(m.Site, name, op, shape, t, in, args...) })
}

// Number returns a number of the program, weak as those are.
func (m *Maker) Number(v any) *Node {
	return m.Make(func() (*Node, error) { return Scalar(m.Site, v) })
}

// Full returns one value everywhere.
func (m *Maker) Full(v dtype.Value, shape ...int) *Node {
	return m.Make(func() (*Node, error) { return Full(m.Site, v, shape...) })
}

// Bytes is the function FromBytes.
func (m *Maker) Bytes(b []byte, t dtype.Type, shape ...int) *Node {
	return m.Make(func() (*Node, error) { return FromBytes(m.Site, b, t, shape...) })
}

// BroadcastTo is the function BroadcastTo.
func (m *Maker) BroadcastTo(n *Node, shape ...int) *Node {
	return m.Make(func() (*Node, error) { return BroadcastTo(m.Site, n, shape...) })
}

// ExpandDims is the function ExpandDims.
func (m *Maker) ExpandDims(n *Node, axes ...int) *Node {
	return m.Make(func() (*Node, error) { return ExpandDims(m.Site, n, axes...) })
}

// Arange counts from zero to below n, as int64.
func (m *Maker) Arange(n int) *Node {
	zero, one, end := m.Full(dtype.ValueOf(int64(0))), m.Full(dtype.ValueOf(int64(1))), m.Full(dtype.ValueOf(int64(n)))
	return m.Make(func() (*Node, error) { return Arange(m.Site, zero, end, one) })
}

// Part returns the range of an array along an axis.
func (m *Maker) Part(n *Node, axis, from, to int) *Node {
	return m.Slice(n, strings.Repeat(":, ", axis)+"%d:%d", from, to)
}
