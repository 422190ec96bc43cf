// Package contract has the products that sum along axes: tensordot, einsum and what
// follows from them. They become matrix products of the operands' axes brought
// together: what lies so already is not moved.
package contract

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Tensordot sums products along pairs of axes: the i-th of axesA with the i-th of
// axesB. The result has the other axes of a, then those of b.
func Tensordot(site graph.Site, a, b *graph.Node, axesA, axesB []int) (*graph.Node, error) {
	n, err := tensordot(site, a, b, axesA, axesB)
	if err != nil {
		return nil, graph.Reject(site, "tensordot", ofShapes(err, []*graph.Node{a, b}), a, b)
	}
	return n, nil
}

func tensordot(site graph.Site, a, b *graph.Node, axesA, axesB []int) (*graph.Node, error) {
	if len(axesA) != len(axesB) {
		return nil, fmt.Errorf("%d axes of the first meet %d of the second", len(axesA), len(axesB))
	}
	next := 'A'
	name := func(n *graph.Node) term {
		t := term{node: n}
		for range n.Shape {
			t.axes = append(t.axes, next)
			next++
		}
		return t
	}
	x, y := name(a), name(b)
	for i := range axesA {
		p, err := grid.Axis(axesA[i], len(a.Shape))
		if err != nil {
			return nil, err
		}
		q, err := grid.Axis(axesB[i], len(b.Shape))
		if err != nil {
			return nil, err
		}
		if a.Shape[p] != b.Shape[q] {
			return nil, fmt.Errorf("axis %d of the first has the length %d, and axis %d of the second %d", axesA[i], a.Shape[p], axesB[i], b.Shape[q])
		}
		if slices.Contains(x.axes, y.axes[q]) {
			return nil, fmt.Errorf("axis %d of the second is named twice", axesB[i])
		}
		if slices.Contains(y.axes, x.axes[p]) {
			return nil, fmt.Errorf("axis %d of the first is named twice", axesA[i])
		}
		y.axes[q] = x.axes[p]
	}
	keep := map[rune]bool{}
	var out []rune
	for _, t := range []term{x, y} {
		for _, r := range t.axes {
			if !slices.Contains(x.axes, r) || !slices.Contains(y.axes, r) {
				keep[r] = true
				out = append(out, r)
			}
		}
	}
	if len(out) > grid.MaxDims {
		return nil, fmt.Errorf("the result would have %d dimensions, more than %d", len(out), grid.MaxDims)
	}
	joined, err := product{site, dtype.Promote(a.DType, b.DType)}.pair(x, y, keep)
	if err != nil {
		return nil, err
	}
	n, err := transposed(site, joined, out)
	if err != nil {
		return nil, err
	}
	return named(n, out, []term{x, y}), nil
}

// Dot is NumPy's dot: of vectors a number, of matrices their product, of more axes the
// sum along the last of a and the last but one of b.
func Dot(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	if len(a.Shape) == 0 || len(b.Shape) == 0 {
		return graph.Apply(site, kernel.Multiply, a, b)
	}
	n, err := tensordot(site, a, b, []int{-1}, []int{max(len(b.Shape)-2, 0)})
	if err != nil {
		return nil, graph.Reject(site, "dot", ofShapes(err, []*graph.Node{a, b}), a, b)
	}
	return n, nil
}

// Inner sums products along the last axes of both.
func Inner(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	if len(a.Shape) == 0 || len(b.Shape) == 0 {
		return graph.Apply(site, kernel.Multiply, a, b)
	}
	n, err := tensordot(site, a, b, []int{-1}, []int{-1})
	if err != nil {
		return nil, graph.Reject(site, "inner", ofShapes(err, []*graph.Node{a, b}), a, b)
	}
	return n, nil
}

// Vdot is the sum of the products of all elements, those of a conjugated.
func Vdot(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	if grid.Size(a.Shape) != grid.Size(b.Shape) {
		return nil, graph.Reject(site, "vdot", fmt.Errorf("shapes %s and %s have different sizes", grid.Format(a.Shape), grid.Format(b.Shape)), a, b)
	}
	m := &graph.Maker{Site: site}
	if a.DType.Kind() == dtype.KindComplex { // the conjugate of a bool is an int8
		a = m.Apply(kernel.Conjugate, a)
	}
	a, b = m.Reshape(a, -1), m.Reshape(b, -1)
	return graph.Call(m, Dot, op.Binary{A: a, B: b}), m.Err
}

// Outer is the product of each element of a with each of b.
func Outer(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	var list []term // operands of one dimension
	for i, n := range []*graph.Node{a, b} {
		if len(n.Shape) == 1 {
			list = append(list, term{n, []rune{rune('i' + i)}})
		}
	}
	m := &graph.Maker{Site: site}
	n := m.Apply(kernel.Multiply, m.Reshape(a, grid.Size(a.Shape), 1), m.Reshape(b, 1, grid.Size(b.Shape)))
	if m.Err != nil {
		return nil, m.Err
	}
	return named(n, []rune{'i', 'j'}, list), nil
}

// Kron is the Kronecker product: blocks of b, each times an element of a.
func Kron(site graph.Site, args op.Binary) (*graph.Node, error) {
	a, b := args.A, args.B
	dims := max(len(a.Shape), len(b.Shape))
	in := []*graph.Node{a, b}
	for i, n := range in {
		var err error
		if in[i], err = graph.Reshape(site, n, append(slices.Repeat([]int{1}, dims-len(n.Shape)), n.Shape...)...); err != nil {
			return nil, err
		}
	}
	out := make([]int, dims)
	maps := []shape.IndexMap{{Axes: make([]shape.Axis, dims)}, {Axes: make([]shape.Axis, dims)}}
	for d := range out {
		times := in[1].Shape[d]
		out[d] = in[0].Shape[d] * times
		maps[0].Axes[d] = shape.Axis{Kind: shape.KindRepeat, Times: times}
		maps[1].Axes[d] = shape.Axis{Kind: shape.KindWrap}
	}
	axes := make([]graph.Axis, dims) // that of one operand where the other has one element, else a new one
	for d := range axes {
		switch {
		case in[1].Shape[d] == 1:
			axes[d] = graph.Axis{Of: in[0], Index: d}
		case in[0].Shape[d] == 1:
			axes[d] = graph.Axis{Of: in[1], Index: d}
		}
	}
	for i, n := range in {
		var err error
		if in[i], err = shape.Map(site, "kron", n, maps[i], out); err != nil {
			return nil, graph.Reject(site, "kron", err, a, b)
		}
	}
	n, err := graph.Apply(site, kernel.Multiply, in...)
	if err != nil {
		return nil, err
	}
	return graph.NameAxes(n, axes...), nil
}
