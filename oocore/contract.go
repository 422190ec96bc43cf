package oocore

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
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
