package nn

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
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("pool2d", Pool{}) }

// Pool is the largest element or the mean of what a window shows of the last two axes.
// Padding counts as zeros in a mean, and not in a maximum.
type Pool struct {
	Window
	Mean bool // of float32 or float64; else the maximum, of real types but the 16-bit floats
	Type dtype.Type
}

func (p Pool) reads(box []int) []int {
	out := append([]int(nil), box...)
	for d := range 2 {
		out[len(box)-2+d] = p.seen(d, box[len(box)-2+d])
	}
	return out
}

// Requirements is what windows show for a box.
func (p Pool) Requirements(box []int) blockwise.Requirements {
	reads := p.reads(box)
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: int64(grid.Size(reads)) * int64(p.Type.Size())}
}

// Fill pools a box.
func (p Pool) Fill(ctx context.Context, t *blockwise.Task) error {
	if t.Box.Size() == 0 {
		return nil
	}
	last := len(t.Box.Shape) - 2
	at := grid.Box{Start: append([]int(nil), t.Box.Start...), Shape: append([]int(nil), t.Box.Shape...)}
	for d := range 2 {
		at.Start[last+d], at.Shape[last+d] = p.shows(d, t.Box.Start[last+d], t.Box.Shape[last+d])
	}
	src := t.Scratch[:at.Size()*p.Type.Size()]
	if len(src) > 0 {
		if err := t.In[0].Read(ctx, at, src); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		a, b := grid.Box{Start: at.Start[last:], Shape: at.Shape[last:]}, grid.Box{Start: t.Box.Start[last:], Shape: t.Box.Shape[last:]}
		return p.pool(t.Dst, src, grid.Size(t.Box.Shape[:last]), a, b)
	})
}

// pool pools images that lie one after the other.
func (p Pool) pool(dst, src []byte, images int, at, box grid.Box) error {
	all := largests
	if p.Mean {
		all = means
	}
	pool, ok := all[p.Type]
	if !ok {
		return fmt.Errorf("max_pool2d is not defined for %s", p.Type)
	}
	pool(p, dst, src, images, at, box)
	return nil
}

type pooling func(p Pool, to, from []byte, images int, at, box grid.Box)

var means = map[dtype.Type]pooling{dtype.Float32: mean[float32], dtype.Float64: mean[float64]}

var largests = map[dtype.Type]pooling{
	dtype.Int8: largest[int8], dtype.Int16: largest[int16], dtype.Int32: largest[int32], dtype.Int64: largest[int64],
	dtype.Uint8: largest[uint8], dtype.Uint16: largest[uint16], dtype.Uint32: largest[uint32], dtype.Uint64: largest[uint64],
	dtype.Float32: largest[float32], dtype.Float64: largest[float64],
}

// real are the types that have a largest element.
type real interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// largest is the maximum in each window, as by kernel.Maximum: NaN wins, and of two zeros the
// later.
func largest[T real](p Pool, to, from []byte, images int, at, box grid.Box) {
	dst, src := dtype.Slice[T](to), dtype.Slice[T](from)
	for i, shown := range windows(p, src, images, at, box) {
		var most T
		first := true
		for line := range shown.lines {
			for x := 0; x < shown.width; x += p.Dilation[1] {
				if v := line[x]; first || !(most > v || most != most) {
					most, first = v, false
				}
			}
		}
		dst[i] = most
	}
}

// mean is added up in float64, in C order of the window.
func mean[T float32 | float64](p Pool, to, from []byte, images int, at, box grid.Box) {
	dst, src := dtype.Slice[T](to), dtype.Slice[T](from)
	count := float64(p.Kernel[0] * p.Kernel[1])
	for i, shown := range windows(p, src, images, at, box) {
		sum := 0.0
		for line := range shown.lines {
			for x := 0; x < shown.width; x += p.Dilation[1] {
				sum += float64(line[x])
			}
		}
		dst[i] = T(sum / count)
	}
}

// show is what a window shows at one place, without padding.
type show[T real] struct {
	data          []T // from its first element
	width, height int // from its first element to its last, plus 1
	next, step    int // elements from a row to the next, and rows
}

func (s *show[T]) lines(yield func([]T) bool) {
	for y := 0; y < s.height; y += s.step {
		if !yield(s.data[y*s.next:][:s.width]) {
			return
		}
	}
}

// windows visits the places of a box of each image.
func windows[T real](p Pool, src []T, images int, at, box grid.Box) func(yield func(int, *show[T]) bool) {
	return func(yield func(int, *show[T]) bool) {
		rows, cols := at.Shape[0], at.Shape[1]
		s := &show[T]{next: cols, step: p.Dilation[0]}
		i := 0
		for n := range images {
			image := src[n*rows*cols:][:rows*cols]
			for y := range box.Shape[0] {
				top, height := p.part(0, box.Start[0]+y)
				for x := range box.Shape[1] {
					left, width := p.part(1, box.Start[1]+x)
					s.width, s.height, s.data = width, height, nil
					if width > 0 && height > 0 {
						s.data = image[(top-at.Start[0])*cols+left-at.Start[1]:]
					} else {
						s.width, s.height = 0, 0
					}
					if !yield(i, s) {
						return
					}
					i++
				}
			}
		}
	}
}

// part is the first element in the image that the window shows at a place, and how many
// there are from it to the last.
func (w Window) part(d, place int) (first, length int) {
	first = place*w.Stride[d] - w.Padding[d]
	end := min(first+w.span(d), w.Image[d])
	if first < 0 {
		first += (-first + w.Dilation[d] - 1) / w.Dilation[d] * w.Dilation[d]
	}
	return first, max(end-first, 0)
}

// PoolOptions are arguments of MaxPool2D and AvgPool2D, along rows and columns. A zero
// stride is the kernel.
type PoolOptions struct {
	Kernel, Stride, Padding [2]int
}

// MaxPool2D is PyTorch's max_pool2d: the largest element in each window of the last two
// axes. Padding takes no part.
func MaxPool2D(site graph.Site, x *graph.Node, o PoolOptions) (*graph.Node, error) {
	return pooled(site, "max_pool2d", x, o, false)
}

// AvgPool2D is PyTorch's avg_pool2d: the mean of each window of the last two axes.
// Padding counts as zeros. Means of integers are float64.
func AvgPool2D(site graph.Site, x *graph.Node, o PoolOptions) (*graph.Node, error) {
	return pooled(site, "avg_pool2d", x, o, true)
}

func pooled(site graph.Site, name string, x *graph.Node, o PoolOptions, mean bool) (*graph.Node, error) {
	out, err := pool(site, name, x, o, mean)
	return graph.Result(site, name, out, err, x)
}

func pool(site graph.Site, name string, x *graph.Node, o PoolOptions, mean bool) (*graph.Node, error) {
	if len(x.Shape) < 2 {
		return nil, fmt.Errorf("takes images (..., H, W), not shape %s", grid.Format(x.Shape))
	}
	if x.DType == dtype.Bool || x.DType.Kind() == dtype.KindComplex {
		return nil, fmt.Errorf("is not defined for %s", x.DType)
	}
	for d := range 2 {
		if o.Stride[d] == 0 {
			o.Stride[d] = o.Kernel[d]
		}
		if o.Padding[d] > o.Kernel[d]/2 {
			return nil, errors.New("a padding of more than half of the kernel shows windows of nothing else")
		}
	}
	last := len(x.Shape) - 2
	w, err := NewWindow([2]int(x.Shape[last:]), o.Kernel, o.Stride, o.Padding, [2]int{1, 1})
	if err != nil {
		return nil, err
	}
	result := x.DType
	if mean || result.Short() {
		if x, result, err = computed(site, x); err != nil {
			return nil, err
		}
	}
	shape := append([]int(nil), x.Shape...)
	for d := range 2 {
		if w.Image[d] == 0 {
			return nil, fmt.Errorf("images of shape %s have no elements", grid.Format(x.Shape))
		}
		shape[last+d] = w.out(d)
	}
	args := []string{fmt.Sprintf("%d×%d", o.Kernel[0], o.Kernel[1])}
	out, err := graph.NewBlockwise(site, name, Pool{Window: w, Mean: mean, Type: x.DType}, shape, x.DType, []*graph.Node{x}, args...)
	if err != nil {
		return nil, err
	}
	return graph.AsType(site, out, result)
}

// Formula adds up in the order that Fill does.
func (p Pool) Formula(shape []int) *blockwise.Formula {
	if p.Kernel[0] > blockwise.MaxTerms || p.Kernel[0]*p.Kernel[1] > blockwise.MaxTerms/4 {
		return nil
	}
	last := len(shape) - 2
	see := window.Window{Shape: slices.Concat(shape[:last], p.Image[:]), DType: p.Type, Lo: make([]int, last+2), Hi: make([]int, last+2), Mode: window.Constant}
	switch {
	case p.Mean:
		see.Value = dtype.FromFloat(p.Type, 0)
	case p.Type.Kind() == dtype.KindFloat:
		see.Value = dtype.FromFloat(p.Type, math.Inf(-1))
	case p.Type.Kind() == dtype.KindInt:
		see.Value = dtype.FromInt(p.Type, math.MinInt64>>(64-8*p.Type.Size()))
	default:
		see.Value = dtype.FromInt(p.Type, 0)
	}
	for d, n := range p.Padding {
		see.Lo[last+d], see.Hi[last+d] = n, n
	}
	f := window.Formula(see)
	for d := range 2 {
		f.Windows[0].Step[last+d], f.Windows[0].Extent[last+d] = p.Stride[d], p.span(d)
	}
	at := make([]int, last+2)
	folded := -1
	if p.Mean {
		folded = f.Number(dtype.Float64, 0)
	}
	for k := range window.Counting(p.Kernel[:]) {
		at[last], at[last+1] = k[0]*p.Dilation[0], k[1]*p.Dilation[1]
		switch x := f.Tap(0, at...); {
		case p.Mean:
			folded = f.Apply(kernel.Add, folded, f.Cast(x, dtype.Float64))
		case folded < 0:
			folded = x
		default:
			folded = f.Apply(kernel.Maximum, folded, x)
		}
	}
	if p.Mean {
		count := f.Number(dtype.Float64, float64(p.Kernel[0]*p.Kernel[1]))
		folded = f.Cast(f.Apply(kernel.Divide, folded, count), p.Type)
	}
	f.Result = folded
	return f
}
