package codec

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/simd"
)

// hasAVX2 is whether loops may use AVX2. Tests turn it off to compare.
var hasAVX2 = simd.Level() != "go"

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
	return 0, fmt.Errorf("shuffle %q is not one of noshuffle, shuffle and bitshuffle", name)
}

// shuffle is numcodecs' filter: the first bytes of all elements, then the second ones.
type shuffle struct {
	stateless
	size int
}

func newShuffle(size int) (filter, error) {
	if size < 1 || size > 255 {
		return nil, fmt.Errorf("elementsize %d is not one of 1 to 255", size)
	}
	return &shuffle{size: size}, nil
}

func (s *shuffle) text() string { return "shuffle" }
func (s *shuffle) v3() json.RawMessage {
	return configured("numcodecs.shuffle", struct {
		Elementsize int `json:"elementsize"`
	}{s.size})
}
func (s *shuffle) bound(n int64) int64                        { return n }
func (s *shuffle) decoder(int64, []byte) (decoder, error)     { return s, nil }
func (s *shuffle) encoder(n int64, _ []byte) (encoder, error) { return s, nil }

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
	toPlanes(dst, src[:n*size], size, n)
	copy(dst[n*size:], src[n*size:])
}

// unshuffleBytes undoes shuffleBytes.
func unshuffleBytes(dst, src []byte, size int) {
	n := len(src) / size
	fromPlanes(dst[:n*size], src, size, n)
	copy(dst[n*size:], src[n*size:])
}

// toPlanes puts byte j of element i at j·plane + i.
func toPlanes(dst, src []byte, size, plane int) {
	n := len(src) / size
	if size == 1 {
		copy(dst, src)
		return
	}
	done := shuffleGroups(dst, src, size, plane)
	for j := range size {
		row := dst[j*plane : j*plane+n]
		for i := done; i < n; i++ {
			row[i] = src[i*size+j]
		}
	}
}

// fromPlanes undoes toPlanes.
func fromPlanes(dst, src []byte, size, plane int) {
	n := len(dst) / size
	if size == 1 {
		copy(dst, src)
		return
	}
	done := unshuffleGroups(dst, src, size, plane)
	for j := range size {
		row := src[j*plane : j*plane+n]
		for i := done; i < n; i++ {
			dst[i*size+j] = row[i]
		}
	}
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

// tile is how many bytes are taken through both steps of shuffling bits while they are
// in the cache.
const tile = 16 << 10

// tileElements is how many elements of a size are in a tile: a multiple of 8.
func tileElements(size int) int { return max(tile/size&^255, 8) }

// shuffleBits puts bit k of byte j of element i at bit i of row 8·j + k, which has n/8
// bytes. Where the number n of elements is no multiple of 8 it only copies.
func shuffleBits(dst, src []byte, size int) {
	n := len(src) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	var planes [tile]byte
	for at, step := 0, tileElements(size); at < n; at += step {
		part := min(step, n-at)
		toPlanes(planes[:], src[at*size:(at+part)*size], size, part)
		for j := range size {
			splitBits(dst[j*n+at/8:], planes[j*part:(j+1)*part], n/8)
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
	var planes [tile]byte
	for at, step := 0, tileElements(size); at < n; at += step {
		part := min(step, n-at)
		for j := range size {
			joinBits(planes[j*part:(j+1)*part], src[j*n+at/8:], n/8)
		}
		fromPlanes(dst[at*size:(at+part)*size], planes[:], size, part)
	}
	copy(dst[n*size:], src[n*size:])
}

// splitBits puts bit k of byte i at bit i of row k. row is the distance of the rows.
func splitBits(dst, src []byte, row int) {
	for i := splitGroups(dst, src, row); i < len(src); i += 8 {
		x := transposeBits(binary.LittleEndian.Uint64(src[i:]))
		for k := range 8 {
			dst[k*row+i/8] = byte(x >> (8 * k))
		}
	}
}

// joinBits undoes splitBits.
func joinBits(dst, src []byte, row int) {
	for i := joinGroups(dst, src, row); i < len(dst); i += 8 {
		var x uint64
		for k := range 8 {
			x |= uint64(src[k*row+i/8]) << (8 * k)
		}
		binary.LittleEndian.PutUint64(dst[i:], transposeBits(x))
	}
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
