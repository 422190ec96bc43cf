// Package quantize maps floats to small integers, x ≈ (q - zero point) · scale, or to floats of 8
// bits, x ≈ q · scale: with a scale and a zero point for the whole array, for each index of an
// axis, for each block along one, or for each square block of the last two. It is made of
// reductions and elementwise operations alone.
package quantize

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
)

// Scheme says how.
type Scheme struct {
	DType dtype.Type // Int8, Uint8 or a float of 8 bits
	// Axis has a scale of its own for each of its indices; with Block, for each so many
	// of them, and for each index of the other axes. nil is one scale for all; with Block, one
	// for each Block by Block elements in the last two axes, the last of which may be cut short.
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
// extremes, and once to map it. NaN becomes the zero point of integers.
func Quantize(site graph.Site, x *graph.Node, s Scheme) (Quantized, error) {
	q, err := quantize(&graph.Maker{Site: site}, x, s)
	if err != nil {
		return Quantized{}, graph.Reject(site, "quantize", err, x)
	}
	return q, nil
}

// With is Quantize with scales and zero points that are known, of the shapes that Quantize
// gives them. It reads the array once.
func With(site graph.Site, x, scale, zero *graph.Node, s Scheme) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	g, err := s.grouped(m, x)
	if err != nil {
		return nil, graph.Reject(site, "quantize", err, x)
	}
	values := g.values(m, m.Reshape(scale, g.few...), m.Cast(m.Reshape(zero, g.few...), g.x.DType))
	if m.Err != nil {
		return nil, graph.Reject(site, "quantize", m.Err, x, scale, zero)
	}
	return values, nil
}

// grouped is an array in the shape in which elements that share a scale lie along whole
// axes, and the range of its integers.
type grouped struct {
	Scheme
	x         *graph.Node
	shape     []int // of the array
	padded    []int // of whole blocks
	axes      []int
	few       []int // of the scales: one index along those axes
	low, high float64
}

func (s Scheme) grouped(m *graph.Maker, x *graph.Node) (*grouped, error) {
	g := &grouped{Scheme: s, shape: x.Shape, padded: x.Shape, low: -128, high: 127}
	switch s.DType {
	case dtype.Int8:
	case dtype.Uint8:
		g.low, g.high = 0, 255
	case dtype.Float8E4M3FN:
		g.low, g.high = -448, 448
	case dtype.Float8E5M2:
		g.low, g.high = -57344, 57344
	default:
		return nil, fmt.Errorf("gives int8, uint8, float8_e4m3fn or float8_e5m2, not %s", s.DType)
	}
	if s.Affine && s.DType.StorageOnly() {
		return nil, fmt.Errorf("has no zero point in %s: leave out affine", s.DType)
	}
	if x.DType.Kind() != dtype.KindFloat {
		return nil, fmt.Errorf("takes floats, not %s", x.DType)
	}
	if grid.Size(x.Shape) == 0 {
		return nil, fmt.Errorf("shape %s has no elements", grid.Format(x.Shape))
	}
	if x.DType.Short() || x.DType.StorageOnly() {
		x = m.Cast(x, dtype.Float32)
	}
	if s.Axis == nil && s.Block != 0 {
		var err error
		if x, err = squares(m, x, s.Block); cmp.Or(err, m.Err) != nil {
			return nil, cmp.Or(err, m.Err)
		}
		g.padded = x.Shape
	}
	wide, axes, err := s.groups(g.padded)
	if err != nil {
		return nil, err
	}
	g.x, g.axes, g.few = m.Reshape(x, wide...), axes, slices.Clone(wide)
	for _, d := range axes {
		g.few[d] = 1
	}
	return g, m.Err
}

// values are the integers, given scales and zero points in floats.
func (g *grouped) values(m *graph.Maker, scale, point *graph.Node) *graph.Node {
	if g.DType.StorageOnly() {
		steps := m.Apply(kernel.Divide, g.x, scale)
		steps = m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, steps, m.Number(g.low)), m.Number(g.high))
		return part(m, m.Reshape(m.Cast(steps, g.DType), g.padded...), g.shape)
	}
	low := g.low
	if !g.Affine { // as far from the middle on either side
		low = (low+g.high+1)/2 - (g.high-low-1)/2
	}
	steps := m.Apply(kernel.Add, m.Apply(kernel.Rint, m.Apply(kernel.Divide, g.x, scale)), point)
	steps = m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, steps, m.Number(low)), m.Number(g.high))
	steps = m.Apply(kernel.Where, m.Apply(kernel.IsNaN, steps), point, steps)
	return part(m, m.Reshape(m.Cast(steps, g.DType), g.padded...), g.shape)
}

func quantize(m *graph.Maker, x *graph.Node, s Scheme) (Quantized, error) {
	g, err := s.grouped(m, x)
	if err != nil {
		return Quantized{}, err
	}
	x, axes, low, high := g.x, g.axes, g.low, g.high
	fold := func(kind kernel.Reduction, x *graph.Node) *graph.Node {
		if len(axes) == 0 {
			return x
		}
		return m.Reduce(kind, x, graph.ReduceOptions{Axes: axes, KeepDims: true})
	}
	one, zero := m.Number(1.0), m.Number(0.0)
	var scale, point *graph.Node
	if s.Affine {
		least := m.Apply(kernel.Minimum, fold(kernel.Min, x), zero)
		most := m.Apply(kernel.Maximum, fold(kernel.Max, x), zero)
		scale = m.Apply(kernel.Divide, m.Apply(kernel.Subtract, most, least), m.Number(high-low))
		scale = m.Apply(kernel.Where, m.Apply(kernel.Greater, scale, zero), scale, one)
		point = m.Apply(kernel.Rint, m.Apply(kernel.Subtract, m.Number(low), m.Apply(kernel.Divide, least, scale)))
		point = m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, point, m.Number(low)), m.Number(high))
	} else {
		most := fold(kernel.Max, m.Apply(kernel.Absolute, x))
		if s.DType.Integer() {
			high = (high - low - 1) / 2
		}
		scale = m.Apply(kernel.Divide, most, m.Number(high))
		scale = m.Apply(kernel.Where, m.Apply(kernel.Greater, scale, zero), scale, one)
		point = m.Number(map[dtype.Type]float64{dtype.Uint8: 128}[s.DType]) // for which nothing is read
	}
	if m.Err != nil {
		return Quantized{}, m.Err
	}
	values := g.values(m, scale, point)
	if point = m.Cast(point, s.DType); m.Err == nil && len(point.Shape) == 0 {
		point = m.BroadcastTo(point, scale.Shape...)
	}
	return Quantized{Values: values, Scale: m.Reshape(scale, s.shared(g.shape)...), Zero: m.Reshape(point, s.shared(g.shape)...)}, m.Err
}

// groups are the shape in which elements that share a scale lie along whole axes, and
// those axes.
func (s Scheme) groups(shape []int) (wide, axes []int, err error) {
	if s.Axis == nil {
		if n := len(shape); s.Block != 0 {
			rows, columns := shape[n-2]/s.Block, shape[n-1]/s.Block
			return slices.Concat(shape[:n-2], []int{rows, s.Block, columns, s.Block}), []int{n - 1, n + 1}, nil
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

// shared returns the shape of the scales of an array of a shape.
func (s Scheme) shared(shape []int) []int {
	out := slices.Repeat([]int{1}, len(shape))
	if s.Axis == nil {
		if n := len(shape); s.Block != 0 {
			copy(out, shape)
			out[n-2], out[n-1] = blocks(shape[n-2], s.Block), blocks(shape[n-1], s.Block)
		}
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

// blocks is how many blocks hold n elements.
func blocks(n, block int) int { return (n + block - 1) / block }

// squares pads an array with zeros to whole blocks in the last two axes.
func squares(m *graph.Maker, x *graph.Node, block int) (*graph.Node, error) {
	n := len(x.Shape)
	if block < 1 || n < 2 {
		return nil, fmt.Errorf("shape %s has no blocks of %d by %d: give an axis along which they lie", grid.Format(x.Shape), block, block)
	}
	widths := make([][2]int, n)
	for d := n - 2; d < n; d++ {
		widths[d][1] = blocks(x.Shape[d], block)*block - x.Shape[d]
	}
	if widths[n-2][1]+widths[n-1][1] == 0 || m.Err != nil {
		return x, nil
	}
	return pad.Array(m.Site, x, widths, pad.Padding{})
}

// part is the beginning of an array along each axis.
func part(m *graph.Maker, n *graph.Node, of []int) *graph.Node {
	if m.Err != nil || slices.Equal(n.Shape, of) {
		return n
	}
	spec := make([]string, len(of))
	for d, length := range of {
		spec[d] = ":" + strconv.Itoa(length)
	}
	return m.Slice(n, "%s", strings.Join(spec, ", "))
}

// Dequantize brings quantized values back to floats of the scale's type; zero may be nil. Where the
// scale has fewer indices along an axis, each stands for as many that follow each other; with a
// block, for so many in each of the last two axes, where the last may stand for fewer.
func Dequantize(site graph.Site, a DequantizeArgs) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	n, err := dequantize(m, graph.Computable(site, a.Q), graph.Computable(site, a.Scale), a.Zero, a.Block)
	return graph.Result(site, "dequantize", n, err, a.Q, a.Scale)
}

func dequantize(m *graph.Maker, values, scale, zero *graph.Node, block int) (*graph.Node, error) {
	if values.DType.Kind() != dtype.KindFloat && !values.DType.Integer() || scale.DType.Kind() != dtype.KindFloat {
		return nil, fmt.Errorf("takes integers or floats and a scale in floats, not %s and %s", values.DType, scale.DType)
	}
	if zero != nil && !slices.Equal(scale.Shape, zero.Shape) {
		return nil, fmt.Errorf("the scale has shape %s, the zero point %s", grid.Format(scale.Shape), grid.Format(zero.Shape))
	}
	shape := values.Shape
	if block != 0 {
		have := scale.Shape
		padded, err := squares(m, values, block)
		if err != nil || m.Err != nil {
			return nil, cmp.Or(err, m.Err)
		}
		want := Scheme{Block: block}.shared(shape)
		if !slices.Equal(have, want) {
			return nil, fmt.Errorf("blocks of %d by %d of values of shape %s have scales of shape %s, not %s", block, block, grid.Format(shape), grid.Format(want), grid.Format(have))
		}
		values = padded
	}
	of := shape
	shape = values.Shape
	if len(scale.Shape) == 0 {
		scale = m.Reshape(scale, slices.Repeat([]int{1}, len(shape))...)
	}
	if len(scale.Shape) != len(shape) {
		return nil, fmt.Errorf("the scale of shape %s has other dimensions than the values of shape %s", grid.Format(scale.Shape), grid.Format(shape))
	}
	var wide, few []int
	for d, n := range shape {
		if k := scale.Shape[d]; block != 0 && d >= len(shape)-2 {
			wide, few = append(wide, k, block), append(few, k, 1)
		} else if k == 1 || k == n {
			wide, few = append(wide, n), append(few, k)
		} else if k > 0 && n%k == 0 {
			wide, few = append(wide, k, n/k), append(few, k, 1)
		} else {
			return nil, fmt.Errorf("a scale of shape %s is not for values of shape %s", grid.Format(scale.Shape), grid.Format(shape))
		}
	}
	t := scale.DType
	x := m.Cast(m.Reshape(values, wide...), t)
	if zero != nil {
		x = m.Apply(kernel.Subtract, x, m.Cast(m.Reshape(zero, few...), t))
	}
	x = m.Apply(kernel.Multiply, x, m.Reshape(scale, few...))
	return part(m, m.Reshape(x, shape...), of), m.Err
}
