package window

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("sliding_window_view", Sliding{}, blockwise.Exact, blockwise.OnlyMoves)
}

// Sliding is all windows of an array: its result has the axes of the array, shorter by
// what windows reach, and one for each window after them.
type Sliding struct {
	Dims    int   // of the array
	Axes    []int // that windows go along, each once
	Lengths []int // of windows
	Item    int   // bytes of an element
}

// reads are the lengths of the box of the array that a box of the result shows.
func (o Sliding) reads(box []int) []int {
	reads := slices.Clone(box[:o.Dims])
	for i, a := range o.Axes {
		reads[a] += max(box[o.Dims+i]-1, 0)
	}
	return reads
}

// Requirements is what the windows of a box show.
func (o Sliding) Requirements(box []int) blockwise.Requirements {
	reads := o.reads(box)
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: int64(grid.Size(reads) * o.Item)}
}

// Fill reads that once, and copies it window by window.
func (o Sliding) Fill(ctx context.Context, t *blockwise.Task) error {
	read := grid.Box{Start: slices.Clone(t.Box.Start[:o.Dims]), Shape: o.reads(t.Box.Shape)}
	for i, a := range o.Axes {
		read.Start[a] += t.Box.Start[o.Dims+i]
	}
	in := t.Scratch[:read.Size()*o.Item]
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		strides := grid.Strides(read.Shape)
		for _, a := range o.Axes {
			strides = append(strides, strides[a])
		}
		kernel.Copy(o.Item, t.Box.Shape, t.Dst, 0, grid.Strides(t.Box.Shape), in, 0, strides)
		return nil
	})
}

// View is NumPy's sliding_window_view: all windows of the given lengths along axes, or
// along all where none is given. It is part of whatever reads it, which sees each element
// as often as windows have it: Rolling reduces them without.
func View(site graph.Site, args ViewArgs) (_ *graph.Node, err error) {
	n, lengths, axes := args.X, args.Windows, args.Axes
	defer graph.Named(&err, site, "sliding_window_view", n)
	if len(axes) == 0 {
		for d := range n.Shape {
			axes = append(axes, d)
		}
	}
	if len(lengths) != len(axes) {
		return nil, fmt.Errorf("%d lengths of windows are not for %d axes", len(lengths), len(axes))
	}
	if len(axes) == 0 {
		return n, nil
	}
	if _, err := grid.Axes(axes, len(n.Shape)); err != nil {
		return nil, err
	}
	op := Sliding{Dims: len(n.Shape), Lengths: lengths, Item: n.DType.Size()}
	shape := slices.Clone(n.Shape)
	for i, a := range axes {
		at, err := grid.Axis(a, len(n.Shape))
		if err != nil {
			return nil, err
		}
		if shape[at], err = windows(n.Shape[at], lengths[i], at); err != nil {
			return nil, err
		}
		op.Axes = append(op.Axes, at)
	}
	shape = append(shape, lengths...)
	if grid.Size(shape) == 0 || grid.Size(n.Shape) == 0 {
		return graph.Reshape(site, n, shape...)
	}
	return graph.NewBlockwise(site, "sliding_window_view", op, shape, n.DType, []*graph.Node{n}, grid.Format(lengths))
}

// windows is how many windows of a length go along an axis.
func windows(length, window, axis int) (int, error) {
	if window < 1 || window > length {
		return 0, fmt.Errorf("a window of %d elements does not go along axis %d of length %d", window, axis, length)
	}
	return length - window + 1, nil
}

// KeptAxes are those of the array, before the windows'.
func (o Sliding) KeptAxes() []int {
	kept := grid.UpTo(o.Dims)
	for range o.Axes {
		kept = append(kept, -1)
	}
	return kept
}
