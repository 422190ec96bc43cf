// Package codec turns the chunks of arrays into bytes and back: the codecs of
// Zarr, in the memory that the caller provides.
//
// A Pipeline is a chunk's whole way: axes transposed, elements laid out in an
// order of bytes, then compressed and checked. A Decoder and an Encoder serve one
// goroutine. Each works on whole chunks, which is fastest, or as a stream in a
// memory that does not depend on the chunk's size.
//
// In text a codec is a name, then what it has of compressor, level and shuffle: none,
// zstd:3, zstd:3:checksum, gzip:5, blosc:lz4:5:shuffle, where shuffle is noshuffle,
// shuffle or bitshuffle. New Zarr arrays are zstd:1 where nothing is said. Shards put
// many chunks into one object: small chunks to read, few files. A shard is written by
// one task and read in parts. A chunk that is larger than the budget when it is decoded
// is streamed where its codec allows that.
//
// Compression is that of the machine's libzstd, liblz4 and libdeflate where it has them, in the
// caller's memory, and else that of libraries in Go, whose memory on the heap Work
// states; GONBEXT_CODEC=go takes these in any case. Each reads what the other writes.
// Nothing that is read is trusted: sizes that encoded bytes state are held against the
// chunk's before memory or time is spent on them.
//
// # Damage
//
// A checksum finds damage with every library: that of zstd:3:checksum, of crc32c, of
// gzip and zlib. It costs 12 % to 17 % of the time of decoding zstd:1. Without one, a
// decoder only finds what breaks the format; most other damage changes elements in
// silence. One bit was flipped 2,000 times in each of four chunks of 256 KiB of zstd:1:
// libzstd 1.5.4 found 0 %, 0.1 %, 9 % and 39 %, the decoder in Go 22 %, 36 %, 17 % and
// 41 %.
//
// What the decoders in Go accept, libzstd and liblz4 accept with the same bytes. The
// reverse does not hold. Without a checksum only GONBEXT_CODEC=go finds these kinds of
// damage, for which the machine's libraries do not look, or look only in some versions:
//
//   - zstd: one of the streams of Huffman codes ends before or behind its last literal;
//     this is most of the difference.
//   - zstd: the table of Huffman weights or the sequences are read beyond their bits.
//   - zstd: reserved bits of a block's sequences are set.
//   - zstd: a block is longer than the frame's window, or a repetition begins before it,
//     where the chunk is decoded as a whole.
//   - LZ4, also in Blosc: a repetition of offset 0, which liblz4 reads as zeros.
//
// To find the first two in what libzstd decodes is to decode it again. As a stream the
// decoder in Go also rejects frames whose window is larger than that of their level where
// libzstd decodes them because they are short.
package codec

import (
	"context"
	"io"
)

// Source is where a chunk's encoded bytes lie.
type Source interface {
	Size() int64
	// ReadAt fills p from a place; what is too short is io.ErrUnexpectedEOF.
	ReadAt(ctx context.Context, p []byte, at int64) error
}

// Sink takes a chunk's encoded bytes.
type Sink interface {
	Write(ctx context.Context, p []byte) error
	// WriteAt replaces bytes that were written, counted from the chunk's first.
	WriteAt(ctx context.Context, p []byte, at int64) error
}

// Work is the memory of a Decoder or an Encoder, in bytes: as store.Work.
type Work struct{ Whole, Stream, Heap int64 }

// ErrShort is returned where encoded bytes end too early.
var ErrShort = io.ErrUnexpectedEOF
