package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// lz4 is numcodecs' LZ4: the size in four bytes, and one block.
type lz4 struct{}

func (*lz4) text() string              { return "lz4" }
func (*lz4) v3() json.RawMessage       { return configured("numcodecs.lz4", nil) }
func (*lz4) bound(n int64) int64       { return 4 + n + n/255 + 16 }
func (*lz4) decodeMemory(int64) memory { return memory{} }
func (*lz4) encodeMemory(int64) memory { return blockOf().memory(false) }

func (*lz4) decoder(int64, []byte) (decoder, error) { return lz4Decoder{blockOf().decompressor()}, nil }

func (l *lz4) encoder(n int64, work []byte) (encoder, error) {
	if n > math.MaxInt32/2 {
		return nil, fmt.Errorf("chunks of %d bytes: it takes at most %d", n, math.MaxInt32/2)
	}
	return lz4Encoder{blockOf().compressor(false, 1, work)}, nil
}

type lz4Decoder struct{ decompress lz4Decompressor }

func (d lz4Decoder) decode(dst, src []byte) (int, error) {
	if len(src) < 4 {
		return 0, ErrShort
	}
	n := int64(int32(binary.LittleEndian.Uint32(src)))
	if n < 0 || n > int64(len(dst)) {
		return 0, errLarge
	}
	return int(n), d.decompress(dst[:n], src[4:])
}

func (lz4Decoder) close() {}

type lz4Encoder struct{ compressor lz4Compressor }

func (e lz4Encoder) encode(dst, src []byte) ([]byte, error) {
	binary.LittleEndian.PutUint32(dst, uint32(len(src)))
	n := e.compressor(dst[4:], src)
	if n == 0 {
		return nil, errors.New("the block did not fit")
	}
	return dst[:4+n], nil
}

func (lz4Encoder) close() {}

// lz4Engine is one of two implementations of blocks of LZ4.
type lz4Engine interface {
	decompressor() lz4Decompressor
	// memory is what a compressor takes.
	memory(high bool) memory
	// compressor makes one: of LZ4 with an acceleration, or the slower, higher one with a
	// level of 1 to 12.
	compressor(high bool, level int, work []byte) lz4Compressor
}

// lz4Decompressor decodes a block, which must fill dst.
type lz4Decompressor func(dst, src []byte) error

// lz4Compressor returns how much of dst it wrote, or 0 where a block does not fit.
type lz4Compressor func(dst, src []byte) int

// blockOf is the implementation that this machine has; tests change it.
var blockOf = func() lz4Engine {
	if lib := loadLZ4(); lib != nil {
		return lib
	}
	return lz4InGo{}
}
