package codec

import lib "github.com/pierrec/lz4/v4"

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
