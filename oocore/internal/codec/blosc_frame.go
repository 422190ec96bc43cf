package codec

import (
	"encoding/binary"
	"fmt"
)

// frame is the header of a Blosc chunk. What follows it is where each block begins, in
// four bytes each, then the blocks; or, where the data are only copied, the data.
// A block is a number of parts, each of them a size in four bytes and compressed data,
// or the data themselves where the size is that of the data.
type frame struct {
	flags     byte
	typesize  int
	nbytes    int // decoded
	blocksize int
	cbytes    int // encoded, with the header
}

const (
	frameHeader  = 16
	frameVersion = 2 // of the format
	partHeader   = 4

	flagShuffle    = 1 << 0
	flagCopied     = 1 << 1
	flagBitShuffle = 1 << 2
	flagWhole      = 1 << 4 // blocks are not split
	formatShift    = 5

	minSplit  = 128 // bytes of a part
	maxSplits = 16
)

// The formats of compressed data.
const (
	formatBloscLZ = 0
	formatLZ4     = 1
	formatZlib    = 3
	formatZstd    = 4
)

// formats are by the name of the compressor, and versions those of the formats.
var (
	formats  = map[string]byte{"blosclz": formatBloscLZ, "lz4": formatLZ4, "lz4hc": formatLZ4, "zlib": formatZlib, "zstd": formatZstd}
	versions = [...]byte{formatBloscLZ: 1, formatLZ4: 1, formatZlib: 1, formatZstd: 1}
)

// parseFrame checks a header against the number of bytes that are stored, and that a
// chunk can have at most.
func parseFrame(b []byte, stored, most int64) (f frame, err error) {
	if len(b) < frameHeader {
		return f, ErrShort
	}
	f = frame{
		flags:     b[2],
		typesize:  int(b[3]),
		nbytes:    int(binary.LittleEndian.Uint32(b[4:])),
		blocksize: int(binary.LittleEndian.Uint32(b[8:])),
		cbytes:    int(binary.LittleEndian.Uint32(b[12:])),
	}
	switch {
	case b[0] != frameVersion:
		return f, fmt.Errorf("version %d of its format is not %d", b[0], frameVersion)
	case int64(f.cbytes) > stored:
		return f, ErrShort
	case int64(f.cbytes) < stored:
		return f, fmt.Errorf("the header says %d bytes, and there are %d", f.cbytes, stored)
	case int64(f.nbytes) > most:
		return f, fmt.Errorf("the header says %d bytes, and a chunk has %d", f.nbytes, most)
	case f.copied() && f.cbytes != frameHeader+f.nbytes:
		return f, fmt.Errorf("%d bytes are copied to %d", f.nbytes, f.cbytes-frameHeader)
	case f.copied():
		return f, nil
	case f.flags&flagShuffle != 0 && f.flags&flagBitShuffle != 0:
		return f, fmt.Errorf("the header is that of a later version of its format")
	case f.nbytes < 1 || f.typesize < 1 || f.blocksize < 1 || f.blocksize > f.nbytes:
		return f, fmt.Errorf("the header says blocks of %d of %d bytes, and elements of %d", f.blocksize, f.nbytes, f.typesize)
	case int64(f.cbytes) < f.table(f.blocks()):
		return f, fmt.Errorf("%d bytes have no room for where %d blocks begin", f.cbytes, f.blocks())
	}
	return f, nil
}

func (f frame) put(b []byte) {
	b[0], b[1], b[2], b[3] = frameVersion, versions[f.format()], f.flags, byte(f.typesize)
	binary.LittleEndian.PutUint32(b[4:], uint32(f.nbytes))
	binary.LittleEndian.PutUint32(b[8:], uint32(f.blocksize))
	binary.LittleEndian.PutUint32(b[12:], uint32(f.cbytes))
}

func (f frame) format() byte { return f.flags >> formatShift }
func (f frame) copied() bool { return f.flags&flagCopied != 0 }
func (f frame) blocks() int  { return (f.nbytes-1)/f.blocksize + 1 }

// table is where the entry of block i lies, and for the number of blocks the first
// block.
func (f frame) table(i int) int64 { return frameHeader + 4*int64(i) }

// size is the number of bytes of block i.
func (f frame) size(i int) int { return min(f.blocksize, f.nbytes-i*f.blocksize) }

// splits is the number of parts of a block; the last one, where it is smaller, has one.
func (f frame) splits(size int) int {
	if f.flags&flagWhole != 0 || size < f.blocksize {
		return 1
	}
	return splitsOf(f.typesize, size)
}

func splitsOf(typesize, block int) int {
	if typesize > maxSplits || block/typesize < minSplit {
		return 1
	}
	return typesize
}

// shuffled is how a block is shuffled.
func (f frame) shuffled() shuffleMode {
	switch {
	case f.flags&flagBitShuffle != 0:
		return bitShuffle
	case f.flags&flagShuffle != 0 && f.typesize > 1:
		return byteShuffle
	}
	return noShuffle
}

// start checks where block i begins.
func (f frame) start(i int, entry []byte) (int64, error) {
	at := int64(binary.LittleEndian.Uint32(entry))
	if at < f.table(f.blocks()) || at > int64(f.cbytes)-partHeader {
		return 0, fmt.Errorf("block %d begins at %d of %d bytes", i, at, f.cbytes)
	}
	return at, nil
}
