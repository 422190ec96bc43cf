package shape

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("diagonal", Diagonals{}, blockwise.Exact, blockwise.OnlyMoves, blockwise.Selects)
}

// Diagonals is the diagonal of the last two axes that begins at Row and Column. It
// reads squares along it: more than the diagonal, but not one element at a time.
type Diagonals struct {
	Row, Column int
	Cell        int   // side of a square
	Outer       []int // of how many diagonals squares are read at once, by the axes before
	Item        int   // bytes of an element
}

// side is that of squares of a few pages.
func side(item int) int {
	n := 16
	for 4*n*n*item <= 32<<10 {
		n *= 2
	}
	return n
}

// KeptAxes are those before the last two.
func (o Diagonals) KeptAxes() []int { return append(grid.UpTo(len(o.Outer)), -1) }

// Requirements is a square of some diagonals.
func (o Diagonals) Requirements(box []int) blockwise.Requirements {
	last := len(box) - 1
	reads := make([]int, 0, last+2)
	for d, n := range o.Outer {
		reads = append(reads, min(n, box[d]))
	}
	cell := min(o.Cell, box[last])
	reads = append(reads, cell, cell)
	return blockwise.Requirements{Reads: [][]int{reads}, Scratch: int64(grid.Size(reads) * o.Item), DisjointReads: true, Gather: true}
}

// Fill reads squares and takes their diagonals.
func (o Diagonals) Fill(ctx context.Context, t *blockwise.Task) error {
	last := len(t.Box.Shape) - 1
	strides := grid.Strides(t.Box.Shape)
	for part := range t.Box.Split(append(slices.Clone(o.Outer), o.Cell)) {
		n := part.Shape[last]
		from := grid.Box{Start: append(slices.Clone(part.Start[:last]), o.Row+part.Start[last], o.Column+part.Start[last]),
			Shape: append(slices.Clone(part.Shape[:last]), n, n)}
		in := t.Scratch[:from.Size()*o.Item]
		if err := t.In[0].Read(ctx, from, in); err != nil {
			return err
		}
		source := grid.Strides(from.Shape)[:last+1]
		source[last] = n + 1
		if err := t.Compute(func() error {
			kernel.Copy(o.Item, part.Shape, t.Dst, grid.Offset(part.Start, t.Box), strides, in, 0, source)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func init() { blockwise.Register("diag_embed", DiagEmbed{}, blockwise.Exact, blockwise.OnlyMoves) }

// DiagEmbed is a matrix with a vector on the diagonal that begins at Row and Column, and
// zeros elsewhere.
type DiagEmbed struct {
	Row, Column int
	Len         int // of the vector
	Item        int // bytes of an element
}

// Requirements is what of the vector may lie in the box.
func (o DiagEmbed) Requirements(box []int) blockwise.Requirements {
	n := min(box[0], box[1], o.Len)
	return blockwise.Requirements{Reads: [][]int{{n}}, Scratch: int64(n * o.Item), DisjointReads: true, Gather: true}
}

// Fill writes zeros, and over them the part of the diagonal that lies in the box.
func (o DiagEmbed) Fill(ctx context.Context, t *blockwise.Task) error {
	row, column := t.Box.Start[0]-o.Row, t.Box.Start[1]-o.Column
	first := max(row, column, 0)
	n := min(row+t.Box.Shape[0], column+t.Box.Shape[1], o.Len) - first
	if n > 0 {
		if err := t.In[0].Read(ctx, grid.Box{Start: []int{first}, Shape: []int{n}}, t.Scratch[:n*o.Item]); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		clear(t.Dst)
		if columns := t.Box.Shape[1]; n > 0 {
			kernel.Copy(o.Item, []int{n}, t.Dst, (first-row)*columns+first-column, []int{columns + 1}, t.Scratch, 0, []int{1})
		}
		return nil
	})
}
