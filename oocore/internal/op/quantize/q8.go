package quantize

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("q8_0", Q8{}) }

// Q8Floats elements are Q8Bytes bytes of ggml's Q8_0: a scale in float16, and integers of 8 bits.
const (
	Q8Floats = 32
	Q8Bytes  = 2 + Q8Floats
)

// Q8 are the bytes of an array in Q8_0, as GGUF files have them.
type Q8 struct{}

// ToQ8 returns the bytes of an array in Q8_0. Its rows are whole blocks.
func ToQ8(site graph.Site, x *graph.Node) (*graph.Node, error) {
	last := len(x.Shape) - 1
	if last < 0 || x.Shape[last]%Q8Floats != 0 || x.DType.Kind() != dtype.KindFloat {
		return nil, graph.Reject(site, "q8_0", fmt.Errorf("takes floats in rows of whole blocks of %d", Q8Floats), x)
	}
	x, err := graph.AsType(site, x, dtype.Float32)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(x.Shape)
	shape[last] = shape[last] / Q8Floats * Q8Bytes
	return graph.NewBlockwise(site, "q8_0", Q8{}, shape, dtype.Uint8, []*graph.Node{x})
}

// source is the box of elements of which a box of bytes is a part.
func (Q8) source(b grid.Box) grid.Box {
	b = grid.Box{Start: slices.Clone(b.Start), Shape: slices.Clone(b.Shape)}
	last := len(b.Shape) - 1
	from, to := b.Start[last]/Q8Bytes, blocks(b.Start[last]+b.Shape[last], Q8Bytes)
	b.Start[last], b.Shape[last] = from*Q8Floats, (to-from)*Q8Floats
	return b
}

// Requirements are those of a box that begins and ends in a block.
func (Q8) Requirements(box []int) blockwise.Requirements {
	read := slices.Clone(box)
	last := len(read) - 1
	read[last] = (blocks(read[last], Q8Bytes) + 1) * Q8Floats
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
		columns, skip := t.Box.Shape[last], t.Box.Start[last]%Q8Bytes
		x, dst := dtype.Slice[float32](in), t.Dst
		for ; len(dst) > 0; dst = dst[columns:] {
			row := dst[:columns]
			for at := -skip; at < columns; at += Q8Bytes {
				var block [Q8Bytes]byte
				encodeQ8(&block, (*[Q8Floats]float32)(x))
				x = x[Q8Floats:]
				copy(row[max(at, 0):], block[max(-at, 0):])
			}
		}
		return nil
	})
}

// encodeQ8 is quantize_row_q8_0_ref of ggml-quants.c: the largest magnitude becomes 127, halves are
// rounded away from zero.
func encodeQ8(dst *[Q8Bytes]byte, x *[Q8Floats]float32) {
	var most [4]uint32 // bits of magnitudes, which rise with them, up to NaN: four that do not wait for each other
	for i := 0; i < len(x); i += len(most) {
		for k := range most {
			most[k] = max(most[k], math.Float32bits(x[i+k])&^(1<<31))
		}
	}
	d := math.Float32frombits(max(most[0], most[1], most[2], most[3])) / 127
	inverse := float32(0)
	if d != 0 {
		inverse = 1 / d
	}
	binary.LittleEndian.PutUint16(dst[:], uint16(dtype.ToFloat16(d)))
	for i, v := range x {
		q := int32(2 * (v * inverse)) // in halves, which is exact, without what is less than one
		sign := q >> 31
		dst[2+i] = byte((q^sign-sign+1)>>1 ^ sign - sign)
	}
}
