// Package compose makes operations of other operations.
package compose

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Maker composes nodes. After the first error, Err, it makes nothing more.
type Maker struct {
	Site graph.Site
	Err  error
}

// Make returns what f makes.
func (m *Maker) Make(f func() (*graph.Node, error)) (n *graph.Node) {
	if m.Err == nil {
		n, m.Err = f()
	}
	return n
}

// Fail makes an error Err where there is none before, and reports whether there is one.
func (m *Maker) Fail(err error) bool {
	if m.Err == nil {
		m.Err = err
	}
	return m.Err != nil
}

// Result returns a node of the named operation, or its error.
func (m *Maker) Result(op string, n *graph.Node, in ...*graph.Node) (*graph.Node, error) {
	return graph.Result(m.Site, op, n, m.Err, in...)
}

// Apply is graph.Apply.
func (m *Maker) Apply(op kernel.Op, in ...*graph.Node) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Apply(m.Site, op, in...) })
}

// Reduce is graph.Aggregate.
func (m *Maker) Reduce(kind kernel.Reduction, n *graph.Node, o graph.ReduceOptions) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Aggregate(m.Site, kind, n, o) })
}

// Cast is graph.AsType.
func (m *Maker) Cast(n *graph.Node, t dtype.Type) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.AsType(m.Site, n, t) })
}

// Reshape is graph.Reshape.
func (m *Maker) Reshape(n *graph.Node, shape ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Reshape(m.Site, n, shape...) })
}

// Transpose is graph.Transpose.
func (m *Maker) Transpose(n *graph.Node, axes ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Transpose(m.Site, n, axes...) })
}

// Slice is graph.Slice of a formatted text.
func (m *Maker) Slice(n *graph.Node, format string, args ...any) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Slice(m.Site, n, fmt.Sprintf(format, args...)) })
}

// Squeeze is graph.Squeeze.
func (m *Maker) Squeeze(n *graph.Node, axes ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Squeeze(m.Site, n, axes...) })
}

// Product is graph.Product.
func (m *Maker) Product(a, b *graph.Node) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Product(m.Site, a, b) })
}

// Blockwise is graph.NewBlockwise.
func (m *Maker) Blockwise(name string, op blockwise.Op, shape []int, t dtype.Type, in []*graph.Node, args ...string) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.NewBlockwise(m.Site, name, op, shape, t, in, args...) })
}

// Number returns a number of the program, weak as those are.
func (m *Maker) Number(v any) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Scalar(m.Site, v) })
}

// Full returns one value everywhere.
func (m *Maker) Full(v dtype.Value, shape ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.Full(m.Site, v, shape...) })
}

// Bytes is graph.FromBytes.
func (m *Maker) Bytes(b []byte, t dtype.Type, shape ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.FromBytes(m.Site, b, t, shape...) })
}

// BroadcastTo is graph.BroadcastTo.
func (m *Maker) BroadcastTo(n *graph.Node, shape ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.BroadcastTo(m.Site, n, shape...) })
}

// ExpandDims is graph.ExpandDims.
func (m *Maker) ExpandDims(n *graph.Node, axes ...int) *graph.Node {
	return m.Make(func() (*graph.Node, error) { return graph.ExpandDims(m.Site, n, axes...) })
}

// Arange counts from zero to below n, as int64.
func (m *Maker) Arange(n int) *graph.Node {
	zero, one, end := m.Full(dtype.ValueOf(int64(0))), m.Full(dtype.ValueOf(int64(1))), m.Full(dtype.ValueOf(int64(n)))
	return m.Make(func() (*graph.Node, error) { return graph.Arange(m.Site, zero, end, one) })
}

// Part returns the range of an array along an axis.
func (m *Maker) Part(n *graph.Node, axis, from, to int) *graph.Node {
	return m.Slice(n, strings.Repeat(":, ", axis)+"%d:%d", from, to)
}
