package filter

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("filter.running", Running{}, blockwise.KeepsAxes) }

// Running folds what a window along one axis shows: means for Add, Minimum or Maximum.
// It doubles: windows of 2, 4, 8 … elements are each two of the size before, and the
// window is some of these. Sums are in float64, added in pairs.
type Running struct {
	window.Window
	Axis int
	Op   kernel.Op
}

// wide is the type that it computes in.
func (o Running) wide() dtype.Type {
	real, _ := parts(o.DType)
	switch {
	case o.Op == kernel.Add:
		return dtype.Float64
	case real == dtype.Bool:
		return dtype.Uint8
	case real.Short():
		return dtype.Float32
	}
	return real
}

// work is memory for two windows of doubling sizes and what has been folded.
func (o Running) work(m *blockwise.ScratchLayout, tile []int) (a, b, folded []byte) {
	_, parts := parts(o.DType)
	with, without := elements(&o.Window, tile)
	size := o.wide().Size() * parts
	return m.Take(with * size), m.Take(with * size), m.Take(without * size)
}

// Requirements is the box with its border along the axis, and tiles.
func (o Running) Requirements(box []int) blockwise.Requirements {
	return need(&o.Window, box, func(m *blockwise.ScratchLayout, tile []int) { o.work(m, tile) })
}

// Fill folds.
func (o Running) Fill(ctx context.Context, t *blockwise.Task) error {
	real, count := parts(o.DType)
	wide, narrow := cast(real, o.wide()), cast(o.wide(), real)
	fold, _ := kernel.Lookup(o.Op, o.wide())
	divide, _ := kernel.Lookup(kernel.Divide, dtype.Float64)
	n := o.Lo[o.Axis] + o.Hi[o.Axis] + 1
	size := o.wide().Size()
	return fill(ctx, &o.Window, t, func(m *blockwise.ScratchLayout, tile []int) func(dst, src []byte, tile []int) {
		a, b, folded := o.work(m, tile)
		var by [512]float64
		for i := range by {
			by[i] = float64(n)
		}
		return func(dst, src []byte, tile []int) {
			with, without := elements(&o.Window, tile)
			wide(with*count, a, src)
			// Elements of one run along the axis, with all that lies within a step of it,
			// follow each other, so that a window's next element is inner numbers away.
			inner := count * grid.Size(tile[o.Axis+1:])
			in, out := (tile[o.Axis]+n-1)*inner, tile[o.Axis]*inner
			for at := range grid.Size(tile[:o.Axis]) {
				o.double(fold, folded[at*out*size:][:out*size], a[at*in*size:][:in*size], b[at*in*size:][:in*size], n, inner*size)
			}
			if o.Op == kernel.Add {
				for at := 0; at < without*count; at += len(by) {
					part := folded[at*8:]
					divide(min(len(by), without*count-at), part, part, dtype.Bytes(by[:]), nil)
				}
			}
			narrow(without*count, dst, folded)
		}
	})
}

// double folds windows of n elements, each step bytes after the one before, which begin
// at the elements of x as far as dst reaches. It overwrites x and spare.
func (o Running) double(fold kernel.Func, dst, x, spare []byte, n, step int) {
	size := o.wide().Size()
	done := 0 // elements of each window that dst has
	for width := 1; ; width *= 2 {
		if n&width != 0 {
			if part := x[done*step:]; done == 0 {
				copy(dst, part)
			} else {
				fold(len(dst)/size, dst, dst, part, nil)
			}
			done += width
		}
		if done == n {
			return
		}
		left := len(x) - width*step
		fold(left/size, spare, x, x[width*step:], nil)
		x, spare = spare[:left], x
	}
}

// Uniform is scipy.ndimage.uniform_filter: the mean of a window of the given lengths,
// axis by axis. Of integers the fraction is cut off after each axis, as there.
func Uniform(site graph.Site, a SizeArgs) (*graph.Node, error) {
	return running(site, "uniform_filter", kernel.Add, a.X, a.Sizes, a.Border, summable(a.X))
}

// Minimum is scipy.ndimage.minimum_filter: the smallest element of a window of the given
// lengths; NaN where there is one.
func Minimum(site graph.Site, a SizeArgs) (*graph.Node, error) {
	return running(site, "minimum_filter", kernel.Minimum, a.X, a.Sizes, a.Border, ordered(a.X))
}

// Maximum is scipy.ndimage.maximum_filter: the largest element of a window of the given
// lengths; NaN where there is one.
func Maximum(site graph.Site, a SizeArgs) (*graph.Node, error) {
	return running(site, "maximum_filter", kernel.Maximum, a.X, a.Sizes, a.Border, ordered(a.X))
}

// ordered rejects complex numbers.
func ordered(x *graph.Node) error {
	if x.DType.Kind() == dtype.KindComplex {
		return errors.New("compares numbers, and complex ones have no order: take Real, Imag or Abs")
	}
	return nil
}

func running(site graph.Site, name string, op kernel.Op, x *graph.Node, sizes []int, b window.Border, err error) (*graph.Node, error) {
	if err != nil {
		return nil, graph.Reject(site, name, err, x)
	}
	whole, err := window.New(x.Shape, x.DType, sizes, b)
	if err != nil {
		return nil, graph.Reject(site, name, err, x)
	}
	for d := range x.Shape {
		n := whole.Lo[d] + whole.Hi[d] + 1
		if n == 1 {
			continue
		}
		w := whole
		w.Lo, w.Hi = make([]int, len(x.Shape)), make([]int, len(x.Shape))
		w.Lo[d], w.Hi[d] = whole.Lo[d], whole.Hi[d]
		args := append([]string{fmt.Sprint(n), fmt.Sprintf("axis %d", d)}, args(b)...)
		if x, err = graph.NewBlockwise(site, name, Running{Window: w, Axis: d, Op: op}, x.Shape, x.DType, []*graph.Node{x}, args...); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Formula folds in the order that Fill does.
func (o Running) Formula([]int) *blockwise.Formula {
	n := o.Lo[o.Axis] + o.Hi[o.Axis] + 1
	if o.DType.Kind() == dtype.KindComplex || n > blockwise.MaxTerms/4 {
		return nil
	}
	f := window.Formula(o.Window)
	// windows are terms, by the first element and the length, which is a power of two.
	windows := map[[2]int]int{}
	var fold func(at, width int) int
	fold = func(at, width int) int {
		if term, ok := windows[[2]int{at, width}]; ok {
			return term
		}
		var term int
		if width == 1 {
			place := make([]int, len(o.Shape))
			place[o.Axis] = at
			term = f.Cast(f.Tap(0, place...), o.wide())
		} else {
			term = f.Apply(o.Op, fold(at, width/2), fold(at+width/2, width/2))
		}
		windows[[2]int{at, width}] = term
		return term
	}
	folded, done := 0, 0
	for width := 1; done < n; width *= 2 {
		switch {
		case n&width == 0:
			continue
		case done == 0:
			folded = fold(0, width)
		default:
			folded = f.Apply(o.Op, folded, fold(done, width))
		}
		done += width
	}
	if o.Op == kernel.Add {
		folded = f.Apply(kernel.Divide, folded, f.Number(dtype.Float64, float64(n)))
	}
	f.Result = f.Cast(folded, o.DType)
	return f
}
