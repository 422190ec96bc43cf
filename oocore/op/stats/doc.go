// Package stats has what describes the values of an array: how many lie in each bin,
// averages with weights, covariances, and the reductions that leave NaN out.
//
// Counting is an operation of its own, Count. All else is composed of reductions,
// elementwise operations and products.
package stats

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// maker composes nodes. After the first error it makes nothing more.
type maker struct {
	site graph.Site
	err  error
}

// make is what f makes.
func (m *maker) make(f func() (*graph.Node, error)) (n *graph.Node) {
	if m.err == nil {
		n, m.err = f()
	}
	return n
}

func (m *maker) apply(op kernel.Op, in ...*graph.Node) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.Apply(m.site, op, in...) })
}

func (m *maker) reduce(kind kernel.Reduction, n *graph.Node, o graph.ReduceOptions) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.Aggregate(m.site, kind, n, o) })
}

func (m *maker) cast(n *graph.Node, t dtype.Type) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.AsType(m.site, n, t) })
}

func (m *maker) reshape(n *graph.Node, shape ...int) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.Reshape(m.site, n, shape...) })
}

func (m *maker) transpose(n *graph.Node, axes ...int) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.Transpose(m.site, n, axes...) })
}

// number is a number of the program, weak as those are.
func (m *maker) number(v any) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.Scalar(m.site, v) })
}

// full is one value everywhere.
func (m *maker) full(v dtype.Value, shape ...int) *graph.Node {
	return m.make(func() (*graph.Node, error) { return graph.Full(m.site, v, shape...) })
}
