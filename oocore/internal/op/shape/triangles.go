package shape

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("triangle", Triangle{}, blockwise.OnlyMoves, blockwise.KeepsAxes) }

// Triangle is an array with zeros on one side of a diagonal of its last two axes.
type Triangle struct {
	Diagonal int
	Upper    bool // what is kept
	Item     int  // bytes of an element
}

// Requirements is the box itself.
func (o Triangle) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{slices.Clone(box)}, DisjointReads: true}
}

// kept are the columns of a row that are kept, of those from a first one on.
func (o Triangle) kept(row, column, columns int) (from, to int) {
	at := row + o.Diagonal - column // the diagonal's
	if o.Upper {
		return min(max(at, 0), columns), columns
	}
	return 0, min(max(at+1, 0), columns)
}

// Fill reads the box, unless it is all zeros.
func (o Triangle) Fill(ctx context.Context, t *blockwise.Task) error {
	last := len(t.Box.Shape) - 1
	row, column := t.Box.Start[last-1], t.Box.Start[last]
	rows, columns := t.Box.Shape[last-1], t.Box.Shape[last]
	some, all := false, true
	for _, r := range []int{row, row + rows - 1} {
		from, to := o.kept(r, column, columns)
		some, all = some || from < to, all && to-from == columns
	}
	if !some {
		return t.Compute(func() error { clear(t.Dst); return nil })
	}
	if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil || all {
		return err
	}
	return t.Compute(func() error {
		for i := range grid.Size(t.Box.Shape[:last]) {
			from, to := o.kept(row+i%rows, column, columns)
			line := t.Dst[i*columns*o.Item : (i+1)*columns*o.Item]
			clear(line[:from*o.Item])
			clear(line[to*o.Item:])
		}
		return nil
	})
}
