package udf

import (
	"context"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Feed hands the chunks of a grid over an array to a function, one after the other in
// C order, while it reads those that follow. Its result, a byte for each chunk, has no
// use: a run that computes it is what reads the chunks, within its budget and once.
type Feed struct {
	Grid  grid.Grid // over the input
	DType dtype.Type
	Call  func(ctx context.Context, part int, data []byte, at grid.Box) error `json:"-"`

	lender
	mu      sync.Mutex
	next    int // the chunk whose turn it is
	waiting map[int]chan struct{}
}

// Chunks are one of the input's each.
func (o *Feed) Chunks() []int { return []int{1} }

// Requirements is a chunk.
func (o *Feed) Requirements([]int) blockwise.Requirements {
	most := slices.Clone(o.Grid.Chunks)
	for d, n := range o.Grid.Shape {
		most[d] = min(most[d], n)
	}
	return blockwise.Requirements{Reads: [][]int{most}, Scratch: int64(grid.Size(most) * o.DType.Size())}
}

// InOrder says that chunks are read in C order.
func (o *Feed) InOrder() {}

// Fill reads a chunk, and hands it over when those before it have been.
func (o *Feed) Fill(ctx context.Context, t *blockwise.Task) error {
	i := t.Box.Start[0]
	at := o.Grid.Box(i)
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

// turn is closed when it is a chunk's turn.
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

// Feeding is a node that hands chunks of these lengths to call.
func Feeding(site graph.Site, x *graph.Node, chunks []int, call func(ctx context.Context, part int, data []byte, at grid.Box) error) (*graph.Node, error) {
	op := &Feed{Grid: grid.Grid{Shape: x.Shape, Chunks: chunks}, DType: x.DType, Call: call, waiting: map[int]chan struct{}{}}
	return graph.NewBlockwise(site, graph.Batches, op, []int{op.Grid.Len()}, dtype.Uint8, []*graph.Node{x})
}
