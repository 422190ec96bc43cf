package codec

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Pipeline is what is done with the chunks of one array. It is immutable and safe
// for concurrent use.
type Pipeline struct{}

// Parse makes the pipeline that a user's text names: "none", "zstd", "zstd:3",
// "gzip:5", "blosc:lz4:5:shuffle".
func Parse(text string, chunk []int, t dtype.Type) (*Pipeline, error) { return nil, errors.New("codec") }

// FromV3 makes the pipeline of a Zarr v3 array's "codecs", without sharding_indexed,
// which it refuses. An unknown codec is refused by name.
func FromV3(codecs []json.RawMessage, chunk []int, t dtype.Type) (*Pipeline, error) {
	return nil, errors.New("codec")
}

// FromV2 makes the pipeline of a Zarr v2 array: its compressor and filters (either
// null), order C or F, and byte order.
func FromV2(compressor, filters json.RawMessage, order string, big bool, chunk []int, t dtype.Type) (*Pipeline, error) {
	return nil, errors.New("codec")
}

// V3 is the pipeline as Zarr v3 writes it.
func (p *Pipeline) V3() []json.RawMessage { return nil }

// String is the form that Parse reads, in full; for what Parse cannot make, the
// names of the codecs.
func (p *Pipeline) String() string { return "" }

// Plain reports that encoded chunks are their elements and nothing else, in C
// order and this machine's byte order, so that parts can be read and written in
// place.
func (p *Pipeline) Plain() bool { return false }

// Order is the order of axes in which a stream has the elements: its axis d is the
// chunk's axis Order()[d].
func (p *Pipeline) Order() []int { return nil }

// MaxEncoded is the most bytes that a chunk can have encoded; a larger one is
// refused.
func (p *Pipeline) MaxEncoded() int64 { return 0 }

// DecodeWork is what a Decoder needs. Whole has room for one encoded chunk and a
// codec's scratch, not for the decoded chunk.
func (p *Pipeline) DecodeWork() Work { return Work{} }

// EncodeWork is what an Encoder needs. Whole has room for one encoded chunk and a
// codec's scratch.
func (p *Pipeline) EncodeWork() Work { return Work{} }

// Decoder decodes one chunk after the other.
type Decoder struct{}

// Decoder prepares to decode with at least DecodeWork().Stream bytes; Whole needs
// DecodeWork().Whole.
func (p *Pipeline) Decoder(work []byte) (*Decoder, error) { return nil, errors.New("codec") }

// Whole decodes a chunk into dst: dense, in C order, in this machine's byte order.
// It returns the number of encoded bytes that it read. Checksums are verified.
func (d *Decoder) Whole(ctx context.Context, dst []byte, src Source) (int64, error) { return 0, nil }

// Begin starts to decode a chunk as a stream.
func (d *Decoder) Begin(ctx context.Context, src Source) error { return nil }

// Next fills p with the next elements of the stream: in the order of Order, in this
// machine's byte order. It returns the number of encoded bytes that it read. With
// the last element checksums are verified.
func (d *Decoder) Next(ctx context.Context, p []byte) (int64, error) { return 0, nil }

// Close gives the libraries' memory back.
func (d *Decoder) Close() {}

// Encoder encodes one chunk after the other.
type Encoder struct{}

// Encoder prepares to encode with at least EncodeWork().Stream bytes; Whole needs
// EncodeWork().Whole.
func (p *Pipeline) Encoder(work []byte) (*Encoder, error) { return nil, errors.New("codec") }

// Whole encodes a chunk, dense in C order. What it returns is valid until the next
// call, and src itself where there is nothing to do.
func (e *Encoder) Whole(ctx context.Context, src []byte) ([]byte, error) { return nil, nil }

// Begin starts to encode a chunk as a stream.
func (e *Encoder) Begin(ctx context.Context, dst Sink) error { return nil }

// Next takes the next elements: dense, in the order of Order, in this machine's byte
// order.
func (e *Encoder) Next(ctx context.Context, p []byte) error { return nil }

// End completes the chunk after its last element. It returns its encoded size.
func (e *Encoder) End(ctx context.Context) (int64, error) { return 0, nil }

// Close gives the libraries' memory back.
func (e *Encoder) Close() {}
