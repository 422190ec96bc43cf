package udf

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

// None is the border that ends with the array.
const None window.Mode = "none"

// Overlapped is a Go function of chunks with their neighbours: it sets all that it sees,
// of which the middle is kept.
type Overlapped struct {
	Window  window.Window
	Lengths []int    // of a chunk
	Call    Function `json:"-"`
	Result  dtype.Type

	lender
}

// Chunks are the function's.
func (o *Overlapped) Chunks() []int { return o.Lengths }

// Requirements is a chunk with its border, as read and as seen, and the function's result of it.
func (o *Overlapped) Requirements(box []int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	o.memory(&m, box)
	return blockwise.Requirements{Reads: [][]int{o.Window.Reads(box)}, Scratch: m.Size()}
}

func (o *Overlapped) memory(m *blockwise.ScratchLayout, box []int) (in, src, dst []byte) {
	in = m.Take(int(o.Window.Bytes(box)))
	if o.Window.Mode == None {
		return in, in, m.Take(grid.Size(o.Window.Reads(box)) * o.Result.Size())
	}
	with := grid.Size(o.Window.Lengths(box))
	return in, m.Take(with * o.Window.DType.Size()), m.Take(with * o.Result.Size())
}

// seen is what the function sees of a box: with its border, which ends with the array
// where there is none beyond.
func (o *Overlapped) seen(box grid.Box) grid.Box {
	at := grid.Box{Start: make([]int, len(box.Start)), Shape: make([]int, len(box.Shape))}
	for d, start := range box.Start {
		low, high := start-o.Window.Lo[d], start+box.Shape[d]+o.Window.Hi[d]
		if o.Window.Mode == None {
			low, high = max(low, 0), min(high, o.Window.Shape[d])
		}
		at.Start[d], at.Shape[d] = low, high-low
	}
	return at
}

// Fill calls the function and trims what it sets.
func (o *Overlapped) Fill(ctx context.Context, t *blockwise.Task) error {
	at := o.seen(t.Box)
	in, src, dst := o.memory(t.ScratchLayout(), t.Box.Shape)
	src, dst = src[:at.Size()*o.Window.DType.Size()], dst[:at.Size()*o.Result.Size()]
	if o.Window.Mode == None {
		if err := read(ctx, t, 0, at, src); err != nil {
			return err
		}
	} else {
		seen, err := o.Window.Read(ctx, t.In[0], t.Box, in)
		if err != nil {
			return err
		}
		if err := t.Compute(func() error { seen.Show(src, t.Box); return nil }); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		if err := o.call(o.Call, dst, [][]byte{src}, at); err != nil {
			return err
		}
		strided.Copy(o.Result.Size(), t.Box, t.Dst, t.Box, dst, at)
		return nil
	})
}

// OverlapOptions are what Overlap is told.
type OverlapOptions struct {
	Name     string // of the function
	Depth    []int  // of the border along each axis, or one number for all
	Boundary window.Mode
	Value    float64
	Chunks   []int
}

// Overlap is an array each chunk of which a function computes from that chunk of the
// input with its border.
func Overlap(site graph.Site, f Function, t dtype.Type, o OverlapOptions, x *graph.Node) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "overlap", x)
	depth, err := window.Each("depths", o.Depth, len(x.Shape))
	if err != nil {
		return nil, err
	}
	for d, n := range depth {
		if n < 0 {
			return nil, fmt.Errorf("the depth %d along axis %d is negative", n, d)
		}
		if n > x.Shape[d] {
			return nil, fmt.Errorf("the depth %d along axis %d is more than the array's length %d", n, d, x.Shape[d])
		}
	}
	b := window.Border{Mode: o.Boundary, Value: o.Value}
	if o.Boundary == None { // which windows do not know
		b.Mode = window.Nearest
	}
	w, err := window.Around(x.Shape, x.DType, depth, depth, b)
	if err != nil {
		return nil, fmt.Errorf("%w, nor %s", err, None)
	}
	if o.Boundary == None {
		w.Mode = None
	}
	lengths := o.Chunks
	if lengths == nil {
		lengths = chunks(x.Shape, max(x.DType.Size(), t.Size()), depth, []*graph.Node{x})
	} else if err := CheckChunks(lengths, x.Shape); err != nil {
		return nil, err
	}
	lengths = slices.Clone(lengths)
	for d, n := range x.Shape {
		lengths[d] = max(min(lengths[d], n), 1)
	}
	name := o.Name
	if name == "" {
		name = "overlap"
	}
	op := &Overlapped{Window: w, Lengths: lengths, Call: f, Result: t}
	return graph.NewBlockwise(site, name, op, x.Shape, t, []*graph.Node{x})
}
