// Package quantize maps floats to small integers: x ≈ (q - zero point) · scale, with a
// scale and a zero point for the whole array, for each index of an axis, or for each
// block along one. It is made of reductions and elementwise operations alone.
package quantize

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Scheme says how.
type Scheme struct {
	DType dtype.Type // Int8 or Uint8
	// Axis has a scale of its own for each of its indices; with Block, for each so many
	// of them, and for each index of the other axes. nil is one scale for all.
	Axis  *int
	Block int
	// Affine maps the range from the least to the largest element, zero included, to all
	// integers. Otherwise the largest magnitude becomes the largest integer, and the zero
	// point is that of the type's middle.
	Affine bool
}

// Quantized is an array in integers, with what brings it back. Scale and Zero have the
// dimensions of Values, and one or fewer indices where several elements share them; of
// blocks, one for each.
type Quantized struct {
	Values, Scale, Zero *graph.Node
}

// Quantize maps the array by the scheme. It reads the array twice: once for the
// extremes, and once to map it. NaN becomes the zero point.
func Quantize(site graph.Site, x *graph.Node, s Scheme) (Quantized, error) {
	q, err := quantize(&b{site: site}, x, s)
	if err != nil {
		return Quantized{}, graph.Reject(site, "quantize", err, x)
	}
	return q, nil
}

// With is Quantize with scales and zero points that are known, of the shapes that Quantize
// gives them. It reads the array once.
func With(site graph.Site, x, scale, zero *graph.Node, s Scheme) (*graph.Node, error) {
	b := &b{site: site}
	g, err := s.grouped(b, x)
	if err != nil {
		return nil, graph.Reject(site, "quantize", err, x)
	}
	values := g.values(b, b.reshape(scale, g.few), b.as(b.reshape(zero, g.few), g.x.DType))
	if b.err != nil {
		return nil, graph.Reject(site, "quantize", b.err, x, scale, zero)
	}
	return values, nil
}

// b builds nodes and keeps the first error.
type b struct {
	site graph.Site
	err  error
}

func (b *b) do(n *graph.Node, err error) *graph.Node {
	if b.err == nil {
		b.err = err
	}
	return n
}

func (b *b) apply(op kernel.Op, in ...*graph.Node) *graph.Node {
	if b.err != nil {
		return nil
	}
	return b.do(graph.Apply(b.site, op, in...))
}

func (b *b) number(v float64) *graph.Node { return b.do(graph.Scalar(b.site, v)) }

func (b *b) fold(kind kernel.Reduction, x *graph.Node, axes []int) *graph.Node {
	if b.err != nil {
		return nil
	}
	if len(axes) == 0 {
		return x
	}
	return b.do(graph.Aggregate(b.site, kind, x, graph.ReduceOptions{Axes: axes, KeepDims: true}))
}

func (b *b) as(n *graph.Node, t dtype.Type) *graph.Node {
	if b.err != nil {
		return nil
	}
	return b.do(graph.AsType(b.site, n, t))
}

func (b *b) reshape(n *graph.Node, to []int) *graph.Node {
	if b.err != nil {
		return nil
	}
	return b.do(graph.Reshape(b.site, n, to...))
}

// grouped is an array in the shape in which elements that share a scale lie along whole
// axes, and the range of its integers.
type grouped struct {
	Scheme
	x         *graph.Node
	shape     []int // of the array
	axes      []int
	few       []int // of the scales: one index along those axes
	low, high float64
}

func (s Scheme) grouped(b *b, x *graph.Node) (*grouped, error) {
	g := &grouped{Scheme: s, shape: x.Shape, low: -128, high: 127}
	switch s.DType {
	case dtype.Int8:
	case dtype.Uint8:
		g.low, g.high = 0, 255
	default:
		return nil, fmt.Errorf("gives int8 or uint8, not %s", s.DType)
	}
	if x.DType.Kind() != dtype.KindFloat {
		return nil, fmt.Errorf("takes floats, not %s", x.DType)
	}
	if grid.Size(x.Shape) == 0 {
		return nil, fmt.Errorf("shape %s has no elements", grid.Format(x.Shape))
	}
	if x.DType.Short() {
		x = b.as(x, dtype.Float32)
	}
	wide, axes, err := s.groups(x.Shape)
	if err != nil {
		return nil, err
	}
	g.x, g.axes, g.few = b.reshape(x, wide), axes, slices.Clone(wide)
	for _, d := range axes {
		g.few[d] = 1
	}
	return g, b.err
}

// values are the integers, given scales and zero points in floats.
func (g *grouped) values(b *b, scale, point *graph.Node) *graph.Node {
	low := g.low
	if !g.Affine { // as far from the middle on either side
		low = (low+g.high+1)/2 - (g.high-low-1)/2
	}
	steps := b.apply(kernel.Add, b.apply(kernel.Rint, b.apply(kernel.Divide, g.x, scale)), point)
	steps = b.apply(kernel.Minimum, b.apply(kernel.Maximum, steps, b.number(low)), b.number(g.high))
	steps = b.apply(kernel.Where, b.apply(kernel.IsNaN, steps), point, steps)
	return b.reshape(b.as(steps, g.DType), g.shape)
}

func quantize(b *b, x *graph.Node, s Scheme) (Quantized, error) {
	g, err := s.grouped(b, x)
	if err != nil {
		return Quantized{}, err
	}
	x, axes, low, high := g.x, g.axes, g.low, g.high
	one, zero := b.number(1), b.number(0)
	var scale, point *graph.Node
	if s.Affine {
		least := b.apply(kernel.Minimum, b.fold(kernel.Min, x, axes), zero)
		most := b.apply(kernel.Maximum, b.fold(kernel.Max, x, axes), zero)
		scale = b.apply(kernel.Divide, b.apply(kernel.Subtract, most, least), b.number(high-low))
		scale = b.apply(kernel.Where, b.apply(kernel.Greater, scale, zero), scale, one)
		point = b.apply(kernel.Rint, b.apply(kernel.Subtract, b.number(low), b.apply(kernel.Divide, least, scale)))
		point = b.apply(kernel.Minimum, b.apply(kernel.Maximum, point, b.number(low)), b.number(high))
	} else {
		most := b.fold(kernel.Max, b.apply(kernel.Absolute, x), axes)
		scale = b.apply(kernel.Divide, most, b.number((high-low-1)/2))
		scale = b.apply(kernel.Where, b.apply(kernel.Greater, scale, zero), scale, one)
		point = b.number((low + high + 1) / 2) // for which nothing is read
	}
	if b.err != nil {
		return Quantized{}, b.err
	}
	values := g.values(b, scale, point)
	if point = b.as(point, s.DType); len(point.Shape) == 0 && b.err == nil {
		point = b.do(graph.BroadcastTo(b.site, point, scale.Shape...))
	}
	return Quantized{Values: values, Scale: b.reshape(scale, s.shared(g.shape)), Zero: b.reshape(point, s.shared(g.shape))}, b.err
}

// groups are the shape in which elements that share a scale lie along whole axes, and
// those axes.
func (s Scheme) groups(shape []int) (wide, axes []int, err error) {
	if s.Axis == nil {
		if s.Block != 0 {
			return nil, nil, fmt.Errorf("blocks of %d need an axis along which they lie", s.Block)
		}
		for d := range shape {
			axes = append(axes, d)
		}
		return shape, axes, nil
	}
	at, err := grid.Axis(*s.Axis, len(shape))
	if err != nil {
		return nil, nil, err
	}
	if s.Block == 0 {
		for d := range shape {
			if d != at {
				axes = append(axes, d)
			}
		}
		return shape, axes, nil
	}
	if s.Block < 1 || shape[at]%s.Block != 0 {
		return nil, nil, fmt.Errorf("axis %d of shape %s is no whole number of blocks of %d: pad it, or take another block", *s.Axis, grid.Format(shape), s.Block)
	}
	return slices.Concat(shape[:at], []int{shape[at] / s.Block, s.Block}, shape[at+1:]), []int{at + 1}, nil
}

// shared is the shape of scales.
func (s Scheme) shared(shape []int) []int {
	out := make([]int, len(shape))
	for d := range out {
		out[d] = 1
	}
	if s.Axis == nil {
		return out
	}
	at, _ := grid.Axis(*s.Axis, len(shape))
	if s.Block == 0 {
		out[at] = shape[at]
		return out
	}
	copy(out, shape)
	out[at] = shape[at] / s.Block
	return out
}

// Dequantize brings integers back to floats of the scale's type. Where the scale has
// fewer indices along an axis, each stands for as many that follow each other.
func Dequantize(site graph.Site, values, scale, zero *graph.Node) (*graph.Node, error) {
	n, err := dequantize(&b{site: site}, values, scale, zero)
	if err != nil {
		return nil, graph.Reject(site, "dequantize", err, values, scale, zero)
	}
	return n, nil
}

func dequantize(b *b, values, scale, zero *graph.Node) (*graph.Node, error) {
	if !values.DType.Integer() || scale.DType.Kind() != dtype.KindFloat {
		return nil, fmt.Errorf("takes integers and a scale in floats, not %s and %s", values.DType, scale.DType)
	}
	if !slices.Equal(scale.Shape, zero.Shape) {
		return nil, fmt.Errorf("the scale has shape %s, the zero point %s", grid.Format(scale.Shape), grid.Format(zero.Shape))
	}
	shape := values.Shape
	if len(scale.Shape) == 0 {
		scale, zero = b.reshape(scale, ones(len(shape))), b.reshape(zero, ones(len(shape)))
	}
	if len(scale.Shape) != len(shape) {
		return nil, fmt.Errorf("the scale of shape %s has other dimensions than the values of shape %s", grid.Format(scale.Shape), grid.Format(shape))
	}
	var wide, few []int
	for d, n := range shape {
		if m := scale.Shape[d]; m == 1 || m == n {
			wide, few = append(wide, n), append(few, m)
		} else if m > 0 && n%m == 0 {
			wide, few = append(wide, m, n/m), append(few, m, 1)
		} else {
			return nil, fmt.Errorf("a scale of shape %s is not for values of shape %s", grid.Format(scale.Shape), grid.Format(shape))
		}
	}
	t := scale.DType
	x := b.as(b.reshape(values, wide), t)
	x = b.apply(kernel.Subtract, x, b.as(b.reshape(zero, few), t))
	x = b.apply(kernel.Multiply, x, b.reshape(scale, few))
	return b.reshape(x, shape), b.err
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
