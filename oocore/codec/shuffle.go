package codec

import (
	"encoding/json"
	"fmt"
)

// shuffleMode is how Blosc puts the bytes of elements together.
type shuffleMode int

const (
	noShuffle shuffleMode = iota
	byteShuffle
	bitShuffle
)

var shuffleNames = []string{"noshuffle", "shuffle", "bitshuffle"}

func shuffleOf(name string) (shuffleMode, error) {
	for mode, n := range shuffleNames {
		if n == name {
			return shuffleMode(mode), nil
		}
	}
	return 0, fmt.Errorf("shuffle %q is none of noshuffle, shuffle and bitshuffle", name)
}

// shuffle is numcodecs' filter: the first bytes of all elements, then the second ones.
type shuffle struct{ size int }

func newShuffle(size int) (filter, error) {
	if size < 1 || size > 255 {
		return nil, fmt.Errorf("elementsize %d is not one of 1 to 255", size)
	}
	return &shuffle{size}, nil
}

func (s *shuffle) text() string { return "shuffle" }
func (s *shuffle) v3() json.RawMessage {
	return configured("numcodecs.shuffle", struct {
		Elementsize int `json:"elementsize"`
	}{s.size})
}
func (s *shuffle) bound(n int64) int64                        { return n }
func (s *shuffle) decodeMemory(int64) memory                  { return memory{} }
func (s *shuffle) encodeMemory(int64) memory                  { return memory{} }
func (s *shuffle) decoder(int64, []byte) (decoder, error)     { return s, nil }
func (s *shuffle) encoder(n int64, _ []byte) (encoder, error) { return s, nil }
func (s *shuffle) close()                                     {}

func (s *shuffle) decode(dst, src []byte) (int, error) {
	if len(src) > len(dst) {
		return 0, errLarge
	}
	unshuffleBytes(dst[:len(src)], src, s.size)
	return len(src), nil
}

func (s *shuffle) encode(dst, src []byte) ([]byte, error) {
	shuffleBytes(dst[:len(src)], src, s.size)
	return dst[:len(src)], nil
}

// shuffleBytes puts byte j of element i at j·n + i, where n is the number of whole
// elements. What is left over stays where it is.
func shuffleBytes(dst, src []byte, size int) {
	n := len(src) / size
	for j := range size {
		for i := range n {
			dst[j*n+i] = src[i*size+j]
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unshuffleBytes undoes shuffleBytes.
func unshuffleBytes(dst, src []byte, size int) {
	n := len(src) / size
	for j := range size {
		for i := range n {
			dst[i*size+j] = src[j*n+i]
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// shuffleBlock shuffles a block of Blosc.
func shuffleBlock(mode shuffleMode, dst, src []byte, size int) {
	if mode == bitShuffle {
		shuffleBits(dst, src, size)
	} else {
		shuffleBytes(dst, src, size)
	}
}

// unshuffle undoes shuffleBlock. Without a shuffle dst is src.
func unshuffle(mode shuffleMode, dst, src []byte, size int) {
	switch mode {
	case bitShuffle:
		unshuffleBits(dst, src, size)
	case byteShuffle:
		unshuffleBytes(dst, src, size)
	}
}

// shuffleBits puts bit k of byte j of element i at bit i of row 8·j + k, which has n/8
// bytes. Where the number n of elements is no multiple of 8 it only copies.
func shuffleBits(dst, src []byte, size int) {
	n := len(src) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	for j := range size {
		for i := 0; i < n; i += 8 {
			var x uint64
			for k := range 8 {
				x |= uint64(src[(i+k)*size+j]) << (8 * k)
			}
			x = transposeBits(x)
			for k := range 8 {
				dst[(8*j+k)*(n/8)+i/8] = byte(x >> (8 * k))
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unshuffleBits undoes shuffleBits.
func unshuffleBits(dst, src []byte, size int) {
	n := len(src) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	for j := range size {
		for i := 0; i < n; i += 8 {
			var x uint64
			for k := range 8 {
				x |= uint64(src[(8*j+k)*(n/8)+i/8]) << (8 * k)
			}
			x = transposeBits(x)
			for k := range 8 {
				dst[(i+k)*size+j] = byte(x >> (8 * k))
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transposeBits transposes a matrix of 8 by 8 bits, whose rows are bytes.
func transposeBits(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
