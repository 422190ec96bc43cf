package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Pipeline is what is done with the chunks of one array. It is immutable and safe
// for concurrent use.
type Pipeline struct {
	chunk   []int
	t       dtype.Type
	raw     int64 // bytes of a decoded chunk
	order   []int // see Order
	moved   bool  // order does not leave the elements where they are
	swap    int   // size of the numbers whose bytes are reversed; 0 where none are
	filters []filter
	sizes   []int64 // most bytes after each filter
}

// maxAxes is what NumPy's arrays can have, before version 2.
const maxAxes = 32

// newPipeline checks what a chunk is, and takes the order of its axes and bytes.
func newPipeline(chunk []int, t dtype.Type, order []int, big bool, filters []filter) (*Pipeline, error) {
	if !t.Known() {
		return nil, fmt.Errorf("%s is no type of elements", t)
	}
	if len(chunk) > maxAxes {
		return nil, fmt.Errorf("chunks of %d axes: at most %d are supported", len(chunk), maxAxes)
	}
	raw := int64(t.Size())
	for _, n := range chunk {
		if n < 1 {
			return nil, fmt.Errorf("chunk shape %s has an axis of %d", grid.Format(chunk), n)
		}
		if raw > math.MaxInt64/16/int64(n) {
			return nil, fmt.Errorf("a chunk of %s %s is too large", grid.Format(chunk), t)
		}
		raw *= int64(n)
	}
	if len(filters) > 0 {
		if f, ok := filters[0].(Field); ok && raw/int64(f.Take) > math.MaxInt64/16/int64(f.Of) {
			return nil, fmt.Errorf("a chunk of %s records of %d bytes is too large", grid.Format(chunk), f.Of)
		}
		if z, ok := filters[0].(*zstd); ok {
			filters = slices.Clone(filters)
			filters[0] = &zstd{z.level, z.checksum, t.Size() >= 4}
		}
	}
	p := &Pipeline{chunk: slices.Clone(chunk), t: t, raw: raw, order: order, filters: filters}
	last := -1
	for _, axis := range order {
		if chunk[axis] == 1 {
			continue // where it lies makes no difference
		}
		p.moved = p.moved || axis < last
		last = axis
	}
	if big {
		if p.swap = t.Size(); t.Kind() == dtype.KindComplex {
			p.swap /= 2
		}
		if p.swap == 1 {
			p.swap = 0
		}
	}
	size := raw
	for _, f := range filters {
		if b, ok := f.(*blosc); ok && size > maxBlosc {
			return nil, codecError(b, fmt.Errorf("chunks of %d bytes: it takes at most %d", size, int64(maxBlosc)))
		}
		size = f.bound(size)
		p.sizes = append(p.sizes, size)
	}
	return p, nil
}

// Parse makes the pipeline that a user's text names: "none", "zstd", "zstd:3",
// "gzip:5", "blosc:lz4:5:shuffle".
func Parse(text string, chunk []int, t dtype.Type) (*Pipeline, error) {
	filters, err := parseText(text, t)
	if err != nil {
		return nil, err
	}
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), false, filters)
}

// FromV3 makes the pipeline of a Zarr v3 array's "codecs", without sharding_indexed,
// which it rejects. An unknown codec is rejected by name.
func FromV3(codecs []json.RawMessage, chunk []int, t dtype.Type) (*Pipeline, error) {
	return Field{}.FromV3(codecs, chunk, nil, t)
}

// FromV2 makes the pipeline of a Zarr v2 array: its compressor and filters (either
// null), order C or F, and byte order.
func FromV2(compressor, filters json.RawMessage, order string, big bool, chunk []int, t dtype.Type) (*Pipeline, error) {
	return Field{}.FromV2(compressor, filters, order, big, chunk, nil, t)
}

// Chunk returns the shape of a chunk.
func (p *Pipeline) Chunk() []int { return slices.Clone(p.chunk) }

// WithChunk returns the pipeline of chunks of another shape.
func (p *Pipeline) WithChunk(chunk []int) (*Pipeline, error) {
	return newPipeline(chunk, p.t, p.order, p.swap > 0, p.filters)
}

// V3 returns the pipeline as Zarr v3 writes it.
func (p *Pipeline) V3() []json.RawMessage {
	var all []json.RawMessage
	if !slices.IsSorted(p.order) {
		all = append(all, configured("transpose", transposeConfig{p.order}))
	}
	switch endian := "little"; {
	case p.t.Size() == 1:
		all = append(all, configured("bytes", nil))
	default:
		if p.swap > 0 {
			endian = "big"
		}
		all = append(all, configured("bytes", bytesConfig{endian}))
	}
	for _, f := range p.filters {
		all = append(all, f.v3())
	}
	return all
}

// String returns the form that Parse reads, in full; for what Parse cannot make, the
// names of the codecs.
func (p *Pipeline) String() string {
	var parts []string
	if !slices.IsSorted(p.order) {
		parts = append(parts, "transpose")
	}
	if p.swap > 0 {
		parts = append(parts, "big-endian")
	}
	for _, f := range p.filters {
		parts = append(parts, f.text())
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "+")
}

// Plain reports that encoded chunks are their elements and nothing else, in C
// order and this machine's byte order, so that parts can be read and written in
// place.
func (p *Pipeline) Plain() bool { return len(p.filters) == 0 && !p.moved && p.swap == 0 }

// Order returns the order of axes in which a stream has the elements: its axis d is the
// chunk's axis Order()[d].
func (p *Pipeline) Order() []int { return slices.Clone(p.order) }

// MaxEncoded returns the most bytes that a chunk can have encoded; a larger one is
// rejected.
func (p *Pipeline) MaxEncoded() int64 { return p.after(len(p.filters) - 1) }

// after is the most bytes that a chunk has after filter i; before the first, at -1,
// its own.
func (p *Pipeline) after(i int) int64 {
	if i < 0 {
		return p.raw
	}
	return p.sizes[i]
}

// streams is whether every filter works from front to back.
func (p *Pipeline) streams() bool {
	for _, f := range p.filters {
		s, ok := f.(streamer)
		if !ok || s.alone() && len(p.filters) > 1 {
			return false
		}
	}
	return true
}

// Patches reports that an encoder that streams goes back to the chunk's beginning
// when it ends, by Sink.WriteAt.
func (p *Pipeline) Patches() bool {
	return p.streams() && len(p.filters) == 1 && p.filters[0].(streamer).alone()
}

// DecodeWork returns what a Decoder needs. Whole has room for one encoded chunk and a
// codec's scratch, not for the decoded chunk; Stream is more than Whole, by the
// decoded chunk, where a codec does not work from front to back.
func (p *Pipeline) DecodeWork() Work {
	whole := p.decodeMemory()
	stream := memory{whole.arena + room(p.raw), whole.heap}
	if p.streams() {
		stream = p.readMemory()
	}
	if p.moved {
		whole.arena += room(p.raw)
	}
	return Work{Whole: whole.arena, Stream: stream.arena, Heap: max(whole.heap, stream.heap)}
}

// EncodeWork returns what an Encoder needs. Whole has room for one encoded chunk and a
// codec's scratch; Stream is more than Whole, by the decoded chunk, where a codec
// does not work from front to back.
func (p *Pipeline) EncodeWork() Work {
	whole := p.encodeMemory()
	stream := memory{whole.arena + room(p.raw), whole.heap}
	if p.streams() {
		stream = p.writeMemory()
	}
	if p.moved || p.swap > 0 {
		whole.arena += room(p.raw)
	}
	return Work{Whole: whole.arena, Stream: stream.arena, Heap: max(whole.heap, stream.heap)}
}
