package graph

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Slice returns what NumPy's brackets give: "0:100, ::2, -1", "...", "newaxis".
func Slice(site Site, n *Node, spec string) (*Node, error) {
	v, err := grid.ParseSlice(spec, n.Shape)
	return viewed(site, "slice", n, v, err)
}

// Transpose puts the axes in another order; none given, in reverse.
func Transpose(site Site, n *Node, axes ...int) (*Node, error) {
	v, err := grid.Permute(n.Shape, axes...)
	return viewed(site, "transpose", n, v, err)
}

// BroadcastTo repeats the array along new axes and those of length one.
func BroadcastTo(site Site, n *Node, shape ...int) (*Node, error) {
	err := grid.Check(shape, n.DType.Size())
	if err != nil {
		return nil, reject(site, "broadcast_to", err, n)
	}
	v, err := grid.BroadcastTo(n.Shape, shape)
	return viewed(site, "broadcast_to", n, v, err)
}

// ExpandDims inserts axes of length one, at their places in the result.
func ExpandDims(site Site, n *Node, axes ...int) (*Node, error) {
	dims := len(n.Shape) + len(axes)
	if dims > grid.MaxDims {
		return nil, reject(site, "expand_dims", fmt.Errorf("%d dimensions are more than %d", dims, grid.MaxDims), n)
	}
	if len(axes) == 0 {
		return n, nil
	}
	at, err := grid.Axes(axes, dims)
	if err != nil {
		return nil, reject(site, "expand_dims", err, n)
	}
	v := grid.Identity(n.Shape)
	for i, d := 0, 0; i < dims; i++ {
		if slices.Contains(at, i) {
			v.Shape = slices.Insert(v.Shape, i, 1)
			continue
		}
		v.Axis[d] = i
		d++
	}
	return viewed(site, "expand_dims", n, v, nil)
}

// Squeeze removes axes of length one; none given, all of them.
func Squeeze(site Site, n *Node, axes ...int) (*Node, error) {
	var drop []int
	if len(axes) == 0 {
		for d, length := range n.Shape {
			if length == 1 {
				drop = append(drop, d)
			}
		}
	} else {
		var err error
		if drop, err = grid.Axes(axes, len(n.Shape)); err != nil {
			return nil, reject(site, "squeeze", err, n)
		}
	}
	v := grid.Identity(n.Shape)
	v.Shape = v.Shape[:0]
	for d, length := range n.Shape {
		if !slices.Contains(drop, d) {
			v.Axis[d] = len(v.Shape)
			v.Shape = append(v.Shape, length)
			continue
		}
		if length != 1 {
			return nil, reject(site, "squeeze", fmt.Errorf("axis %d of shape %s has a length other than one", d, grid.Format(n.Shape)), n)
		}
		v.Axis[d] = -1
	}
	return viewed(site, "squeeze", n, v, nil)
}

// Along returns an array of one dimension as a view shows what stands along axis d of the array that it is of.
func Along(n *Node, v grid.View, d int) *Node { return pushDownView(n.Site, n, v.Along(d)) }

func viewed(site Site, op string, n *Node, v grid.View, err error) (*Node, error) {
	if err == nil && len(v.Shape) > grid.MaxDims {
		err = fmt.Errorf("%d dimensions are more than %d", len(v.Shape), grid.MaxDims)
	}
	if err != nil {
		return nil, reject(site, op, err, n)
	}
	return pushDownView(site, n, v), nil
}

// broadcast repeats the array to a shape that it is known to broadcast to.
func broadcast(site Site, n *Node, shape []int) *Node {
	v, _ := grid.BroadcastTo(n.Shape, shape)
	return pushDownView(site, n, v)
}
