package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	lib "github.com/pierrec/lz4/v4"
)

// lz4 is numcodecs' LZ4: the size in four bytes, and one block.
type lz4 struct{}

func (*lz4) text() string                             { return "lz4" }
func (*lz4) v3() json.RawMessage                      { return configured("numcodecs.lz4", nil) }
func (*lz4) bound(n int64) int64                      { return 4 + n + n/255 + 16 }
func (*lz4) decodeMemory(int64) memory                { return memory{} }
func (*lz4) encodeMemory(int64) memory                { return memory{heap: lz4Heap} }
func (l *lz4) decoder(int64, []byte) (decoder, error) { return l, nil }
func (l *lz4) encoder(n int64, _ []byte) (encoder, error) {
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("chunks of %d bytes: it takes at most 2147483647", n)
	}
	return &lz4Encoder{}, nil
}
func (*lz4) close() {}

// lz4Heap is what an encoder takes of the heap.
const lz4Heap = 160 << 10

func (*lz4) decode(dst, src []byte) (int, error) {
	if len(src) < 4 {
		return 0, ErrShort
	}
	n := int64(int32(binary.LittleEndian.Uint32(src)))
	if n < 0 || n > int64(len(dst)) {
		return 0, errLarge
	}
	return int(n), lz4Block(dst[:n], src[4:])
}

type lz4Encoder struct{ lib lib.Compressor }

func (e *lz4Encoder) encode(dst, src []byte) ([]byte, error) {
	binary.LittleEndian.PutUint32(dst, uint32(len(src)))
	n, err := e.lib.CompressBlock(src, dst[4:])
	if err == nil && n == 0 {
		err = errors.New("the block did not fit")
	}
	return dst[:4+n], err
}

func (e *lz4Encoder) close() {}

// lz4Block decodes one block, which must fill dst.
func lz4Block(dst, src []byte) error {
	n, err := lib.UncompressBlock(src, dst)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return ErrShort
	}
	return nil
}
