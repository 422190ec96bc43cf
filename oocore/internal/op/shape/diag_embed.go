package shape

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

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
