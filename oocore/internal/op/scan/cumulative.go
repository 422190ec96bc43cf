// Package scan has the operations that go along an axis in order: cumulative sums and
// products, differences of neighbours, and gradients.
package scan

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// A line is cut into blocks. Totals adds up each; Carries adds up the totals before
// each block; Running goes through the elements of a block from what is carried into
// it. So an element depends on its block's elements and on the blocks before, whatever
// box it is computed in.

func init() {
	blockwise.Register("scan_totals", Totals{})
	blockwise.Register("scan_carries", Carries{})
	blockwise.Register("scan", Running{}, blockwise.KeepsAxes)
}

// Scan is a cumulative sum or product along an axis.
type Scan struct {
	Product bool
	Shape   []int
	Axis    int
	Block   int // elements of a line that go together
	Type    dtype.Type
	// Rule is of another scan than these, of rules.go, with its Numbers: how many elements it fills at
	// most (0 is all), what a step leaves of a sum, a period and how far neighbours may be apart, or a filter.
	Rule    string    `json:",omitempty"`
	Numbers []float64 `json:",omitempty"`
}

const (
	// blockBytes are about those of a block with its neighbours.
	blockBytes = 256 << 10
	// blocksMost is how many blocks a line has at most, so that what they carry stays
	// small.
	blocksMost = 256 << 10
	taskBytes  = 4 << 20
)

func newScan(product bool, n *graph.Node, axis int) Scan { return Scan{Product: product}.of(n, axis) }

// of is the scan of an array along an axis.
func (s Scan) of(n *graph.Node, axis int) Scan {
	length := n.Shape[axis]
	s.Shape, s.Axis, s.Type = n.Shape, axis, n.DType
	s.Block = max(s.least()*max(s.words()/4, 1), (length+blocksMost-1)/blocksMost) // so that states are fewer than elements
	if length < 2*s.Block {
		s.Block = max(length, 1)
	}
	return s
}

// least is the length of a block of a line that is not so long that blocks are longer.
func (s Scan) least() int {
	return max(blockBytes/(min(grid.Size(s.Shape[s.Axis+1:]), 1024)*s.Type.Size()), 64)
}

// tile is how much of a block is read at once.
func (s Scan) tile() int { return min(s.Block, s.least()) }

// blocks is the number of blocks of a line.
func (s Scan) blocks() int { return (s.Shape[s.Axis] + s.Block - 1) / s.Block }

// states is the shape of what blocks carry.
func (s Scan) states() []int {
	shape := append(slices.Clone(s.Shape), s.words())
	shape[s.Axis] = s.blocks()
	return shape
}

// around are the sizes of a box before, along and after the axis.
func (s Scan) around(box []int) (outer, n, inner int) {
	return grid.Size(box[:s.Axis]), box[s.Axis], grid.Size(box[s.Axis+1 : len(s.Shape)])
}

// Totals is what each block carries on by itself.
type Totals struct{ Scan }

// Chunks are as many blocks as make some megabytes.
func (s Totals) Chunks() []int {
	box := s.states()
	copy(box, grid.Auto(box[:len(s.Shape)], s.Block*s.Type.Size(), taskBytes))
	return box
}

// Requirements is a tile of a block of each line.
func (s Totals) Requirements(box []int) blockwise.Requirements {
	read := slices.Clone(box[:len(s.Shape)])
	read[s.Axis] = s.tile()
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(grid.Size(read) * s.Type.Size()), DisjointReads: true}
}

// Fill adds up block by block.
func (s Totals) Fill(ctx context.Context, t *blockwise.Task) error {
	dims := len(s.Shape)
	outer, blocks, inner := s.around(t.Box.Shape)
	box := grid.Box{Start: slices.Clone(t.Box.Start[:dims]), Shape: slices.Clone(t.Box.Shape[:dims])}
	bytes := inner * s.words() * 8
	for b := range blocks {
		begin := (t.Box.Start[s.Axis] + b) * s.Block
		end := min(begin+s.Block, s.Shape[s.Axis])
		for at := begin; at < end; at += s.tile() {
			box.Start[s.Axis], box.Shape[s.Axis] = at, min(s.tile(), end-at)
			in := t.Scratch[:box.Size()*s.Type.Size()]
			if err := t.ComputeFrom(ctx, 0, box, in, func() error {
				for o := range outer {
					state := t.Dst[(o*blocks+b)*bytes:][:bytes]
					if at == begin {
						s.begin(state)
					}
					s.run(nil, in[o*len(in)/outer:(o+1)*len(in)/outer], inner, 0, state)
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Carries is what is carried into each block: the totals of those before it.
type Carries struct{ Scan }

// Chunks are whole lines of totals.
func (s Carries) Chunks() []int {
	box := s.states()
	blocks := box[s.Axis]
	box[s.Axis] = 1
	copy(box, grid.Auto(box[:len(s.Shape)], blocks*s.words()*8, taskBytes))
	box[s.Axis] = blocks
	return box
}

// Requirements is the box, and what is carried along each line.
func (s Carries) Requirements(box []int) blockwise.Requirements {
	_, _, inner := s.around(box)
	return blockwise.Requirements{Reads: [][]int{box}, Scratch: int64(inner * s.words() * 8)}
}

// Fill goes along the lines.
func (s Carries) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.ComputeFrom(ctx, 0, t.Box, t.Dst, func() error {
		outer, blocks, inner := s.around(t.Box.Shape)
		bytes := inner * s.words() * 8
		state := t.Scratch[:bytes]
		for o := range outer {
			s.begin(state)
			for b := range blocks {
				s.pass(state, t.Dst[(o*blocks+b)*bytes:][:bytes])
			}
		}
		return nil
	})
}

// Running is the scan. Its second input, where a line has more than one block, is what
// is carried into each.
type Running struct{ Scan }

// Requirements is a tile of a block of each line, and what is carried into it.
func (s Running) Requirements(box []int) blockwise.Requirements {
	read, carried := slices.Clone(box), append(slices.Clone(box), s.words())
	read[s.Axis], carried[s.Axis] = s.tile(), 1
	n := blockwise.Requirements{Reads: [][]int{read}, Scratch: blockwise.Aligned(grid.Size(read)*s.Type.Size()) + int64(grid.Size(carried)*8), DisjointReads: true}
	if s.blocks() > 1 {
		n.Reads = append(n.Reads, carried)
	}
	return n
}

// Fill goes through the blocks that the box lies in.
func (s Running) Fill(ctx context.Context, t *blockwise.Task) error {
	outer, n, inner := s.around(t.Box.Shape)
	first, row := t.Box.Start[s.Axis], inner*s.Type.Size()
	bytes := inner * s.words() * 8
	states := t.Scratch[blockwise.Aligned(outer*s.tile()*row):][:outer*bytes]
	box := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
	for b := first / s.Block; b*s.Block < first+n; b++ {
		if err := s.enter(ctx, t, b, states); err != nil {
			return err
		}
		end := min((b+1)*s.Block, first+n)
		for at := b * s.Block; at < end; at += s.tile() {
			box.Start[s.Axis], box.Shape[s.Axis] = at, min(s.tile(), end-at)
			in := t.Scratch[:box.Size()*s.Type.Size()]
			if err := t.ComputeFrom(ctx, 0, box, in, func() error {
				skip := min(max(first-at, 0), box.Shape[s.Axis]) // elements before the box
				rows := box.Shape[s.Axis] - skip
				for o := range outer {
					var dst []byte
					if rows > 0 {
						dst = t.Dst[(o*n+at+skip-first)*row:][:rows*row]
					}
					s.run(dst, in[o*len(in)/outer:(o+1)*len(in)/outer], inner, skip, states[o*bytes:][:bytes])
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter brings what is carried into a block.
func (s Running) enter(ctx context.Context, t *blockwise.Task, block int, states []byte) error {
	if s.blocks() == 1 {
		s.begin(states)
		return nil
	}
	at := grid.Box{Start: append(slices.Clone(t.Box.Start), 0), Shape: append(slices.Clone(t.Box.Shape), s.words())}
	at.Start[s.Axis], at.Shape[s.Axis] = block, 1
	return t.In[1].Read(ctx, at, states)
}

// Cumulative is NumPy's cumsum, or cumprod where product says so: two passes that read,
// none that writes, or one where lines are short. No axis is the array as if flattened.
//
// Integers wrap in 64 bits. Sums of 16- and 32-bit floats are kept in float64, those of
// float64 with their rounding errors. Products of floats are kept with an exponent of
// their own: one that leaves the range of the type and comes back is not lost.
func Cumulative(site graph.Site, name string, product bool, n *graph.Node, axes ...int) (*graph.Node, error) {
	kind := kernel.Sum
	if product {
		kind = kernel.Prod
	}
	n, err := graph.AsType(site, n, kind.Result(n.DType))
	if err != nil {
		return nil, err
	}
	axis := 0
	switch len(axes) {
	case 0:
		n, err = graph.Reshape(site, n, -1)
	case 1:
		axis, err = grid.Axis(axes[0], len(n.Shape))
	default:
		err = fmt.Errorf("goes along one axis, or none for the array as if flattened, not %d", len(axes))
	}
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	var args []string
	if len(axes) > 0 {
		args = append(args, strconv.Itoa(axis))
	}
	return Scan{Product: product}.nodes(site, name, n, axis, args)
}

// nodes are those of the scan of an array along an axis.
func (s Scan) nodes(site graph.Site, name string, n *graph.Node, axis int, args []string) (*graph.Node, error) {
	if grid.Size(n.Shape) == 0 {
		return n, nil
	}
	s = s.of(n, axis)
	in := []*graph.Node{n}
	if s.blocks() > 1 {
		totals, err := graph.NewBlockwise(site, name+" totals", Totals{s}, s.states(), dtype.Uint64, in)
		if err != nil {
			return nil, err
		}
		carries, err := graph.NewBlockwise(site, name+" carries", Carries{s}, s.states(), dtype.Uint64, []*graph.Node{totals})
		if err != nil {
			return nil, err
		}
		in = append(in, carries)
	}
	return graph.NewBlockwise(site, name, Running{s}, n.Shape, n.DType, in, args...)
}

// Along is the array API's cumulative_sum and cumulative_prod: Cumulative along an axis,
// which only vectors may leave out, with the neutral element before each line where
// initial says so.
func Along(site graph.Site, a CumulativeArgs) (*graph.Node, error) {
	name, product, n, initial, axes := a.Name, a.Product, a.X, a.Initial, a.Axis
	if len(axes) == 0 {
		if len(n.Shape) != 1 {
			return nil, graph.Reject(site, name, fmt.Errorf("needs an axis of %d dimensions", len(n.Shape)), n)
		}
		axes = []int{0}
	}
	out, err := Cumulative(site, name, product, n, axes...)
	if err != nil || !initial {
		return out, err
	}
	axis := axes[0]
	if axis < 0 {
		axis += len(out.Shape)
	}
	lengths := slices.Clone(out.Shape)
	lengths[axis] = 1
	neutral := int64(0)
	if product {
		neutral = 1
	}
	first, err := graph.Full(site, dtype.FromInt(out.DType, neutral), lengths...)
	if err != nil {
		return nil, err
	}
	return shape.Concatenate(site, axis, first, out)
}
