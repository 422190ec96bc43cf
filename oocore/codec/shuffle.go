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
