package udf

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Along is a Go function of lines: it sets a line of the result, of Length elements, from
// one of the input along Axis.
type Along struct {
	Shape   []int // of the input
	DType   dtype.Type
	Result  dtype.Type
	Axis    int
	Length  int
	Lengths []int                        // of a chunk: the result's whole axis
	Call    func(dst, line []byte) error `json:"-"`

	lender
}

// Chunks are whole lines.
func (o *Along) Chunks() []int { return o.Lengths }

// input is the box of the input that a box of whole lines is computed from.
func (o *Along) input(box grid.Box) grid.Box {
	in := grid.Box{Start: box.Start, Shape: slices.Clone(box.Shape)}
	in.Shape[o.Axis] = o.Shape[o.Axis]
	return in
}

// Requirements is the lines of a chunk, as read and one after the other, and those of the result.
func (o *Along) Requirements(box []int) blockwise.Requirements {
	in := o.input(grid.Box{Start: make([]int, len(box)), Shape: box}).Shape
	var m blockwise.ScratchLayout
	o.memory(&m, box)
	return blockwise.Requirements{Reads: [][]int{in}, Scratch: m.Size()}
}

func (o *Along) memory(m *blockwise.ScratchLayout, box []int) (in, lines, results []byte) {
	n := grid.Size(box) / max(box[o.Axis], 1)
	in = m.Take(n * o.Shape[o.Axis] * o.DType.Size())
	if grid.Size(box[o.Axis+1:]) == 1 { // as they are read
		return in, in, nil
	}
	return in, m.Take(n * o.Shape[o.Axis] * o.DType.Size()), m.Take(n * o.Length * o.Result.Size())
}

// Fill calls the function for each line.
func (o *Along) Fill(ctx context.Context, t *blockwise.Task) error {
	box := o.input(t.Box)
	in, lines, results := o.memory(t.ScratchLayout(), t.Box.Shape)
	in = in[:box.Size()*o.DType.Size()]
	if err := read(ctx, t, 0, box, in); err != nil {
		return err
	}
	turned := results != nil
	if !turned {
		results = t.Dst
	}
	return t.Compute(func() error {
		if turned {
			shape, stride := along(box.Shape, o.Axis)
			kernel.Copy(o.DType.Size(), shape, lines, 0, grid.Strides(shape), in, 0, stride)
		}
		n := len(t.Dst) / max(o.Length*o.Result.Size(), 1)
		from, to := o.Shape[o.Axis]*o.DType.Size(), o.Length*o.Result.Size()
		err := o.call(func(dst []byte, src [][]byte, _ grid.Box) error {
			for i := range n {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := o.Call(dst[i*to:(i+1)*to:(i+1)*to], src[0][i*from:(i+1)*from:(i+1)*from]); err != nil {
					return err
				}
			}
			return nil
		}, results[:n*to], [][]byte{lines[:n*from]}, t.Box)
		if err != nil {
			return err
		}
		if turned {
			shape, stride := along(t.Box.Shape, o.Axis)
			kernel.Copy(o.Result.Size(), shape, t.Dst, 0, stride, results, 0, grid.Strides(shape))
		}
		return nil
	})
}

// along is a shape with an axis moved to the end, and the strides that its axes have in
// the shape itself.
func along(shape []int, axis int) (turned, strides []int) {
	turned = append(slices.Delete(slices.Clone(shape), axis, axis+1), shape[axis])
	own := grid.Strides(shape)
	return turned, append(slices.Delete(slices.Clone(own), axis, axis+1), own[axis])
}

// AlongOptions are what ApplyAlong is told.
type AlongOptions struct {
	Name   string // of the function
	Axis   int
	Length int // of a line of the result; -1 is the input's
}

// ApplyAlong is an array of what a function makes of each line of x along an axis.
func ApplyAlong(site graph.Site, f func(dst, line []byte) error, t dtype.Type, o AlongOptions, x *graph.Node) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "apply_along", x)
	axis, err := grid.Axis(o.Axis, len(x.Shape))
	if err != nil {
		return nil, err
	}
	length := o.Length
	switch {
	case length == -1:
		length = x.Shape[axis]
	case length < 0:
		return nil, fmt.Errorf("a line length of %d: give 1 or more, or -1", length)
	}
	shape := slices.Clone(x.Shape)
	shape[axis] = length
	// As many lines as chunkBytes hold, and one at least: neighbours in the file first.
	lengths := make([]int, len(shape))
	lengths[axis] = max(length, 1)
	lines := max(chunkBytes/max(x.Shape[axis]*x.DType.Size(), length*t.Size(), 1), 1)
	for d := len(shape) - 1; d >= 0; d-- {
		if d != axis {
			lengths[d] = max(min(shape[d], lines), 1)
			lines = max(lines/lengths[d], 1)
		}
	}
	name := o.Name
	if name == "" {
		name = "apply_along"
	}
	op := &Along{Shape: x.Shape, DType: x.DType, Result: t, Axis: axis, Length: length, Lengths: lengths, Call: f}
	return graph.NewBlockwise(site, name, op, shape, t, []*graph.Node{x}, fmt.Sprintf("axis %d", axis))
}
