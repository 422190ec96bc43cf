package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// blosc2 is the container of C-Blosc 2 as HDF5's filter has it, for reading: a frame (README_CFRAME_FORMAT.rst of C-Blosc 2) of one chunk
// (README_CHUNK_FORMAT.rst), whose blocks are those of an array where the frame says so (README_B2ND_METALAYER.rst).
type blosc2 struct {
	unwritten
	by      *blosc  // how parts are compressed
	padding float64 // what blocks at the edges of an array make of its bytes at most
}

// maxBlock2 is the largest block that is read. A chunk's block is known from its bytes alone; C-Blosc 2 chooses what the caches hold.
const maxBlock2 = 16 << 20

// newBlosc2 makes the filter of its values in a file, of which the seventh is the compressor and from the ninth on the shape of a chunk is. The
// lengths of blocks are powers of two, or those of the chunk.
func newBlosc2(values []uint32) filter {
	b := blosc2{by: &blosc{cname: "zstd", typesize: 1, blocksize: maxBlock2}, padding: 1}
	if len(values) > 6 && int(values[6]) < len(bloscNames) {
		b.by.cname = bloscNames[values[6]]
	}
	for _, n := range values[min(8, len(values)):min(8+grid.MaxDims, len(values))] {
		most := uint64(n)
		for step := uint64(1); step <= uint64(n); step *= 2 {
			most = max(most, (uint64(n)+step-1)/step*step)
		}
		b.padding *= float64(most) / float64(max(n, 1))
	}
	return b
}

func (b blosc2) bound(n int64) int64 {
	return int64(min(math.Ceil(float64(n)*b.padding), maxBlosc)) + b.by.bound(0) + n/16
}

func (blosc2) text() string        { return "blosc2" }
func (blosc2) v3() json.RawMessage { return configured("hdf5.blosc2", nil) }

func (b blosc2) decodeMemory(n int64) memory {
	n = b.by.largest(n)
	return b.by.inflateMemory(n).add(memory{arena: 3 * room(n)})
}

func (b blosc2) decoder(n int64, work []byte) (decoder, error) {
	c := cutter{work}
	d := &blosc2Decoder{}
	for i := range d.buffers {
		d.buffers[i] = c.cut(b.by.largest(n))
	}
	d.inflate = b.by.inflate(n, &c)
	return d, nil
}

// blosc2Decoder decodes chunks as a whole.
type blosc2Decoder struct {
	inflate
	buffers [3][]byte // of one block: decoded, before the filter that is undone last, and the first block
}

// frame2 is the header of a frame.
type frame2 struct {
	header, chunks, nbytes, chunk int64 // bytes of the header, of the chunks as they are stored, of the array, and of a chunk
	item                          int   // bytes of an element
	shape, block                  []int // of an array; nil where blocks follow each other
}

// chunk2 is a chunk, with the header that Blosc 2 has.
type chunk2 struct {
	frame
	src           []byte
	filters, meta []byte
	special       byte
}

const (
	frameHeader2 = 0x57 // bytes of a frame before its metalayers
	chunkHeader2 = 32
	maxFilters2  = 6
	unreadable2  = 1 | 2 | 8 | 0x80 // dictionaries, longer headers, chunks that are elsewhere, measurements in place of data

	noFilter2, shuffle2, bitshuffle2, delta2, truncate2 = 0, 1, 2, 3, 4
	zeros2, nans2, value2, undefined2                   = 1, 2, 3, 4
)

func (d *blosc2Decoder) decode(dst, src []byte) (int, error) {
	f, err := parseFrame2(src)
	if err != nil {
		return 0, err
	}
	whole := f.nbytes
	if f.shape != nil {
		whole = int64(grid.Size(f.shape)) * int64(f.item)
	}
	switch {
	case whole > int64(len(dst)):
		return 0, fmt.Errorf("the frame has %d bytes, and a chunk has %d", whole, len(dst))
	case whole < 1 || f.chunk < f.nbytes:
		return 0, fmt.Errorf("the frame has %d bytes in chunks of %d, where it is to be one chunk", f.nbytes, f.chunk)
	}
	dst = dst[:whole]
	index, err := parseChunk2(src[f.header+f.chunks:])
	if err != nil {
		return 0, fmt.Errorf("the index of its chunks: %w", err)
	}
	var entry [8]byte
	if index.nbytes != len(entry) {
		return 0, fmt.Errorf("the index of its chunks has %d bytes, not %d", index.nbytes, len(entry))
	}
	if err := d.chunk(index, func(_ int, block []byte) { copy(entry[:], block) }); err != nil {
		return 0, fmt.Errorf("the index of its chunks: %w", err)
	}
	at := binary.LittleEndian.Uint64(entry[:])
	if at>>63 != 0 { // it is not stored
		return len(dst), fill2(dst, byte(at>>56)&7, f.item, nil)
	}
	if at > uint64(f.chunks) {
		return 0, ErrShort
	}
	c, err := parseChunk2(src[f.header+int64(at) : f.header+f.chunks])
	switch {
	case err != nil:
		return 0, err
	case int64(c.nbytes) != f.nbytes:
		return 0, fmt.Errorf("its chunk has %d bytes, the frame %d", c.nbytes, f.nbytes)
	case c.special != 0:
		return len(dst), fill2(dst, c.special, c.typesize, c.src[chunkHeader2:])
	case f.shape == nil:
		return len(dst), d.chunk(c, func(i int, block []byte) { copy(dst[i*c.blocksize:], block) })
	case c.blocksize != grid.Size(f.block)*f.item:
		return 0, fmt.Errorf("its blocks have %d bytes, those of its shape %d", c.blocksize, grid.Size(f.block)*f.item)
	}
	g := grid.Grid{Shape: f.shape, Chunks: f.block}
	to, from := grid.Strides(append(slices.Clone(f.shape), f.item)), grid.Strides(append(slices.Clone(f.block), f.item))
	return len(dst), d.chunk(c, func(i int, block []byte) {
		box := g.Box(i)
		kernel.Copy(1, append(box.Shape, f.item), dst, grid.Offset(box.Start, grid.Entire(f.shape))*f.item, to, block, 0, from)
	})
}

// parseFrame2 checks the header of a frame.
func parseFrame2(b []byte) (f frame2, err error) {
	if len(b) < frameHeader2 {
		return f, ErrShort
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	f = frame2{header: int64(binary.BigEndian.Uint32(b[0xb:])), nbytes: number(0x1e), chunks: number(0x27),
		item: int(binary.BigEndian.Uint32(b[0x30:])), chunk: int64(binary.BigEndian.Uint32(b[0x3a:]))}
	switch size := int64(len(b)); {
	case string(b[2:10]) != "b2frame\x00":
		return f, errors.New("it is no frame of Blosc 2")
	case b[0x1a]&0xf != 0:
		return f, fmt.Errorf("a frame of kind %d, whose chunks are elsewhere", b[0x1a]&0xf)
	case number(0x10) > size:
		return f, ErrShort
	case f.header < frameHeader2 || f.header > size || f.chunks < 0 || f.chunks > size-f.header || f.item < 1 || f.item > maxBlosc:
		return f, fmt.Errorf("its header says %d bytes, %d of chunks, and elements of %d", f.header, f.chunks, f.item)
	}
	// An array of three: what follows takes, names and offsets, values.
	if m := b[frameHeader2:f.header]; len(m) >= 7 {
		n := int(binary.BigEndian.Uint16(m[5:]))
		for m = m[7:]; n > 0; n-- {
			if len(m) < 1 || len(m) < int(m[0]&31)+6 {
				return f, ErrShort
			}
			name := int(m[0]&31) + 1
			if at := int64(binary.BigEndian.Uint32(m[name+1:])) + 5; string(m[1:name]) == "b2nd" {
				if at > f.header {
					return f, ErrShort
				}
				return f, f.array(b[at:f.header])
			}
			m = m[name+5:]
		}
	}
	return f, nil
}

// array takes the shapes of an array, which is one chunk.
func (f *frame2) array(b []byte) error {
	// list is a list of numbers of so many bytes.
	list := func(size int) []int {
		if len(b) < 1 || len(b) < 1+int(b[0]&15)*(1+size) {
			b = nil
			return nil
		}
		all := make([]int, b[0]&15)
		b = b[1:]
		for i := range all {
			var wide [8]byte
			copy(wide[8-size:], b[1:])
			all[i], b = int(binary.BigEndian.Uint64(wide[:])), b[1+size:]
		}
		return all
	}
	if len(b) < 3 {
		return ErrShort
	}
	b = b[3:]
	shape, chunk, block := list(8), list(4), list(4)
	if len(chunk) == 0 || len(block) != len(chunk) || grid.Check(chunk, f.item) != nil {
		return fmt.Errorf("an array of shape %s in chunks of %s and blocks of %s", grid.Format(shape), grid.Format(chunk), grid.Format(block))
	}
	padded := slices.Clone(chunk)
	for d, n := range block {
		if n < 1 || n > chunk[d] {
			return fmt.Errorf("blocks of %s in a chunk of %s", grid.Format(block), grid.Format(chunk))
		}
		padded[d] = (chunk[d] + n - 1) / n * n
	}
	if !slices.Equal(shape, chunk) || grid.Check(padded, f.item) != nil || f.chunk != int64(grid.Size(padded))*int64(f.item) {
		return fmt.Errorf("an array of shape %s in chunks of %s, of %d bytes, where it is to be one chunk", grid.Format(shape), grid.Format(chunk), f.chunk)
	}
	f.shape, f.block = shape, block
	return nil
}

// parseChunk2 checks the header of the chunk that bytes begin with.
func parseChunk2(b []byte) (c chunk2, err error) {
	if len(b) < chunkHeader2 {
		return c, ErrShort
	}
	c.frame = frame{flags: b[2], typesize: max(int(b[3]), 1), nbytes: int(binary.LittleEndian.Uint32(b[4:])),
		blocksize: int(binary.LittleEndian.Uint32(b[8:])), cbytes: int(binary.LittleEndian.Uint32(b[12:]))}
	c.blocksize = min(c.blocksize, c.nbytes)
	c.filters, c.meta, c.special = b[16:][:maxFilters2], b[24:][:maxFilters2], b[31]>>4&7
	switch {
	case c.flags&flagShuffle == 0 || c.flags&flagBitShuffle == 0:
		return c, errors.New("a chunk with the header of Blosc 1")
	case b[30] != 0 || b[31]&unreadable2 != 0:
		return c, fmt.Errorf("a chunk with the flags %#x and %#x, which is not supported", b[31], b[30])
	case c.cbytes < chunkHeader2 || c.cbytes > len(b):
		return c, ErrShort
	case c.nbytes < 1 || c.nbytes > math.MaxInt32 || c.special == 0 && c.blocksize < 1:
		return c, fmt.Errorf("the header says blocks of %d of %d bytes", c.blocksize, c.nbytes)
	case c.special == 0 && c.copied() && c.cbytes != chunkHeader2+c.nbytes:
		return c, fmt.Errorf("%d bytes are copied to %d", c.nbytes, c.cbytes-chunkHeader2)
	case c.special == 0 && !c.copied() && c.cbytes < chunkHeader2+4*c.blocks():
		return c, fmt.Errorf("%d bytes have no room for where %d blocks begin", c.cbytes, c.blocks())
	}
	c.src = b[:c.cbytes]
	return c, nil
}

// fill2 fills a chunk that has one value.
func fill2(dst []byte, special byte, size int, value []byte) error {
	switch special {
	case zeros2, undefined2:
		clear(dst)
		return nil
	case nans2:
		if value = binary.LittleEndian.AppendUint32(nil, 0x7fc00000); size == 8 {
			value = binary.LittleEndian.AppendUint64(nil, 0x7ff8<<48)
		} else if size != 4 {
			return fmt.Errorf("a chunk of NaN with elements of %d bytes", size)
		}
	case value2:
	default:
		return fmt.Errorf("a chunk of the special value %d", special)
	}
	if len(value) == 0 || len(value) > len(dst) {
		return fmt.Errorf("a chunk of one value of %d bytes", len(value))
	}
	copy(dst, value)
	repeat(dst, len(value))
	return nil
}

// chunk decodes the blocks of a chunk.
func (d *blosc2Decoder) chunk(c chunk2, put func(i int, block []byte)) error {
	if c.special != 0 {
		block := make([]byte, 8) // only the index of a frame is small enough
		if err := fill2(block, c.special, c.typesize, c.src[chunkHeader2:]); err != nil {
			return err
		}
		put(0, block)
		return nil
	}
	if !c.copied() && c.blocksize > len(d.buffers[0]) {
		return errBlock(c.blocksize, len(d.buffers[0]))
	}
	for i := range c.blocks() {
		if c.copied() {
			put(i, c.src[chunkHeader2+i*c.blocksize:][:c.size(i)])
			continue
		}
		at := int64(int32(binary.LittleEndian.Uint32(c.src[chunkHeader2+4*i:])))
		if at < int64(chunkHeader2+4*c.blocks()) || at > int64(len(c.src)) {
			return fmt.Errorf("block %d begins at %d of %d bytes", i, at, len(c.src))
		}
		block, other := d.buffers[0][:c.size(i)], d.buffers[1][:c.size(i)]
		if err := d.streams(c, block, c.src[at:]); err != nil {
			return err
		}
		first := d.buffers[2][:c.blocksize]
		for k, f := range slices.Backward(c.filters) {
			size := c.typesize
			switch f {
			case noFilter2, truncate2:
				continue
			case shuffle2:
				if c.meta[k] != 0 {
					size = int(c.meta[k])
				}
				unshuffleBytes(other, block, size)
			case bitshuffle2: // of eight elements each
				whole := len(block) / size &^ 7 * size
				unshuffleBits(other[:whole], block[:whole], size)
				copy(other[whole:], block[whole:])
			case delta2:
				if bytes.ContainsAny(c.filters[:k], "\x01\x02") {
					return errors.New("differences of shuffled blocks are not supported")
				}
				undelta2(block, first, i == 0, size)
				continue
			default:
				return fmt.Errorf("filter %d of Blosc 2 is not supported", f)
			}
			block, other = other, block
		}
		if i == 0 {
			copy(first, block)
		}
		put(i, block)
	}
	return nil
}

// undelta2 undoes the filter of differences, which are exclusive ors: of the first block with the element before, of others with the first block.
func undelta2(block, first []byte, isFirst bool, size int) {
	if size != 2 && size != 4 && size != 8 {
		size = map[bool]int{true: 8, false: 1}[size%8 == 0]
	}
	from := 0
	if isFirst {
		first, from = block, size
	}
	for i := from; i < len(block)/size*size; i++ {
		block[i] ^= first[i-from]
	}
}

// streams decodes what is compressed of one block from the beginning of src.
func (d *blosc2Decoder) streams(c chunk2, dst, src []byte) error {
	n := 1
	if c.flags&flagWhole == 0 && len(dst) == c.blocksize {
		n = c.typesize
	}
	if len(dst)%n != 0 {
		return fmt.Errorf("a block of %d bytes in %d parts", len(dst), n)
	}
	for part := range slices.Chunk(dst, len(dst)/n) {
		if len(src) < partHeader {
			return ErrShort
		}
		size := int(int32(binary.LittleEndian.Uint32(src)))
		switch src = src[partHeader:]; {
		case size == 0:
			clear(part)
		case size < 0: // one byte again and again
			if len(src) < 1 || src[0]&1 == 0 || size < -255 {
				return errPart{int64(size), len(src)}
			}
			part[0] = byte(-size)
			repeat(part, 1)
			src = src[1:]
		case size > len(src):
			return errPart{int64(size), len(src)}
		case size == len(part):
			copy(part, src)
			src = src[size:]
		default:
			if err := d.part(c.format(), part, src[:size]); err != nil {
				return err
			}
			src = src[size:]
		}
	}
	return nil
}
