package udf

import (
	"context"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
)

// Feed hands the parts of an array along an axis to a function, one after the other in
// their order, while it reads those that follow. Its result, a byte for each part, has no
// use: a run that computes it is what reads the parts, within its budget and once.
type Feed struct {
	Shape []int // of the input
	DType dtype.Type
	Axis  int
	Size  int                                                                 // of a part; the last may be shorter
	Call  func(ctx context.Context, part int, data []byte, at grid.Box) error `json:"-"`

	lender
	mu      sync.Mutex
	next    int // the part whose turn it is
	waiting map[int]chan struct{}
}

// Chunks are the parts.
func (o *Feed) Chunks() []int { return []int{1} }

// Rounding is Exact: a Go function's results are its own.
func (*Feed) Rounding() blockwise.Rounding { return blockwise.Exact }

func (o *Feed) part(i int) grid.Box {
	at := grid.Box{Start: make([]int, len(o.Shape)), Shape: slices.Clone(o.Shape)}
	at.Start[o.Axis] = i * o.Size
	at.Shape[o.Axis] = min(o.Size, o.Shape[o.Axis]-i*o.Size)
	return at
}

// Requirements is a part.
func (o *Feed) Requirements([]int) blockwise.Requirements {
	most := o.part(0).Shape
	return blockwise.Requirements{Reads: [][]int{most}, Scratch: int64(grid.Size(most) * o.DType.Size())}
}

// Fill reads a part, and hands it over when those before it have been.
func (o *Feed) Fill(ctx context.Context, t *blockwise.Task) error {
	i := t.Box.Start[0]
	at := o.part(i)
	data := t.Scratch[:at.Size()*o.DType.Size()]
	if err := read(ctx, t, 0, at, data); err != nil {
		return err
	}
	select {
	case <-o.turn(i):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.Dst[0] = 1
	err := o.call(func(_ []byte, src [][]byte, at grid.Box) error { return o.Call(ctx, i, src[0], at) }, nil, [][]byte{data}, at)
	if err != nil {
		return err
	}
	o.done(i)
	return nil
}

// turn is closed when it is a part's turn.
func (o *Feed) turn(i int) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := make(chan struct{})
	if i == o.next {
		close(c)
	} else {
		o.waiting[i] = c
	}
	return c
}

func (o *Feed) done(i int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next = i + 1
	if c, ok := o.waiting[o.next]; ok {
		delete(o.waiting, o.next)
		close(c)
	}
}

// Feeding is a node that hands parts of size elements along an axis to call.
func Feeding(site graph.Site, x *graph.Node, axis, size int, call func(ctx context.Context, part int, data []byte, at grid.Box) error) (*graph.Node, error) {
	op := &Feed{Shape: x.Shape, DType: x.DType, Axis: axis, Size: size, Call: call, waiting: map[int]chan struct{}{}}
	parts := (x.Shape[axis] + size - 1) / size
	return graph.NewBlockwise(site, "batches", op, []int{parts}, dtype.Uint8, []*graph.Node{x})
}
