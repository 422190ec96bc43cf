package filter

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Grey is an erosion, a dilation or what is made of both, by SciPy's name, over windows of the given lengths.
func Grey(site graph.Site, a GreyArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	sizes, err := window.Each("sizes", a.Sizes, len(a.X.Shape))
	if err != nil || a.X.DType == dtype.Bool {
		if err == nil {
			err = errors.New("takes numbers: bools have binary_erosion and its like")
		}
		return nil, graph.Reject(site, a.Name, err, a.X)
	}
	eroded := func(x *graph.Node) *graph.Node {
		return graph.Call(m, Minimum, SizeArgs{X: x, Sizes: sizes, Border: a.Border})
	}
	dilated := func(x *graph.Node) *graph.Node { // by the window that is turned around: of an even length its middle moves
		b := a.Border
		b.Origin = make([]int, len(sizes))
		for d, n := range sizes {
			b.Origin[d] = n%2 - 1
		}
		return graph.Call(m, Maximum, SizeArgs{X: x, Sizes: sizes, Border: b})
	}
	var out *graph.Node
	switch x := a.X; a.Name {
	case "grey_erosion":
		out = eroded(x)
	case "grey_dilation":
		out = dilated(x)
	case "grey_opening":
		out = dilated(eroded(x))
	case "grey_closing":
		out = eroded(dilated(x))
	case "morphological_gradient":
		out = m.Apply(kernel.Subtract, dilated(x), eroded(x))
	case "white_tophat":
		out = m.Apply(kernel.Subtract, x, dilated(eroded(x)))
	case "black_tophat":
		out = m.Apply(kernel.Subtract, eroded(dilated(x)), x)
	}
	return out, graph.Unnamed(m.Err)
}

// Binary is an erosion, a dilation or both after each other, so many times, of which elements are not zero, by
// neighbours along up to Connectivity axes; what is outside counts as zero.
func Binary(site graph.Site, a BinaryArgs) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, a.Name, a.X)
	dims := len(a.X.Shape)
	switch {
	case dims == 0:
		return nil, errors.New("takes an array of one dimension or more")
	case a.Connectivity < 1 || a.Connectivity > dims:
		return nil, fmt.Errorf("elements of %d dimensions are neighbours along 1 to %d axes, not %d", dims, dims, a.Connectivity)
	case a.Iterations < 1 || a.Iterations > maxIterations:
		return nil, fmt.Errorf("is done 1 to %d times, not %d", maxIterations, a.Iterations)
	}
	m := &graph.Maker{Site: site}
	x := a.X
	if x.DType != dtype.Bool {
		x = m.Apply(kernel.NotEqual, x, m.Number(0))
	}
	times := func(x *graph.Node, most bool) *graph.Node {
		for range a.Iterations {
			x = neighbourhood(m, x, a.Connectivity, most)
		}
		return x
	}
	switch a.Name {
	case "binary_erosion":
		x = times(x, false)
	case "binary_dilation":
		x = times(x, true)
	case "binary_opening":
		x = times(times(x, false), true)
	case "binary_closing":
		x = times(times(x, true), false)
	}
	return x, graph.Unnamed(m.Err)
}

// maxIterations bounds the steps of a plan.
const maxIterations = 64

// neighbourhood is whether all neighbours of an element are set, or any: those along up to so many axes are all in the
// windows of three along as many.
func neighbourhood(m *graph.Maker, x *graph.Node, connectivity int, most bool) *graph.Node {
	filter, fold := Minimum, kernel.LogicalAnd
	if most {
		filter, fold = Maximum, kernel.LogicalOr
	}
	var out *graph.Node
	for set := range 1 << len(x.Shape) {
		sizes, axes := make([]int, len(x.Shape)), 0
		for d := range sizes {
			sizes[d] = 1
			if set>>d&1 == 1 {
				sizes[d] = 3
				axes++
			}
		}
		if axes != connectivity {
			continue
		}
		part := graph.Call(m, filter, SizeArgs{X: x, Sizes: sizes, Border: window.Border{Mode: window.Constant}})
		if out == nil {
			out = part
		} else {
			out = m.Apply(fold, out, part)
		}
	}
	return out
}

// Edges is scipy.ndimage's sobel or prewitt: the difference of both neighbours along an axis, and sums along the others.
func Edges(site graph.Site, a EdgeArgs) (_ *graph.Node, err error) {
	x := a.X
	defer graph.Named(&err, site, a.Name, x)
	axis, err := grid.Axis(a.Axis, len(x.Shape))
	if err == nil {
		err = summable(x)
	}
	if err != nil {
		return nil, err
	}
	sums := []float64{1, 2, 1}
	if a.Name == "prewitt" {
		sums[1] = 1
	}
	out, err := line(site, a.Name, x, axis, []float64{-1, 0, 1}, a.Border)
	for d := range x.Shape {
		if d != axis && err == nil {
			out, err = line(site, a.Name, out, d, sums, a.Border)
		}
	}
	return out, err
}

// Laplace is scipy.ndimage.laplace: the sum of the second differences along all axes.
func Laplace(site graph.Site, a LaplaceArgs) (_ *graph.Node, err error) {
	x := a.X
	defer graph.Named(&err, site, "laplace", x)
	if err := summable(x); err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	var out *graph.Node
	for d := range x.Shape {
		part := m.Make(func() (*graph.Node, error) { return line(site, "laplace", x, d, []float64{1, -2, 1}, a.Border) })
		if d > 0 {
			part = m.Apply(kernel.Add, out, part)
		}
		out = part
	}
	if out == nil {
		return nil, errors.New("takes an array of one dimension or more")
	}
	return out, m.Err
}

// line is the sum of three neighbours along an axis times weights.
func line(site graph.Site, name string, x *graph.Node, axis int, weights []float64, b window.Border) (*graph.Node, error) {
	side := make([]int, len(x.Shape))
	side[axis] = 1
	w, err := window.Around(x.Shape, x.DType, side, side, b)
	if err != nil {
		return nil, err
	}
	return graph.NewBlockwise(site, name, DirectConv{Window: w, Weights: weights}, x.Shape, x.DType, []*graph.Node{x}, append([]string{fmt.Sprintf("axis %d", axis)}, args(b)...)...)
}
