package quantize

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("ggml", Blocks{}) }

// Blocks are the bytes of an array in blocks of ggml, as GGUF files have them.
type Blocks struct {
	Type string // such as Q4_K
}

// ToBlocks returns the bytes of an array in blocks of a type. Its rows are whole blocks.
func ToBlocks(site graph.Site, x *graph.Node, name string) (*graph.Node, error) {
	floats, bytes, _ := codec.GGML(name)
	last := len(x.Shape) - 1
	if last < 0 || x.Shape[last]%floats != 0 || x.DType.Kind() != dtype.KindFloat {
		return nil, graph.Reject(site, name, fmt.Errorf("takes floats in rows of whole blocks of %d", floats), x)
	}
	x, err := graph.AsType(site, x, dtype.Float32)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(x.Shape)
	shape[last] = shape[last] / floats * bytes
	return graph.NewBlockwise(site, "ggml", Blocks{name}, shape, dtype.Uint8, []*graph.Node{x})
}

// source is the box of elements of which a box of bytes is a part.
func (o Blocks) source(b grid.Box) grid.Box {
	floats, bytes, _ := codec.GGML(o.Type)
	b = grid.Box{Start: slices.Clone(b.Start), Shape: slices.Clone(b.Shape)}
	last := len(b.Shape) - 1
	from, to := b.Start[last]/bytes, blocks(b.Start[last]+b.Shape[last], bytes)
	b.Start[last], b.Shape[last] = from*floats, (to-from)*floats
	return b
}

// Requirements are those of a box that begins and ends in a block.
func (o Blocks) Requirements(box []int) blockwise.Requirements {
	floats, bytes, _ := codec.GGML(o.Type)
	read := slices.Clone(box)
	last := len(read) - 1
	read[last] = (blocks(read[last], bytes) + 1) * floats
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(4 * grid.Size(read))}
}

// Fill encodes the blocks of a box.
func (o Blocks) Fill(ctx context.Context, t *blockwise.Task) error {
	floats, bytes, _ := codec.GGML(o.Type)
	from := o.source(t.Box)
	in := t.Scratch[:4*from.Size()]
	if err := t.In[0].Read(ctx, from, in); err != nil {
		return err
	}
	return t.Compute(func() (err error) {
		last := len(t.Box.Shape) - 1
		columns, skip := t.Box.Shape[last], t.Box.Start[last]%bytes
		x, dst := dtype.Slice[float32](in), t.Dst
		encode := func(blocks []byte) {
			if err == nil {
				err = codec.EncodeGGML(o.Type, blocks, x)
			}
			x = x[len(blocks)/bytes*floats:]
		}
		part := make([]byte, bytes) // where the box begins or ends within a block
		for ; len(dst) > 0; dst = dst[columns:] {
			row := dst[:columns]
			if skip > 0 {
				encode(part)
				row = row[copy(row, part[skip:]):]
			}
			whole := len(row) / bytes * bytes
			encode(row[:whole])
			if row = row[whole:]; len(row) > 0 {
				encode(part)
				copy(row, part)
			}
		}
		return err
	})
}
