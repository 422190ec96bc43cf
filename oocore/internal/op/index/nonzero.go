package index

import (
	"context"
	"encoding/binary"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("nonzero", Nonzero{}, blockwise.Exact) }

// Nonzero is where a mask is true, in C order: a row of indices each, or the place as
// if the mask were Flat. Its second input is Selected's third.
type Nonzero struct {
	Shape, Block []int
	Flat         bool
	Cut          int // rows of a chunk; 0: any
}

// Chunks are those of Selected, of whole rows.
func (o Nonzero) Chunks() []int {
	switch {
	case o.Cut == 0:
		return nil
	case o.Flat:
		return []int{o.Cut}
	}
	return []int{o.Cut, len(o.Shape)}
}

// Requirements is a block of the mask.
func (o Nonzero) Requirements([]int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{o.Block, {endsAtOnce}}, Scratch: int64(grid.Size(o.Block)), DisjointReads: true}
}

// Fill goes through the blocks that the box's rows are of.
func (o Nonzero) Fill(ctx context.Context, t *blockwise.Task) error {
	first, width := 0, 1 // of the indices in a row that the box has
	if !o.Flat {
		first, width = t.Box.Start[1], t.Box.Shape[1]
	}
	out := dtype.Slice[int64](t.Dst)
	strides := grid.Strides(o.Shape)
	return walk(ctx, t, o.Shape, o.Block, 0, func(box grid.Box, mask []byte, skip, count, at int) error {
		begin := grid.Offset(box.Start, grid.Entire(o.Shape)) // blocks lie together
		return t.Compute(func() error {
			out := out[at*width:]
			visit(mask, skip, count, func(i int) {
				p := begin + i
				if o.Flat {
					out[0] = int64(p)
				} else {
					for d := range width {
						out[d] = int64(p / strides[first+d] % o.Shape[first+d])
					}
				}
				out = out[width:]
			})
			return nil
		})
	})
}

// visit goes through count places of a mask that are not zero, after the first skip.
func visit(mask []byte, skip, count int, f func(i int)) {
	for i := 0; count > 0; {
		if i+8 <= len(mask) && binary.LittleEndian.Uint64(mask[i:]) == 0 {
			i += 8
			continue
		}
		if mask[i] != 0 {
			if skip > 0 {
				skip--
			} else {
				f(i)
				count--
			}
		}
		i++
	}
}
