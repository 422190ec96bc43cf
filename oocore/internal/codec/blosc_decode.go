package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

func (b *blosc) decodeMemory(n int64) memory {
	return b.inflateMemory(b.largest(n)).add(memory{arena: room(b.largest(n))})
}

// bloscDecoder decodes chunks as a whole, or those of their blocks that are asked for.
type bloscDecoder struct {
	inflate
	scratch  []byte // of one block
	frame    frame
	dst, src []byte
	done     []bool // blocks
}

func (b *blosc) decoder(n int64, work []byte) (decoder, error) {
	c := cutter{work}
	d := &bloscDecoder{scratch: c.cut(b.largest(n))}
	d.inflate = b.inflate(n, &c)
	return d, nil
}

func (b *blosc) inflate(n int64, c *cutter) inflate {
	n = b.largest(n)
	return inflate{n: n, lz4: blockOf().decompressor(), planned: b.cname == "zstd", work: c.cut(b.inflateMemory(n).arena)}
}

func (d *bloscDecoder) decode(dst, src []byte) (int, error) {
	if err := d.begin(dst, src); err != nil {
		return 0, err
	}
	return d.frame.nbytes, d.part(0, d.frame.nbytes)
}

// begin turns to a chunk, of which part decodes to dst.
func (d *bloscDecoder) begin(dst, src []byte) error {
	f, err := parseFrame(src, int64(len(src)), int64(len(dst)))
	if err != nil {
		return err
	}
	if !f.copied() && f.shuffled() != noShuffle && f.blocksize > len(d.scratch) {
		return errBlock(f.blocksize, len(d.scratch))
	}
	d.frame, d.dst, d.src = f, dst, src
	if f.copied() {
		copy(dst, src[frameHeader:])
		return nil
	}
	d.done = slices.Grow(d.done[:0], f.blocks())[:f.blocks()]
	clear(d.done)
	return nil
}

// part decodes the blocks that some bytes of the chunk lie in, but for those that it has decoded.
func (d *bloscDecoder) part(from, to int) error {
	f := d.frame
	if f.copied() || from >= to {
		return nil
	}
	for i := from / f.blocksize; i <= (to-1)/f.blocksize; i++ {
		if d.done[i] {
			continue
		}
		at, err := f.start(i, d.src[f.table(i):])
		if err != nil {
			return err
		}
		block := d.dst[i*f.blocksize : i*f.blocksize+f.size(i)]
		plain := block
		if f.shuffled() != noShuffle {
			plain = d.scratch[:len(block)]
		}
		if err := d.block(f, plain, d.src[at:]); err != nil {
			return err
		}
		unshuffle(f.shuffled(), block, plain, f.typesize)
		d.done[i] = true
	}
	return nil
}

var errAlone = errors.New("with other codecs it has no streams")

func errBlock(size, have int) error {
	return fmt.Errorf("its blocks of %d bytes are larger than the metadata's blocksize, for which there are %d bytes of memory", size, have)
}

// maxParts is what the sizes of a block's parts take.
const maxParts = partHeader * maxSplits

// bloscReader decodes a chunk from front to back.
type bloscReader struct {
	inflate
	in      *window
	frame   frame
	next    int    // the block that comes next
	encoded []byte // room for a block's
	plain   []byte // and before it is unshuffled
	block   []byte // and decoded
	left    []byte // what was not read yet
	table   []byte // entries from that of block first on
	first   int
	entries [1024 * 4]byte
}

func (b *blosc) alone() bool { return true }

func (b *blosc) readMemory(n int64) memory {
	largest := b.largest(n)
	const object = 8 << 10
	return b.inflateMemory(largest).add(memory{2*room(largest) + room(largest+maxParts), object})
}

func (b *blosc) reader(n int64, work []byte) (reader, error) {
	c := cutter{work}
	largest := b.largest(n)
	r := &bloscReader{encoded: c.cut(largest + maxParts), plain: c.cut(largest), block: c.cut(largest)}
	r.inflate = b.inflate(n, &c)
	return r, nil
}

func (r *bloscReader) reset(in input, n int64) (err error) {
	w, ok := in.(*window)
	if !ok {
		return errAlone
	}
	r.in, r.next, r.left, r.table, r.first = w, 0, nil, nil, 0
	if w.size < frameHeader {
		return ErrShort
	}
	header := r.entries[:frameHeader]
	if err := w.readAt(header, 0); err != nil {
		return err
	}
	if r.frame, err = parseFrame(header, w.size, n); err != nil {
		return err
	}
	if int64(r.frame.nbytes) != n {
		return fmt.Errorf("the header says %d bytes, and a chunk has %d", r.frame.nbytes, n)
	}
	if r.frame.copied() {
		w.at = frameHeader
		return nil
	}
	w.at = w.size // blocks are read past the window
	if r.frame.blocksize > len(r.block) {
		return errBlock(r.frame.blocksize, len(r.block))
	}
	return nil
}

func (r *bloscReader) Read(p []byte) (int, error) {
	if r.frame.copied() {
		return r.in.Read(p)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.left) == 0 {
		if r.next == r.frame.blocks() {
			return 0, io.EOF
		}
		size := r.frame.size(r.next)
		direct := len(p) >= size
		if direct {
			p = p[:size]
		} else {
			r.left = r.block[:size]
		}
		to := r.left
		if direct {
			to = p
		}
		if err := r.decode(to); err != nil {
			return 0, err
		}
		r.next++
		if direct {
			return size, nil
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *bloscReader) ReadByte() (byte, error) { return oneByte(r) }

// decode decodes the next block.
func (r *bloscReader) decode(block []byte) error {
	at, err := r.start(r.next)
	if err != nil {
		return err
	}
	// Most often the next block begins where this one ends. Blocks of encoders with
	// several threads may lie in any order.
	most := min(int64(len(block)+maxParts), int64(r.frame.cbytes)-at)
	size := most
	if r.next+1 < r.frame.blocks() {
		after, err := r.start(r.next + 1)
		if err != nil {
			return err
		}
		if after > at {
			size = min(size, after-at)
		}
	}
	plain := block
	if r.frame.shuffled() != noShuffle {
		plain = r.plain[:len(block)]
	}
	for {
		encoded := r.encoded[:size]
		if err := r.in.readAt(encoded, at); err != nil {
			return err
		}
		err := r.inflate.block(r.frame, plain, encoded)
		if errors.Is(err, ErrShort) && size < most {
			size = most
			continue
		}
		if err != nil {
			return err
		}
		unshuffle(r.frame.shuffled(), block, plain, r.frame.typesize)
		return nil
	}
}

// start is where block i begins.
func (r *bloscReader) start(i int) (int64, error) {
	if i < r.first || i >= r.first+len(r.table)/4 {
		n := min(r.frame.blocks()-i, len(r.entries)/4)
		r.first, r.table = i, r.entries[:4*n]
		if err := r.in.readAt(r.table, r.frame.table(i)); err != nil {
			r.table = nil
			return 0, err
		}
	}
	return r.frame.start(i, r.table[4*(i-r.first):])
}

// putStart notes where block i begins.
func putStart(entry []byte, at int64) { binary.LittleEndian.PutUint32(entry, uint32(at)) }
