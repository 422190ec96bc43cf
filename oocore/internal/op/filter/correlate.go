package filter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("filter.direct_conv", DirectConv{}, blockwise.KeepsAxes) }

// DirectConv is the sum of what a window shows times weights, in float64 and in C order of
// the window. Weights of zero take no part, so that a NaN or infinity there does not
// either.
type DirectConv struct {
	window.Window
	Weights []float64 // in C order; nil takes them from the second input
}

func (o DirectConv) work(m *blockwise.ScratchLayout, tile []int) (in, sums []byte) {
	_, parts := parts(o.DType)
	with, without := elements(&o.Window, tile)
	return m.Take(with * parts * 8), m.Take(without * parts * 8)
}

// Requirements is the box with its border, and a tile in float64. A core does about eight
// products in a nanosecond.
func (o DirectConv) Requirements(box []int) blockwise.Requirements {
	n := grid.Size(o.Window.Sizes())
	need := need(&o.Window, box, func(m *blockwise.ScratchLayout, tile []int) {
		o.work(m, tile)
		if o.Weights == nil {
			m.Take(n * 8)
		}
	})
	need.Work = int64(grid.Size(box)) * int64(n) / 8
	if o.Weights == nil {
		need.Reads = append(need.Reads, o.Window.Sizes())
	}
	return need
}

// Fill sums.
func (o DirectConv) Fill(ctx context.Context, t *blockwise.Task) error {
	weights := o.Weights
	if weights == nil {
		bytes := grid.Size(o.Window.Sizes()) * 8
		own := t.Scratch[:bytes]
		if err := t.In[1].Read(ctx, grid.Entire(o.Window.Sizes()), own); err != nil {
			return err
		}
		weights = dtype.Slice[float64](own)
		rest := *t
		rest.Scratch = t.Scratch[blockwise.Aligned(bytes):]
		t = &rest
	}
	real, count := parts(o.DType)
	wide, narrow := cast(real, dtype.Float64), cast(dtype.Float64, real)
	return fill(ctx, &o.Window, t, func(m *blockwise.ScratchLayout, tile []int) func(dst, src []byte, tile []int) {
		in, sums := o.work(m, tile)
		x, y := dtype.Slice[float64](in), dtype.Slice[float64](sums)
		var of []int // the tile that p is for
		var p *taps
		return func(dst, src []byte, tile []int) {
			with, without := elements(&o.Window, tile)
			wide(with*count, in, src)
			if !slices.Equal(of, tile) {
				of, p = tile, o.taps(tile, weights)
			}
			p.sum(y[:without*count], x, numbers(rowsOf(&o.Window, tile), count))
			if o.DType.Integer() {
				whole(y[:without], 1.0/(1<<40))
			}
			narrow(without*count, dst, sums)
		}
	})
}

// whole makes whole numbers of those that only rounding keeps from being such, which are
// relatively this close: else a filter of an even area of integers would be one less,
// where its weights add up to 1.
func whole(sums []float64, close float64) {
	for i, v := range sums {
		if r := math.RoundToEven(v); math.Abs(v-r) <= close*(math.Abs(v)+1) {
			sums[i] = r
		}
	}
}

// taps are the weights for a tile.
func (o DirectConv) taps(tile []int, weights []float64) *taps {
	_, count := parts(o.DType)
	offsets := offsetsOf(&o.Window, tile)
	for i := range offsets {
		offsets[i] *= count
	}
	sizes := o.Window.Sizes()
	for len(sizes) > 0 && sizes[len(sizes)-1] == 1 {
		sizes = sizes[:len(sizes)-1]
	}
	return newTaps(offsets, weights, sizes)
}

// numbers are rows of elements as rows of the numbers that they are made of.
func numbers(r rows, count int) rows {
	r.n *= count
	r.stride = slices.Clone(r.stride)
	for d := range r.stride {
		r.stride[d] *= count
	}
	return r
}

// Correlate is scipy.ndimage.correlate: each element is the sum over a window of what it
// shows times the weights, an array of real numbers. The result has x's type; of
// integers the fraction is cut off, as there, but not where rounding alone made it.
func Correlate(site graph.Site, a WeightArgs) (*graph.Node, error) {
	out, err := correlate(site, "correlate", a.X, a.Weights, a.Border, false)
	return graph.Result(site, "correlate", out, err, a.X, a.Weights)
}

// Convolve is scipy.ndimage.convolve: Correlate with the weights reversed along all axes.
func Convolve(site graph.Site, a WeightArgs) (*graph.Node, error) {
	out, err := correlate(site, "convolve", a.X, a.Weights, a.Border, true)
	return graph.Result(site, "convolve", out, err, a.X, a.Weights)
}

func correlate(site graph.Site, name string, x, weights *graph.Node, b window.Border, reversed bool) (*graph.Node, error) {
	if err := summable(x); err != nil {
		return nil, err
	}
	if len(weights.Shape) != len(x.Shape) {
		return nil, fmt.Errorf("weights of shape %s have other dimensions than the array, of shape %s", grid.Format(weights.Shape), grid.Format(x.Shape))
	}
	if weights.DType.Kind() == dtype.KindComplex {
		return nil, errors.New("takes weights of real numbers: filter with their real and their imaginary part")
	}
	if grid.Size(weights.Shape) == 0 {
		return nil, fmt.Errorf("weights of shape %s have no elements", grid.Format(weights.Shape))
	}
	weights, err := graph.AsType(site, weights, dtype.Float64)
	if err != nil {
		return nil, err
	}
	if reversed {
		if weights, err = reverse(site, weights); err != nil {
			return nil, err
		}
		if b.Origin != nil {
			if b.Origin, err = window.Each("origins", b.Origin, len(x.Shape)); err != nil {
				return nil, err
			}
		} else {
			b.Origin = make([]int, len(x.Shape))
		}
		for d, n := range weights.Shape {
			b.Origin[d] = -b.Origin[d] - (n+1)%2
		}
	}
	w, err := window.New(x.Shape, x.DType, weights.Shape, b)
	if err != nil {
		return nil, err
	}
	var op blockwise.Op = DirectConv{Window: w}
	if grid.Size(weights.Shape) > manyTaps {
		op = transformed(w)
	}
	return graph.NewBlockwise(site, name, op, x.Shape, x.DType, []*graph.Node{x, weights}, args(b)...)
}

// reverse turns an array around along all axes.
func reverse(site graph.Site, n *graph.Node) (*graph.Node, error) {
	if len(n.Shape) == 0 {
		return n, nil
	}
	return graph.Slice(site, n, strings.Repeat("::-1,", len(n.Shape)))
}

// summable rejects bools, of which sums and means are no more.
func summable(x *graph.Node) error {
	if x.DType == dtype.Bool {
		return errors.New("takes numbers, not bools: AsType first")
	}
	return nil
}

// args are what titles say of a border.
func args(b window.Border) []string {
	var out []string
	if b.Mode != "" {
		out = append(out, fmt.Sprintf("%q", string(b.Mode)))
	}
	if b.Value != 0 {
		out = append(out, fmt.Sprint(b.Value))
	}
	return out
}

// Formula adds up in the order that Fill does, and rounds as often.
func (o DirectConv) Formula([]int) *blockwise.Formula {
	const terms = 6 // of an element, at the most
	sizes := o.Window.Sizes()
	if o.DType.Kind() == dtype.KindComplex || grid.Size(sizes) > blockwise.MaxTerms/terms {
		return nil
	}
	f := window.Formula(o.Window)
	if o.Weights == nil {
		own := blockwise.Window{Input: 1, Border: window.Inside{}, Type: dtype.Float64, Extent: sizes}
		for range sizes {
			own.Axis, own.Step = append(own.Axis, -1), append(own.Step, 1)
		}
		f.Windows = append(f.Windows, own)
	}
	zero := f.Number(dtype.Float64, 0)
	sum, k := zero, -1
	for at := range window.Counting(sizes) {
		if k++; o.Weights != nil && o.Weights[k] == 0 {
			continue
		}
		x := f.Cast(f.Tap(0, at...), dtype.Float64)
		if o.Weights != nil {
			sum = f.AddProduct(f.Number(dtype.Float64, o.Weights[k]), x, sum)
			continue
		}
		weight := f.Tap(1, at...)
		sum = f.Apply(kernel.Where, f.Apply(kernel.Equal, weight, zero), sum, f.AddProduct(weight, x, sum))
	}
	if o.DType.Integer() { // as whole does
		near := f.Apply(kernel.Rint, sum)
		off := f.Apply(kernel.Absolute, f.Apply(kernel.Subtract, sum, near))
		size := f.Apply(kernel.Add, f.Apply(kernel.Absolute, sum), f.Number(dtype.Float64, 1))
		close := f.Apply(kernel.LessEqual, off, f.Apply(kernel.Multiply, f.Number(dtype.Float64, 1.0/(1<<40)), size))
		sum = f.Apply(kernel.Where, close, near, sum)
	}
	f.Result = f.Cast(sum, o.DType)
	return f
}
