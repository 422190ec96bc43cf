package quantize

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("q8_0", Q8{}) }

// Q8 are the bytes of an array in Q8_0, as GGUF files have them.
type Q8 struct{}

// ToQ8 returns the bytes of an array in Q8_0. Its rows are whole blocks.
func ToQ8(site graph.Site, x *graph.Node) (*graph.Node, error) {
	last := len(x.Shape) - 1
	if last < 0 || x.Shape[last]%kernel.Q8Floats != 0 || x.DType.Kind() != dtype.KindFloat {
		return nil, graph.Reject(site, "q8_0", fmt.Errorf("takes floats in rows of whole blocks of %d", kernel.Q8Floats), x)
	}
	x, err := graph.AsType(site, x, dtype.Float32)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(x.Shape)
	shape[last] = shape[last] / kernel.Q8Floats * kernel.Q8Bytes
	return graph.NewBlockwise(site, "q8_0", Q8{}, shape, dtype.Uint8, []*graph.Node{x})
}

// source is the box of elements of which a box of bytes is a part.
func (Q8) source(b grid.Box) grid.Box {
	b = grid.Box{Start: slices.Clone(b.Start), Shape: slices.Clone(b.Shape)}
	last := len(b.Shape) - 1
	from, to := b.Start[last]/kernel.Q8Bytes, blocks(b.Start[last]+b.Shape[last], kernel.Q8Bytes)
	b.Start[last], b.Shape[last] = from*kernel.Q8Floats, (to-from)*kernel.Q8Floats
	return b
}

// Requirements are those of a box that begins and ends in a block.
func (Q8) Requirements(box []int) blockwise.Requirements {
	read := slices.Clone(box)
	last := len(read) - 1
	read[last] = (blocks(read[last], kernel.Q8Bytes) + 1) * kernel.Q8Floats
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(4 * grid.Size(read))}
}

// Fill encodes the blocks of a box.
func (o Q8) Fill(ctx context.Context, t *blockwise.Task) error {
	from := o.source(t.Box)
	in := t.Scratch[:4*from.Size()]
	if err := t.In[0].Read(ctx, from, in); err != nil {
		return err
	}
	return t.Compute(func() error {
		last := len(t.Box.Shape) - 1
		columns, skip := t.Box.Shape[last], t.Box.Start[last]%kernel.Q8Bytes
		x, dst := dtype.Slice[float32](in), t.Dst
		for ; len(dst) > 0; dst = dst[columns:] {
			row := dst[:columns]
			encode := func(blocks []byte) {
				kernel.EncodeQ8(blocks, x)
				x = x[len(blocks)/kernel.Q8Bytes*kernel.Q8Floats:]
			}
			var part [kernel.Q8Bytes]byte // where the box begins or ends within a block
			if skip > 0 {
				encode(part[:])
				row = row[copy(row, part[skip:]):]
			}
			whole := len(row) / kernel.Q8Bytes * kernel.Q8Bytes
			encode(row[:whole])
			if row = row[whole:]; len(row) > 0 {
				encode(part[:])
				copy(row, part[:])
			}
		}
		return nil
	})
}
