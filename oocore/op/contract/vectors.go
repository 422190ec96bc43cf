package contract

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// Vecdot is the sum of products along an axis, a's conjugated, in the type that the two
// meet in, as NumPy's vecdot.
func Vecdot(site graph.Site, a, b *graph.Node, axis int) (*graph.Node, error) {
	n, err := vecdot(site, a, b, axis)
	if err != nil {
		return nil, graph.Reject(site, "vecdot", err, a, b)
	}
	return n, nil
}

func vecdot(site graph.Site, a, b *graph.Node, axis int) (*graph.Node, error) {
	in, _, err := last(site, axis, a, b)
	if err != nil {
		return nil, err
	}
	x, err := graph.Apply(site, kernel.Conjugate, in[0])
	if err != nil {
		return nil, err
	}
	if x, err = graph.AsType(site, x, in[0].DType); err != nil { // of bools, too
		return nil, err
	}
	if x, err = graph.Apply(site, kernel.Multiply, x, in[1]); err != nil {
		return nil, err
	}
	sum, err := graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: []int{-1}})
	if err != nil {
		return nil, err
	}
	return graph.AsType(site, sum, x.DType)
}

// Cross is the vector product along an axis of length 3, as NumPy's linalg.cross.
func Cross(site graph.Site, a, b *graph.Node, axis int) (*graph.Node, error) {
	n, err := cross(site, a, b, axis)
	if err != nil {
		return nil, graph.Reject(site, "cross", err, a, b)
	}
	return n, nil
}

func cross(site graph.Site, a, b *graph.Node, axis int) (*graph.Node, error) {
	in, length, err := last(site, axis, a, b)
	if err == nil && length != 3 {
		err = fmt.Errorf("takes vectors of length 3, not %d", length)
	}
	if err != nil {
		return nil, err
	}
	// Of each, the next element and the one after that.
	var turned [2][2]*graph.Node
	for i, n := range in {
		for k := range turned[i] {
			if turned[i][k], err = shape.Roll(site, n, []int{-1 - k}, []int{-1}); err != nil {
				return nil, err
			}
		}
	}
	plus, err := graph.Apply(site, kernel.Multiply, turned[0][0], turned[1][1])
	if err != nil {
		return nil, err
	}
	minus, err := graph.Apply(site, kernel.Multiply, turned[0][1], turned[1][0])
	if err != nil {
		return nil, err
	}
	out, err := graph.Apply(site, kernel.Subtract, plus, minus)
	if err != nil {
		return nil, err
	}
	back := axis
	if axis >= 0 {
		back += len(out.Shape) - max(len(a.Shape), len(b.Shape))
	}
	return shape.Move(site, out, []int{-1}, []int{back})
}

// last are two arrays with an axis at the end, which has one length in both.
func last(site graph.Site, axis int, in ...*graph.Node) (out []*graph.Node, length int, err error) {
	for _, n := range in {
		at, err := grid.Axis(axis, len(n.Shape))
		if err != nil {
			return nil, 0, err
		}
		moved, err := shape.Move(site, n, []int{at}, []int{-1})
		if err != nil {
			return nil, 0, err
		}
		out, length = append(out, moved), n.Shape[at]
	}
	if first := out[0].Shape[len(out[0].Shape)-1]; first != length {
		return nil, 0, fmt.Errorf("lengths %d and %d along axis %d differ", first, length, axis)
	}
	return out, length, nil
}
