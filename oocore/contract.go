package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/contract"
)

// Tensordot sums products along pairs of axes, the i-th of axesA with the i-th of
// axesB; the result has the other axes of a, then those of b. It is a matrix product:
// operands whose axes do not lie together for it are brought into that order first, in
// a pass of their own.
func (a *Array) Tensordot(b *Array, axesA, axesB []int) *Array {
	return build("tensordot", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return contract.Tensordot(site, in[0], in[1], axesA, axesB)
	}, a, b)
}

// Einsum is NumPy's einsum: Einsum("ij,jk->ik", a, b). Operands are contracted two at
// a time, in the order that moves the fewest bytes: EinsumPath says it.
func Einsum(subscripts string, operands ...*Array) *Array {
	return build("einsum", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return contract.Einsum(site, subscripts, in...)
	}, anys(operands)...)
}

// EinsumPath says in which order Einsum contracts its operands, a line a step, with the
// bytes that each reads and writes.
func EinsumPath(subscripts string, operands ...*Array) (path string, err error) {
	a := build("einsum_path", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		path, err = contract.Path(site, subscripts, in...)
		return graph.Scalar(site, 0)
	}, anys(operands)...)
	if a.Err() != nil {
		return "", a.Err()
	}
	return path, err
}

func anys(arrays []*Array) []any {
	out := make([]any, len(arrays))
	for i, a := range arrays {
		out[i] = a
	}
	return out
}

// Dot is NumPy's dot: of vectors a number, of matrices their product, of more axes the
// sum along the last of a and the last but one of b.
func (a *Array) Dot(b *Array) *Array { return both("dot", contract.Dot, a, b) }

// Inner sums products along the last axes of both.
func (a *Array) Inner(b *Array) *Array { return both("inner", contract.Inner, a, b) }

// Vdot returns the sum of the products of all elements, those of a conjugated.
func (a *Array) Vdot(b *Array) *Array { return both("vdot", contract.Vdot, a, b) }

// Outer returns the product of each element of a with each of b.
func (a *Array) Outer(b *Array) *Array { return both("outer", contract.Outer, a, b) }

// Kron returns the Kronecker product: blocks of b, each times an element of a.
func (a *Array) Kron(b *Array) *Array { return both("kron", contract.Kron, a, b) }

// Vecdot returns the sum of products along an axis, a's conjugated, of arrays that are
// broadcast together along the others. It is a reduction: one pass, with an accumulator
// for each result.
func (a *Array) Vecdot(b *Array, axis int) *Array {
	return both("vecdot", func(site graph.Site, x, y *graph.Node) (*graph.Node, error) {
		return contract.Vecdot(site, x, y, axis)
	}, a, b)
}

// Cross returns the vector product along an axis of length 3, of arrays that are broadcast
// together along the others. It is part of whatever reads it.
func (a *Array) Cross(b *Array, axis int) *Array {
	return both("cross", func(site graph.Site, x, y *graph.Node) (*graph.Node, error) {
		return contract.Cross(site, x, y, axis)
	}, a, b)
}
