// Package pad puts elements around arrays, in all modes of NumPy's pad.
package pad

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Padding says what Array puts around an array. Lists have a pair for each axis, before
// and after, or one pair for all of them.
type Padding struct {
	Mode   string   // as NumPy names it; "" is constant
	Values [][2]any // of constant, and the ends of linear_ramp; none: zero
	Stat   [][2]int // how many elements maximum, mean, median and minimum are of; none: all
	Odd    bool     // of reflect and symmetric: twice the edge less the reflected
}

// modes are those of NumPy's pad.
var modes = []string{"constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap", "empty"}

// Array puts elements before and after an array along its axes, as NumPy's pad; those of
// mode empty are zeros. Axes are padded one after the other, so that corners follow
// from what the axes before have been padded with.
func Array(site graph.Site, n *graph.Node, widths [][2]int, p Padding) (*graph.Node, error) {
	if p.Mode == "" {
		p.Mode = "constant"
	}
	out, err := pad(site, n, widths, p)
	return shape.Named(site, "pad", n)(out, err)
}

func pad(site graph.Site, n *graph.Node, widths [][2]int, p Padding) (*graph.Node, error) {
	dims := len(n.Shape)
	if !slices.Contains(modes, p.Mode) {
		return nil, fmt.Errorf("mode %q is unknown: use one of %s", p.Mode, strings.Join(modes, ", "))
	}
	constant, ramp := p.Mode == "constant", p.Mode == "linear_ramp"
	mirror := p.Mode == "reflect" || p.Mode == "symmetric"
	_, stat := statistics[p.Mode]
	switch {
	case p.Values != nil && !constant && !ramp:
		return nil, fmt.Errorf("mode %s takes no values: constant and linear_ramp do", p.Mode)
	case p.Stat != nil && !stat:
		return nil, fmt.Errorf("mode %s is of no elements: maximum, mean, median and minimum are", p.Mode)
	case p.Odd && !mirror:
		return nil, fmt.Errorf("mode %s is not odd: reflect and symmetric may be", p.Mode)
	}
	widths, err := pairs(widths, dims, "widths")
	if err != nil {
		return nil, err
	}
	to := slices.Clone(n.Shape)
	for d, w := range widths {
		if w[0] < 0 || w[1] < 0 {
			return nil, fmt.Errorf("widths %d and %d of axis %d are not both zero or more", w[0], w[1], d)
		}
		if w[0] > math.MaxInt-w[1] || to[d] > math.MaxInt-w[0]-w[1] {
			return nil, fmt.Errorf("widths %d and %d are more than 63 bits count", w[0], w[1])
		}
		if to[d] == 0 && w[0]+w[1] > 0 && !constant && p.Mode != "empty" {
			return nil, fmt.Errorf("axis %d has no elements to pad with: only constant and empty extend it", d)
		}
		to[d] += w[0] + w[1]
	}
	if err := grid.Check(to, n.DType.Size()); err != nil {
		return nil, err
	}
	switch {
	case !constant && p.Mode != "empty" && grid.Size(n.Shape) == 0:
		return shape.Empty(site, n.DType, to), nil
	case ramp:
		return padRamps(site, n, widths, p)
	case stat:
		return padStatistics(site, n, widths, p)
	case p.Odd:
		return padOdd(site, n, widths, p.Mode == "symmetric")
	}
	op := shape.IndexMap{Axes: make([]shape.Axis, dims)}
	for d, w := range widths {
		a := shape.Axis{Kind: shape.Kind(p.Mode), Shift: w[0]}
		switch {
		case w == [2]int{}:
			a = shape.Axis{}
		case p.Mode == "empty":
			a.Kind = shape.KindConstant
		}
		op.Axes[d] = a
	}
	if constant || p.Mode == "empty" {
		if op.Values, err = values(p.Values, dims, n.DType); err != nil {
			return nil, err
		}
	}
	args := []string{spelled(widths)}
	if !constant {
		args = append(args, p.Mode)
	}
	return shape.Map(site, "pad", n, op, to, args...)
}

// pairs brings one pair to all axes.
func pairs[T any](list [][2]T, dims int, what string) ([][2]T, error) {
	if len(list) == 1 && dims != 1 {
		list = slices.Repeat(list, dims)
	}
	if len(list) != dims {
		return nil, fmt.Errorf("%d pairs of %s are not for %d axes: give one for all, or one for each", len(list), what, dims)
	}
	return list, nil
}

// spelled is widths as an argument in a title.
func spelled(widths [][2]int) string {
	if same := slices.Equal(widths, slices.Repeat(widths[:min(1, len(widths))], len(widths))); same && len(widths) > 0 {
		if widths[0][0] == widths[0][1] {
			return fmt.Sprint(widths[0][0])
		}
		widths = widths[:1]
	}
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = fmt.Sprintf("%d, %d", w[0], w[1])
	}
	return strings.Join(parts, ", ")
}

// values are numbers as elements.
func values(list [][2]any, dims int, t dtype.Type) ([][2]dtype.Value, error) {
	if list == nil {
		list = [][2]any{{0, 0}}
	}
	list, err := pairs(list, dims, "values")
	if err != nil {
		return nil, err
	}
	out := make([][2]dtype.Value, dims)
	for d := range list {
		for side, v := range list[d] {
			if out[d][side], err = Element(v, t); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Element is a number as an element of a type that has it, rounded where that is a
// float.
func Element(v any, t dtype.Type) (dtype.Value, error) {
	x, _, err := dtype.Scalar(v)
	if err != nil {
		return x, err
	}
	if f := x.Float(); t.Integer() && x.Type.Kind() == dtype.KindFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		x = dtype.ValueOf(int64(f))
	}
	out, ok := x.Convert(t)
	if ok && t.Integer() && x.Type.Kind() <= dtype.KindInt {
		if x.Type == dtype.Uint64 {
			ok = t == dtype.Uint64 || x.Lo <= math.MaxInt64 && t.Fits(x.Int())
		} else {
			ok = t.Fits(x.Int())
		}
	}
	if !ok {
		return out, fmt.Errorf("%v is no %s", x, t)
	}
	return out, nil
}

// around puts one array before another along an axis, and one after it; nil is none.
func around(m *graph.Maker, n *graph.Node, axis int, before, after *graph.Node) *graph.Node {
	if m.Err != nil {
		return nil
	}
	all := make([]*graph.Node, 0, 3)
	for _, part := range []*graph.Node{before, n, after} {
		if part != nil {
			all = append(all, m.Cast(part, n.DType))
		}
	}
	return m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, axis, all...) })
}

// statistics are the modes that fold elements.
var statistics = map[string]kernel.Reduction{"maximum": kernel.Max, "minimum": kernel.Min, "mean": kernel.Mean, "median": 0}

// padStatistics pads with what elements at each end amount to, rounded where the
// array's are integers.
func padStatistics(site graph.Site, n *graph.Node, widths [][2]int, p Padding) (*graph.Node, error) {
	counts := p.Stat
	if counts == nil {
		counts = [][2]int{{math.MaxInt, math.MaxInt}}
	}
	counts, err := pairs(counts, len(n.Shape), "numbers of elements")
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	for axis, w := range widths {
		length := n.Shape[axis]
		var sides [2]*graph.Node
		for side, width := range w {
			if counts[axis][side] < 1 {
				return nil, fmt.Errorf("the %s of %d elements is not defined", p.Mode, counts[axis][side])
			}
			if width == 0 {
				continue
			}
			count := min(counts[axis][side], length)
			begin := side * (length - count)
			part := m.Part(n, axis, begin, begin+count)
			if p.Mode == "median" {
				part = m.Make(func() (*graph.Node, error) {
					return order.Median(site, part, order.QuantileOptions{Axes: []int{axis}, KeepDims: true})
				})
			} else {
				part = m.Reduce(statistics[p.Mode], part, graph.ReduceOptions{Axes: []int{axis}, KeepDims: true})
			}
			if n.DType.Integer() {
				part = m.Make(func() (*graph.Node, error) { return graph.Round(site, part, 0) })
			}
			to := slices.Clone(n.Shape)
			to[axis] = width
			sides[side] = m.BroadcastTo(part, to...)
		}
		if n = around(m, n, axis, sides[0], sides[1]); m.Err != nil {
			return nil, m.Err
		}
	}
	return n, nil
}

// padRamps pads with numbers at equal distances between the edge and an end value.
func padRamps(site graph.Site, n *graph.Node, widths [][2]int, p Padding) (*graph.Node, error) {
	wide := dtype.Float64
	if n.DType.Kind() == dtype.KindComplex {
		wide = dtype.Complex128
	}
	ends, err := values(p.Values, len(n.Shape), wide)
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	for axis, w := range widths {
		var sides [2]*graph.Node
		for side, width := range w {
			if width == 0 {
				continue
			}
			at := side * (n.Shape[axis] - 1)
			edge := m.Part(n, axis, at, at+1)
			edge = m.Make(func() (*graph.Node, error) { return kept(site, edge) })
			ramp := rampTo(m, edge, axis, width, ends[axis][side], n.DType.Integer())
			if side == 1 {
				sides[1] = graph.Call(m, shape.Flip, op.Axes{X: ramp, Axes: []int{axis}})
			} else {
				sides[0] = ramp
			}
		}
		if n = around(m, n, axis, sides[0], sides[1]); m.Err != nil {
			return nil, m.Err
		}
	}
	return n, nil
}

// rampTo is width numbers along an axis from start towards an edge, which is not among
// them: as NumPy's linspace, that computes in float64, and otherwise where a step is
// zero, which differs in the last place.
func rampTo(m *graph.Maker, edge *graph.Node, axis, width int, start dtype.Value, whole bool) *graph.Node {
	if m.Err != nil {
		return nil
	}
	from, by := m.Full(start), m.Full(dtype.FromInt(start.Type, int64(width)))
	lengths := slices.Repeat([]int{1}, len(edge.Shape))
	lengths[axis] = width
	at := m.Cast(m.Reshape(m.Arange(width), lengths...), start.Type)
	delta := m.Apply(kernel.Subtract, m.Cast(edge, start.Type), from)
	step := m.Apply(kernel.Divide, delta, by)
	still := m.Reduce(kernel.Any, m.Apply(kernel.Equal, step, m.Full(dtype.FromInt(start.Type, 0))), graph.ReduceOptions{})
	slow := m.Apply(kernel.Multiply, m.Apply(kernel.Divide, at, by), delta)
	out := m.Apply(kernel.Add, m.Apply(kernel.Where, still, slow, m.Apply(kernel.Multiply, at, step)), from)
	if whole {
		out = m.Apply(kernel.Floor, out)
	}
	return out
}

func init() { blockwise.Register("materialise", Materialise{}, blockwise.Exact, blockwise.KeepsAxes) }

// Materialise is an array that is computed once, in chunks of the given lengths, where what
// follows reads it several times.
type Materialise struct{ Lengths []int }

// Chunks are the lengths.
func (o Materialise) Chunks() []int { return o.Lengths }

// Requirements is the box itself.
func (o Materialise) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{slices.Clone(box)}, DisjointReads: true}
}

// Fill reads the box.
func (o Materialise) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.In[0].Read(ctx, t.Box, t.Dst)
}

// kept computes an array once.
func kept(site graph.Site, n *graph.Node) (*graph.Node, error) {
	return graph.NewBlockwise(site, "edge", Materialise{grid.Auto(n.Shape, n.DType.Size(), 1<<20)}, n.Shape, n.DType, []*graph.Node{n})
}
