package codec

import (
	"encoding/json"
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
		return nil, fmt.Errorf("cname %q is not one of blosclz, lz4, lz4hc, zlib and zstd", cname)
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

// bound has room for what streams add to blocks that do not become smaller: four bytes
// to each part of a block.
func (b *blosc) bound(n int64) int64 { return n + n/16 + 8192 }

// maxAutomatic is the largest block that encoders choose of themselves.
const maxAutomatic = 1 << 20

// largest is the largest block of a chunk of n bytes that there is memory for.
func (b *blosc) largest(n int64) int64 { return min(n, max(int64(b.blocksize), maxAutomatic)) }

// The first level of a cache, by which Blosc's own library measures blocks.
const bloscCache = 32 << 10

// block is the size of the blocks that are written of n bytes: that of Blosc's own
// library, as a level's speed and ratio depend on it.
func (b *blosc) block(n int64) int {
	const (
		maxSplit = 256 << 10
		least    = 64 << 10
	)
	size := n
	high := b.cname == "lz4hc" || b.cname == "zlib" || b.cname == "zstd"
	switch {
	case n < int64(b.typesize):
		return 1
	case b.blocksize > 0:
		size = max(int64(b.blocksize), minSplit)
	case n >= bloscCache:
		size = bloscCache * []int64{1, 2, 4, 8, 16, 16, 32, 32, 32, 32}[b.level] / 4
		if high {
			size *= 2
			if b.level == 9 {
				size *= 2
			}
		}
	}
	if b.blocksize == 0 && b.level > 0 && b.splits(int(size)) {
		size = min(size, maxSplit) * int64(b.typesize)
		size = min(max(size, least), maxAutomatic)
	}
	size = min(size, n)
	if size > int64(b.typesize) {
		size -= size % int64(b.typesize)
	}
	return int(size)
}

// mostBlock is the largest block of up to n bytes: small chunks are one block.
func (b *blosc) mostBlock(n int64) int64 { return max(int64(b.block(n)), min(n, bloscCache)) }

// splits is whether blocks are split before they are compressed, which zstd loses more
// by than others.
func (b *blosc) splits(block int) bool {
	return b.cname != "zstd" && b.typesize <= maxSplits && block/b.typesize >= minSplit
}
