package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// blosc is the container of C-Blosc 1: blocks, each shuffled and compressed by itself.
type blosc struct {
	cname     string
	level     int
	shuffle   shuffleMode
	typesize  int
	blocksize int // 0 where the encoder chooses
}

// maxBlosc is the most bytes that a chunk can have.
const maxBlosc = 1<<31 - 1 - 16

var bloscNames = []string{"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"}

func newBlosc(cname string, level int, mode shuffleMode, typesize, blocksize int) (filter, error) {
	switch {
	case !slices.Contains(bloscNames, cname) || cname == "snappy":
		return nil, fmt.Errorf("cname %q is none of blosclz, lz4, lz4hc, zlib and zstd", cname)
	case level < 0 || level > 9:
		return nil, fmt.Errorf("clevel %d is not one of 0 to 9", level)
	case mode < noShuffle || mode > bitShuffle:
		return nil, fmt.Errorf("shuffle %d is not one of 0 to 2", mode)
	case typesize < 1:
		return nil, fmt.Errorf("typesize %d is below 1", typesize)
	case blocksize < 0 || blocksize > maxBlosc:
		return nil, fmt.Errorf("blocksize %d is not one of 0 to %d", blocksize, maxBlosc)
	}
	if typesize > 255 {
		typesize = 1 // as Blosc's own library does
	}
	return &blosc{cname, level, mode, typesize, blocksize}, nil
}

type bloscConfig struct {
	Typesize  int    `json:"typesize,omitempty"`
	Cname     string `json:"cname"`
	Clevel    int    `json:"clevel"`
	Shuffle   string `json:"shuffle"`
	Blocksize int    `json:"blocksize"`
}

func parseBlosc(raw json.RawMessage, t dtype.Type) (filter, error) {
	c := bloscConfig{Typesize: t.Size(), Cname: "zstd", Clevel: 5, Shuffle: "noshuffle"}
	if err := strict(raw, &c); err != nil {
		return nil, err
	}
	mode, err := shuffleOf(c.Shuffle)
	if err != nil {
		return nil, err
	}
	return newBlosc(c.Cname, c.Clevel, mode, c.Typesize, c.Blocksize)
}

func (b *blosc) text() string {
	return fmt.Sprintf("blosc:%s:%d:%s", b.cname, b.level, shuffleNames[b.shuffle])
}

func (b *blosc) v3() json.RawMessage {
	return configured("blosc", bloscConfig{b.typesize, b.cname, b.level, shuffleNames[b.shuffle], b.blocksize})
}

func (b *blosc) bound(n int64) int64       { return n + n/16 + 1024 }
func (b *blosc) decodeMemory(int64) memory { return memory{} }
func (b *blosc) encodeMemory(int64) memory { return memory{} }
func (b *blosc) decoder(n int64, work []byte) (decoder, error) {
	return nil, errors.New("not yet")
}
func (b *blosc) encoder(n int64, work []byte) (encoder, error) {
	return nil, errors.New("not yet")
}
