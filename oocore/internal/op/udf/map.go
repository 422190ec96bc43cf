package udf

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Mapped is a Go function of chunks.
type Mapped struct {
	Lengths []int                                 // of a chunk
	Call    Function                              `json:"-"`
	From    func(input int, at grid.Box) grid.Box `json:"-"` // of which box of an input; nil is of the same
	In      []Operand

	lender
}

// Operand is what is known of an input.
type Operand struct {
	Shape []int
	DType dtype.Type
}

// Chunks are the function's.
func (o *Mapped) Chunks() []int { return o.Lengths }

// from is the box of an input that a chunk is computed from.
func (o *Mapped) from(input int, at grid.Box) grid.Box {
	if o.From == nil {
		return at
	}
	return o.From(input, at)
}

// most are the lengths of the box of an input that the first chunk is computed from, of
// which none is longer.
func (o *Mapped) most(input int, chunk []int) []int {
	first := grid.Box{Start: make([]int, len(o.Lengths)), Shape: slices.Clone(o.Lengths)}
	for d := range first.Shape {
		first.Shape[d] = min(first.Shape[d], chunk[d])
	}
	return o.from(input, first).Shape
}

// Requirements is a chunk of each input.
func (o *Mapped) Requirements(box []int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	reads := make([][]int, len(o.In))
	for i, in := range o.In {
		reads[i] = o.most(i, box)
		m.Take(grid.Size(reads[i]) * in.DType.Size())
	}
	return blockwise.Requirements{Reads: reads, Scratch: m.Size()}
}

// Fill calls the function.
func (o *Mapped) Fill(ctx context.Context, t *blockwise.Task) error {
	m := t.ScratchLayout()
	src := make([][]byte, len(o.In))
	for i, in := range o.In {
		box := o.from(i, t.Box)
		if err := o.check(i, box); err != nil {
			return err
		}
		src[i] = m.Take(box.Size() * in.DType.Size())
		if err := read(ctx, t, i, box, src[i]); err != nil {
			return err
		}
	}
	return t.Compute(func() error { return o.call(o.Call, t.Dst, src, t.Box) })
}

// check rejects a box that From should not have returned.
func (o *Mapped) check(input int, box grid.Box) error {
	if o.From == nil {
		return nil
	}
	shape := o.In[input].Shape
	if len(box.Start) != len(shape) || len(box.Shape) != len(shape) {
		return fmt.Errorf("its Source gives %d dimensions for input %d of shape %s", len(box.Start), input, grid.Format(shape))
	}
	most := o.most(input, o.Lengths)
	for d, n := range box.Shape {
		switch {
		case n < 0 || box.Start[d] < 0 || box.Start[d]+n > shape[d]:
			return fmt.Errorf("its Source gives %s, which is not within input %d of shape %s", box, input, grid.Format(shape))
		case n > most[d]:
			return fmt.Errorf("its Source gives %s of input %d, which is longer than that of the first chunk, %s", box, input, grid.Format(most))
		}
	}
	return nil
}

// try asks for the boxes of the first chunk, and takes a panic for an error.
func (o *Mapped) try() (err error) {
	if o.From == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its Source panicked: %v", p)
		}
	}()
	for i := range o.In {
		first := grid.Box{Start: make([]int, len(o.Lengths)), Shape: slices.Clone(o.Lengths)}
		if err := o.check(i, o.From(i, first)); err != nil {
			return err
		}
	}
	return nil
}

// MapOptions are what a map may be told.
type MapOptions struct {
	Name   string // of the function
	Chunks []int  // lengths of the result's; nil chooses
	Shape  []int  // of the result; nil is that of the inputs, broadcast
	From   func(input int, at grid.Box) grid.Box
}

// Map is an array each chunk of which a function computes from boxes of the inputs. The
// inputs are broadcast together, unless From says which box of each it is.
func Map(site graph.Site, f Function, t dtype.Type, o MapOptions, in ...*graph.Node) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "map_chunks", in...)
	shape := o.Shape
	if o.From == nil && len(in) == 0 {
		if shape == nil {
			return nil, errors.New("has no inputs and no Shape of the result")
		}
	} else if o.From == nil {
		shapes := make([][]int, len(in))
		for i, n := range in {
			shapes[i] = n.Shape
		}
		broadcast, err := grid.Broadcast(shapes...)
		if err != nil {
			return nil, err
		}
		if shape == nil {
			shape = broadcast
		}
		if !slices.Equal(shape, broadcast) {
			return nil, fmt.Errorf("a result of shape %s from inputs of shape %s needs Source, which says what each of its chunks is computed from", grid.Format(shape), grid.Format(broadcast))
		}
		for i, n := range in {
			if in[i], err = graph.BroadcastTo(site, n, shape...); err != nil {
				return nil, err
			}
		}
	} else if shape == nil {
		return nil, errors.New("has a Source and no Shape of the result")
	}
	if err := grid.Check(shape, t.Size()); err != nil {
		return nil, err
	}
	op := &Mapped{Call: f, From: o.From, Lengths: o.Chunks}
	size := t.Size()
	for _, n := range in {
		op.In = append(op.In, Operand{n.Shape, n.DType})
		size = max(size, n.DType.Size())
	}
	if op.Lengths == nil {
		if o.From == nil {
			op.Lengths = chunks(shape, size, make([]int, len(shape)), in)
		} else {
			op.Lengths = chunks(shape, size, make([]int, len(shape)), nil)
		}
	} else if err := CheckChunks(op.Lengths, shape); err != nil {
		return nil, err
	}
	for d := range shape {
		op.Lengths = slices.Clone(op.Lengths)
		op.Lengths[d] = max(min(op.Lengths[d], shape[d]), 1)
	}
	if err := op.try(); err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = "map_chunks"
	}
	out, err := graph.NewBlockwise(site, name, op, shape, t, in)
	if err != nil || o.Shape != nil {
		return out, err
	}
	return graph.NameAxes(out, graph.AllAxes(in[0])...), nil
}
