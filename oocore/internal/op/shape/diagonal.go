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
