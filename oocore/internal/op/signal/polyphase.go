package signal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("signal.polyphase", Polyphase{}, blockwise.KeepsAxes) }

// Polyphase filters what has Up - 1 zeros behind each element along an axis, and takes each Down-th element of it: of
// 2·Half + 1 taps, its second input in float64, an element is multiplied by each Up-th. Its window, without a border
// of its own, says what lies beyond the ends of lines.
type Polyphase struct {
	window.Window
	Axis, Up, Down, Half int
}

// from is the first element that one of the result is made of.
func (o Polyphase) from(at int) int {
	return int(math.Floor(float64(at*o.Down-o.Half+o.Up-1) / float64(o.Up)))
}

// span is the box of the input that a box of the result shows at most.
func (o Polyphase) span(box []int) []int {
	span := slices.Clone(box)
	span[o.Axis] = (max(box[o.Axis]-1, 0)*o.Down+2*o.Half)/o.Up + 2
	return span
}

// Requirements is what the filter shows of the input, that with what lies beyond its ends, and the taps.
func (o Polyphase) Requirements(box []int) blockwise.Requirements {
	span := o.span(box)
	taps := 2*o.Half + 1
	return blockwise.Requirements{
		Reads:   [][]int{o.Reads(span), {taps}},
		Scratch: blockwise.Aligned(8*taps) + blockwise.Aligned(grid.Size(span)*o.DType.Size()) + o.Bytes(span),
		Work:    int64(grid.Size(box)) * int64(taps/o.Up+1),
	}
}

// Fill sums rows of the other axes.
func (o Polyphase) Fill(ctx context.Context, t *blockwise.Task) error {
	taps := 2*o.Half + 1
	scratch := t.Scratch
	take := func(n int) []byte {
		part := scratch[:n]
		scratch = scratch[blockwise.Aligned(n):]
		return part
	}
	weights := take(8 * taps)
	if err := t.In[1].Read(ctx, grid.Entire([]int{taps}), weights); err != nil {
		return err
	}
	begin, n := t.Box.Start[o.Axis], t.Box.Shape[o.Axis]
	shown := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
	shown.Start[o.Axis] = o.from(begin)
	shown.Shape[o.Axis] = o.from((begin + n - 1)) + 2*o.Half/o.Up + 1 - shown.Start[o.Axis]
	in := take(shown.Size() * o.DType.Size())
	seen, err := o.Read(ctx, t.In[0], shown, scratch)
	if err != nil {
		return err
	}
	return t.Compute(func() error {
		seen.Show(in, shown)
		h, x, y := dtype.Slice[float64](weights), dtype.Slice[float64](in), dtype.Slice[float64](t.Dst)
		row := grid.Size(t.Box.Shape[o.Axis+1:]) * o.DType.Size() / 8
		clear(y)
		for range grid.Size(t.Box.Shape[:o.Axis]) {
			for i := range n {
				dst := y[i*row:][:row]
				for j, k := o.from(begin+i), 0; ; j++ {
					if k = (begin+i)*o.Down + o.Half - j*o.Up; k < 0 {
						break
					}
					w := h[k]
					for c, v := range x[(j-shown.Start[o.Axis])*row:][:row] {
						dst[c] += w * v
					}
				}
			}
			x, y = x[shown.Shape[o.Axis]*row:], y[n*row:]
		}
		return nil
	})
}

// ResamplePoly is scipy.signal.resample_poly with the filter that SciPy makes of a window's name.
func ResamplePoly(site graph.Site, a ResampleArgs) (*graph.Node, error) {
	out, err := resamplePoly(&graph.Maker{Site: site}, a)
	return graph.Result(site, "resample_poly", out, graph.Unnamed(err), a.X)
}

// ends are SciPy's names of what lies beyond the ends of lines.
var ends = map[string]window.Mode{"constant": window.Constant, "symmetric": window.Reflect, "reflect": window.Mirror, "edge": window.Nearest, "wrap": window.Wrap}

// levels are those that are taken off lines, so that what lies beyond their ends is like zero.
var levels = map[string]kernel.Reduction{"mean": kernel.Mean, "minimum": kernel.Min, "maximum": kernel.Max}

func resamplePoly(m *graph.Maker, a ResampleArgs) (*graph.Node, error) {
	axis, err := grid.Axis(a.Axis, len(a.X.Shape))
	mode, known := ends[a.PadType]
	kind, levelled := levels[a.PadType]
	switch {
	case err != nil:
		return nil, err
	case a.Up < 1 || a.Down < 1:
		return nil, fmt.Errorf("up and down are 1 or more, not %d and %d", a.Up, a.Down)
	case !known && !levelled && a.PadType != "median":
		return nil, fmt.Errorf("the padtype %q is unknown: use constant, edge, reflect, symmetric, wrap, mean, median, minimum or maximum", a.PadType)
	case a.Value != 0 && a.PadType != "constant":
		return nil, errors.New("takes cval with the padtype constant only")
	}
	common := gcd(a.Up, a.Down)
	up, down := a.Up/common, a.Down/common
	x := a.X
	t := floating(x.DType)
	if up == 1 && down == 1 {
		return m.Cast(x, t), m.Err
	}
	if max(up, down) > mostRate {
		return nil, fmt.Errorf("up and down in lowest terms are at most %d, not %d and %d", mostRate, up, down)
	}
	half := 10 * max(up, down)
	taps, err := lowPass(a.Window, half, max(up, down))
	if err != nil {
		return nil, err
	}
	for i := range taps {
		taps[i] *= float64(up)
	}
	shape := slices.Clone(x.Shape)
	shape[axis] = (shape[axis]*up + down - 1) / down
	if grid.Size(shape) == 0 {
		return m.Full(dtype.FromInt(t, 0), shape...), m.Err
	}
	wide, _ := filtered(m, x)
	var level *graph.Node
	if !known {
		mode = window.Constant
		if levelled {
			level = m.Reduce(kind, wide, graph.ReduceOptions{Axes: []int{axis}, KeepDims: true})
		} else {
			level = m.Make(func() (*graph.Node, error) {
				return order.Median(m.Site, wide, order.QuantileOptions{Axes: []int{axis}, KeepDims: true})
			})
		}
		wide = m.Apply(kernel.Subtract, wide, level)
	}
	if m.Err != nil {
		return nil, m.Err
	}
	none := make([]int, len(shape))
	w, err := window.Around(x.Shape, wide.DType, none, none, window.Border{Mode: mode, Value: a.Value})
	if err != nil {
		return nil, err
	}
	o := Polyphase{Window: w, Axis: axis, Up: up, Down: down, Half: half}
	out := m.Blockwise("resample_poly", o, shape, wide.DType, []*graph.Node{wide, m.Bytes(dtype.Bytes(taps), dtype.Float64, len(taps))}, fmt.Sprint(a.Up), fmt.Sprint(a.Down), fmt.Sprint(axis))
	if level != nil {
		out = m.Apply(kernel.Add, out, level)
	}
	return m.Cast(out, t), m.Err
}

// mostRate bounds the length of a filter, which has twenty times as many taps.
const mostRate = 1 << 16

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// lowPass is SciPy's firwin: 2·half + 1 taps of a filter that keeps one in rate of all frequencies, whose sum is 1.
func lowPass(name string, half, rate int) ([]float64, error) {
	taps, err := shaped(name, 2*half+1)
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for i := range taps {
		if at := math.Pi * float64(i-half) / float64(rate); at != 0 {
			taps[i] *= math.Sin(at) / at
		}
		sum += taps[i]
	}
	for i := range taps {
		taps[i] /= sum
	}
	return taps, nil
}
