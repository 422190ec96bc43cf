package quantize

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("ggml", Blocks{}) }

// Blocks are what an array in blocks has: the bytes of those of ggml, as GGUF files have them, or the elements, or the scales,
// of floats of four bits.
type Blocks struct {
	Type string // such as Q4_K, or one of codec.FP4
}

// layout is how many floats are in a block, and how many elements of how many bytes it becomes.
func (o Blocks) layout() (floats, elements, size int) {
	if f, ok := codec.FP4[o.Type]; ok {
		return f.Floats, f.Elements, f.Size
	}
	floats, elements, _ = codec.GGML(o.Type)
	return floats, elements, 1
}

// ToBlocks returns what Blocks of a type are of an array. Its rows are whole blocks.
func ToBlocks(site graph.Site, x *graph.Node, name string) (*graph.Node, error) {
	o := Blocks{name}
	floats, elements, size := o.layout()
	last := len(x.Shape) - 1
	if last < 0 || x.Shape[last]%floats != 0 || x.DType.Kind() != dtype.KindFloat {
		return nil, graph.Reject(site, name, fmt.Errorf("takes floats in rows of whole blocks of %d", floats), x)
	}
	x, err := graph.AsType(site, x, dtype.Float32)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(x.Shape)
	shape[last] = shape[last] / floats * elements
	t := dtype.Uint8
	if size == 4 {
		t = dtype.Float32
	}
	return graph.NewBlockwise(site, "blocks", o, shape, t, []*graph.Node{x}, strconv.Quote(name))
}

// source is the box of floats in whole blocks that a box of the result is of.
func (o Blocks) source(b grid.Box) grid.Box {
	floats, elements, _ := o.layout()
	b = grid.Box{Start: slices.Clone(b.Start), Shape: slices.Clone(b.Shape)}
	last := len(b.Shape) - 1
	from, to := b.Start[last]/elements, blocks(b.Start[last]+b.Shape[last], elements)
	b.Start[last], b.Shape[last] = from*floats, (to-from)*floats
	return b
}

// Requirements are those of a box that begins and ends in a block.
func (o Blocks) Requirements(box []int) blockwise.Requirements {
	floats, elements, _ := o.layout()
	read := slices.Clone(box)
	last := len(read) - 1
	read[last] = (blocks(read[last], elements) + 1) * floats
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(4 * grid.Size(read))}
}

// Fill encodes the blocks of a box.
func (o Blocks) Fill(ctx context.Context, t *blockwise.Task) error {
	floats, elements, size := o.layout()
	bytes := elements * size
	from := o.source(t.Box)
	in := t.Scratch[:4*from.Size()]
	return t.ComputeFrom(ctx, 0, from, in, func() (err error) {
		last := len(t.Box.Shape) - 1
		columns, skip := t.Box.Shape[last]*size, t.Box.Start[last]%elements*size
		x, dst := dtype.Slice[float32](in), t.Dst
		encode := func(blocks []byte) {
			if f, ok := codec.FP4[o.Type]; ok {
				f.Encode(blocks, x)
			} else if err == nil {
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
