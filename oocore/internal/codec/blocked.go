package codec

import (
	"compress/bzip2"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// blocked is HDF5's filter LZ4, and bitshuffle, for reading (github.com/HDFGroup/hdf5_plugins, docs/RegisteredFilterPlugins.md, and
// github.com/kiyo-masui/bitshuffle): blocks, of which each is compressed by itself and in bitshuffle had its bits shuffled before. Where they are
// compressed, the sizes of all and of a block come before them, in eight and four bytes, and before each block its own in four, all big-endian.
// Elements of bitshuffle beyond a multiple of eight follow as they are.
type blocked struct {
	unwritten
	by    *blosc // how parts are compressed; nil where they are not
	size  int    // of an element whose bits are shuffled; 0 for LZ4
	bytes int64  // of a block
}

const (
	blocksHeader = 12
	minBits      = 128  // elements of a block of bitshuffle that chooses them itself
	bitsBlock    = 8192 // and about its bytes
)

func newLZ4Blocks(block int) (filter, error) {
	if block == 0 {
		block = 1 << 30 // as the filter has it: all
	}
	if block < 1 {
		return nil, fmt.Errorf("the HDF5 filter LZ4 has blocks of %d bytes", block)
	}
	return &blocked{by: &blosc{cname: "lz4"}, bytes: int64(block)}, nil
}

func newBitshuffle(size, block, compression int) (filter, error) {
	by, ok := map[int]*blosc{0: nil, 2: {cname: "lz4"}, 3: {cname: "zstd"}}[compression]
	if block == 0 {
		block = max(bitsBlock/max(size, 1)&^7, minBits)
	}
	if !ok || size < 1 || size > maxBlosc || block < 8 || block%8 != 0 || block > maxBlosc/size {
		return nil, fmt.Errorf("the HDF5 filter bitshuffle with blocks of %d elements of %d bytes, compressed by method %d, is not supported", block, size, compression)
	}
	return &blocked{by: by, size: size, bytes: int64(block) * int64(size)}, nil
}

func (b *blocked) text() string {
	text := "lz4"
	if b.size > 0 {
		text = "bitshuffle"
		if b.by != nil {
			text += ":" + b.by.cname
		}
	}
	return text
}
func (b *blocked) v3() json.RawMessage { return configured("hdf5."+b.text(), nil) }

// bound has room for blocks that do not become smaller.
func (b *blocked) bound(n int64) int64 {
	const more = 64 // of a block
	if b.by == nil {
		return n
	}
	return blocksHeader + n + n/128 + (n/b.bytes+2)*more
}

// largest is the largest block of n bytes.
func (b *blocked) largest(n int64) int64 { return min(n, b.bytes) }

func (b *blocked) decodeMemory(n int64) (m memory) {
	n = b.largest(n)
	if b.by != nil {
		m = b.by.inflateMemory(n)
		if b.size > 0 {
			m.arena += room(n)
		}
	}
	return m
}

func (b *blocked) decoder(n int64, work []byte) (decoder, error) {
	d := &blockedDecoder{blocked: b}
	if b.by != nil {
		c := cutter{work}
		if b.size > 0 {
			d.scratch = c.cut(b.largest(n))
		}
		d.inflate = b.by.inflate(b.largest(n), &c)
	}
	return d, nil
}

type blockedDecoder struct {
	*blocked
	inflate
	scratch []byte // of one block
}

func (d *blockedDecoder) decode(dst, src []byte) (int, error) {
	block := d.bytes
	if d.by != nil {
		if len(src) < blocksHeader {
			return 0, ErrShort
		}
		total := binary.BigEndian.Uint64(src)
		block = int64(binary.BigEndian.Uint32(src[8:]))
		if src = src[blocksHeader:]; total > uint64(len(dst)) {
			return 0, errLarge
		}
		dst = dst[:total]
	}
	if block < 1 || d.size > 0 && block%int64(8*d.size) != 0 {
		return 0, fmt.Errorf("the header says blocks of %d bytes", block)
	}
	shuffled := len(dst)
	if d.size > 0 {
		shuffled -= shuffled % (8 * d.size)
	}
	for rest := dst[:shuffled]; len(rest) > 0; {
		part := rest[:min(block, int64(len(rest)))]
		rest = rest[len(part):]
		plain, n := part, len(part)
		if d.by != nil {
			if len(src) < partHeader {
				return 0, ErrShort
			}
			size := int64(binary.BigEndian.Uint32(src))
			if src = src[partHeader:]; size > int64(len(src)) {
				return 0, errPart{size, len(src)}
			}
			n = int(size)
		}
		switch {
		case n > len(src):
			return 0, ErrShort
		case d.by == nil:
			plain = src[:n]
		case d.size == 0 && n == len(part):
			copy(part, src)
		default:
			if d.size > 0 {
				if len(part) > len(d.scratch) {
					return 0, errBlock(len(part), len(d.scratch))
				}
				plain = d.scratch[:len(part)]
			}
			if err := d.part(formats[d.by.cname], plain, src[:n]); err != nil {
				return 0, err
			}
		}
		if src = src[n:]; d.size > 0 {
			unshuffleBits(part, plain, d.size)
		}
	}
	switch n := copy(dst[shuffled:], src); {
	case n < len(dst)-shuffled:
		return 0, ErrShort
	case n < len(src):
		return 0, errMore
	}
	return len(dst), nil
}

// bzip is bzip2, for reading.
type bzip struct{ unwritten }

// bzipHeap is what the library's reader takes, one in use and one not collected yet.
const bzipHeap = 8 << 20

func (bzip) text() string                             { return "bzip2" }
func (bzip) v3() json.RawMessage                      { return configured("numcodecs.bz2", nil) }
func (bzip) bound(n int64) int64                      { return n + n/50 + 1024 }
func (bzip) decodeMemory(int64) memory                { return memory{heap: bzipHeap} }
func (b bzip) decoder(int64, []byte) (decoder, error) { return b, nil }

func (bzip) decode(dst, src []byte) (int, error) {
	mem := memoryReader(src)
	return readAll(dst, bzip2.NewReader(&mem))
}

// readAll decodes to the end, at which dst is full at the latest.
func readAll(dst []byte, r io.Reader) (int, error) {
	n := 0
	for n < len(dst) {
		part, err := r.Read(dst[n:])
		if n += part; err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, ended(err)
		}
	}
	if _, err := oneByte(r); err == nil {
		return n, errLarge
	} else if err != io.EOF {
		return n, err
	}
	return n, nil
}
