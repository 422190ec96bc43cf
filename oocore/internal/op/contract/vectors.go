package contract

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Vecdot is the sum of products along an axis, a's conjugated, in the type that the two
// meet in, as NumPy's vecdot.
func Vecdot(site graph.Site, args AlongArgs) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "vecdot", args.A, args.B)
	in, _, err := last(site, args.Axis, args.A, args.B)
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	x := m.Cast(m.Apply(kernel.Conjugate, in[0]), in[0].DType) // of bools, too
	if x = m.Apply(kernel.Multiply, x, in[1]); m.Err != nil {
		return nil, m.Err
	}
	return m.Cast(m.Reduce(kernel.Sum, x, graph.ReduceOptions{Axes: []int{-1}}), x.DType), m.Err
}

// Cross is the vector product along an axis of length 3, as NumPy's linalg.cross.
func Cross(site graph.Site, args AlongArgs) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "cross", args.A, args.B)
	in, length, err := last(site, args.Axis, args.A, args.B)
	if err == nil && length != 3 {
		err = fmt.Errorf("takes vectors of length 3, not %d", length)
	}
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	// The elements that follow by so many places.
	next := func(n *graph.Node, by int) *graph.Node {
		return m.Make(func() (*graph.Node, error) { return shape.Roll(site, n, []int{-by}, []int{-1}) })
	}
	plus := m.Apply(kernel.Multiply, next(in[0], 1), next(in[1], 2))
	out := m.Apply(kernel.Subtract, plus, m.Apply(kernel.Multiply, next(in[0], 2), next(in[1], 1)))
	return graph.Call(m, shape.Move, shape.MoveArgs{X: out, Axes: []int{-1}, Places: []int{args.Axis}}), m.Err
}

// last are two arrays with an axis at the end, which has one length in both.
func last(site graph.Site, axis int, in ...*graph.Node) (out []*graph.Node, length int, err error) {
	for _, n := range in {
		at, err := grid.Axis(axis, len(n.Shape))
		if err != nil {
			return nil, 0, err
		}
		moved, err := shape.Move(site, shape.MoveArgs{X: n, Axes: []int{at}, Places: []int{-1}})
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
