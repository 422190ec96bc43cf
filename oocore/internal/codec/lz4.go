package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"

	lib "github.com/pierrec/lz4/v4"

	"github.com/gonbext/gonbext/oocore/internal/dl"
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

// lz4InGo is LZ4 in Go. The library compresses; its decoder takes 18 times as long as
// ours for the short repetitions of which shuffled pictures are full.
type lz4InGo struct{}

func (lz4InGo) decompressor() lz4Decompressor {
	return func(dst, src []byte) error {
		n, err := decodeLZ4(dst, src)
		if err == nil && n != len(dst) {
			return ErrShort
		}
		return err
	}
}

// memory is that of the library's tables.
func (lz4InGo) memory(high bool) memory {
	if high {
		return memory{heap: 1040 << 10}
	}
	return memory{heap: 144 << 10}
}

func (lz4InGo) compressor(high bool, level int, _ []byte) lz4Compressor {
	if high {
		c := &lib.CompressorHC{Level: lib.CompressionLevel(1 << (8 + min(level, 9)))}
		return fitting(c.CompressBlock)
	}
	return fitting(new(lib.Compressor).CompressBlock)
}

// fitting turns the library's error, that dst is too short, into no bytes.
func fitting(compress func(src, dst []byte) (int, error)) lz4Compressor {
	return func(dst, src []byte) int {
		n, err := compress(src, dst)
		if err != nil {
			return 0
		}
		return n
	}
}

func (l *libLZ4) decompressor() lz4Decompressor {
	c := &caller{}
	return func(dst, src []byte) error {
		r := c.call(l.decompressSafe, address(src), address(dst), uintptr(len(src)), uintptr(len(dst)))
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		switch n := int(int32(r)); {
		case n < 0:
			return errLZ4
		case n < len(dst):
			return ErrShort
		}
		return nil
	}
}

func (l *libLZ4) memory(high bool) memory { return memory{arena: room(l.stateSize(high))} }

func (l *libLZ4) stateSize(high bool) int64 {
	if high {
		return int64(int32(dl.Call(l.sizeofStateHC)))
	}
	return int64(int32(dl.Call(l.sizeofState)))
}

func (l *libLZ4) compressor(high bool, level int, work []byte) lz4Compressor {
	memory, c := cutter{work}, &caller{}
	state := memory.cut(l.stateSize(high))
	compress := l.compressFast
	if high {
		compress = l.compressHC
	}
	return func(dst, src []byte) int {
		r := c.call(compress, address(state), address(src), address(dst), uintptr(len(src)), uintptr(len(dst)), uintptr(level))
		runtime.KeepAlive(state)
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		return max(int(int32(r)), 0)
	}
}
