package oocore

import "github.com/gonbext/gonbext/oocore/graph"

// Slice is what NumPy's brackets give: Slice("0:100, ::2, -1"), with "..." and
// "newaxis". Only the chunks that it touches are read.
func (a *Array) Slice(spec string) *Array {
	return a.view("slice", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Slice(site, n, spec)
	})
}

// Transpose puts the axes in another order; none given, in reverse.
func (a *Array) Transpose(axes ...int) *Array {
	return a.view("transpose", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Transpose(site, n, axes...)
	})
}

// T is the array with its axes in reverse.
func (a *Array) T() *Array { return a.Transpose() }

// Reshape gives the array another shape of the same size, where that moves no
// element; one length may be -1, for the rest.
func (a *Array) Reshape(shape ...int) *Array {
	return a.view("reshape", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Reshape(site, n, shape...)
	})
}

// BroadcastTo repeats the array along new axes and those of length one.
func (a *Array) BroadcastTo(shape ...int) *Array {
	return a.view("broadcast_to", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.BroadcastTo(site, n, shape...)
	})
}

// ExpandDims inserts axes of length one, at their places in the result.
func (a *Array) ExpandDims(axes ...int) *Array {
	return a.view("expand_dims", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.ExpandDims(site, n, axes...)
	})
}

// Squeeze removes axes of length one; none given, all of them.
func (a *Array) Squeeze(axes ...int) *Array {
	return a.view("squeeze", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return graph.Squeeze(site, n, axes...)
	})
}

// MatMul is the matrix product over the last two axes, the others broadcast; a
// vector is a row on the left and a column on the right.
func (a *Array) MatMul(b *Array) *Array {
	return build("matmul", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return graph.Product(site, in[0], in[1])
	}, a, b)
}
