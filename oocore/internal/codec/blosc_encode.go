package codec

import (
	"encoding/binary"

	"io"
)

// frame is the header of what is written of n bytes.
func (b *blosc) frame(n int64) frame {
	f := frame{typesize: b.typesize, nbytes: int(n), blocksize: b.block(n), flags: formats[b.cname] << formatShift}
	if !b.splits(f.blocksize) {
		f.flags |= flagWhole
	}
	switch b.shuffle {
	case byteShuffle:
		f.flags |= flagShuffle
	case bitShuffle:
		f.flags |= flagBitShuffle
	}
	return f
}

// copiedFrame is the header of n bytes that are copied.
func (b *blosc) copiedFrame(n int64) frame {
	f := b.frame(n)
	f.flags |= flagCopied
	f.cbytes = frameHeader + f.nbytes
	return f
}

// blocks compresses block after block.
type blocks struct {
	frame      frame
	compressor compressor
	scratch    []byte // of a block, shuffled
}

func (b *blosc) encodeMemory(n int64) memory {
	block := b.mostBlock(n)
	return b.compressMemory(block).add(memory{arena: room(block)})
}

func (b *blosc) newBlocks(n int64, c *cutter) (e blocks, err error) {
	e.frame = b.frame(n)
	block := b.mostBlock(n)
	e.scratch = c.cut(block)
	e.compressor, err = b.compressor(block, c.cut(b.compressMemory(block).arena))
	return e, err
}

// encode puts a block into dst, which has room for the block, what its parts' sizes
// take, and what a compressor may write before it gives up.
func (e *blocks) encode(dst, src []byte) (int, error) {
	if mode := e.frame.shuffled(); mode != noShuffle {
		shuffleBlock(mode, e.scratch[:len(src)], src, e.frame.typesize)
		src = e.scratch[:len(src)]
	}
	splits := e.frame.splits(len(src))
	size := len(src) / splits
	at := 0
	for i := range splits {
		part := src[i*size : (i+1)*size]
		n, err := e.compressor.compress(dst[at+partHeader:], part)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			n = copy(dst[at+partHeader:], part)
		}
		binary.LittleEndian.PutUint32(dst[at:], uint32(n))
		at += partHeader + n
	}
	return at, nil
}

func (e *blocks) close() {
	if c, ok := e.compressor.(encodedParts); ok {
		c.encoder.close()
	}
}

// bloscEncoder encodes chunks as a whole.
type bloscEncoder struct {
	b *blosc
	blocks
}

func (b *blosc) encoder(n int64, work []byte) (encoder, error) {
	e, err := b.newBlocks(n, &cutter{work})
	return &bloscEncoder{b, e}, err
}

func (e *bloscEncoder) encode(dst, src []byte) ([]byte, error) {
	if len(src) != e.frame.nbytes { // behind a filter whose output varies
		e.frame = e.b.frame(int64(len(src)))
	}
	f := e.frame
	most := frameHeader + len(src)
	at := f.table(f.blocks())
	for i := range f.blocks() {
		if e.b.level == 0 || at > int64(most) {
			at = int64(most) + 1
			break
		}
		putStart(dst[f.table(i):], at)
		n, err := e.blocks.encode(dst[at:], src[i*f.blocksize:i*f.blocksize+f.size(i)])
		if err != nil {
			return nil, err
		}
		at += int64(n)
	}
	if at > int64(most) {
		e.b.copiedFrame(int64(len(src))).put(dst)
		copy(dst[frameHeader:], src)
		return dst[:most], nil
	}
	f.cbytes = int(at)
	f.put(dst)
	return dst[:at], nil
}

// bloscWriter encodes a chunk from front to back. Where its blocks begin is written
// in the end.
type bloscWriter struct {
	b *blosc
	blocks
	out   *outlet
	block []byte // the beginning of a block
	coded []byte // room for an encoded one
	table []byte
	done  int
}

func (b *blosc) writeMemory(n int64) memory {
	f := b.frame(n)
	block := int64(f.blocksize)
	return b.encodeMemory(n).add(memory{arena: room(block) + room(b.bound(block)) + room(4*int64(f.blocks()))})
}

func (b *blosc) writer(n int64, work []byte) (writer, error) {
	c := cutter{work}
	e, err := b.newBlocks(n, &c)
	if err != nil {
		return nil, err
	}
	block := int64(e.frame.blocksize)
	return &bloscWriter{b: b, blocks: e, block: c.cut(block)[:0], coded: c.cut(b.bound(block)), table: c.cut(4 * int64(e.frame.blocks()))}, nil
}

func (w *bloscWriter) reset(to io.Writer, n int64) error {
	out, ok := to.(*outlet)
	if !ok {
		return errAlone
	}
	w.out, w.block, w.done = out, w.block[:0], 0
	clear(w.table)
	if w.b.level == 0 {
		header := w.coded[:frameHeader]
		w.b.copiedFrame(n).put(header)
		_, err := out.Write(header)
		return err
	}
	// To be written again.
	header := w.coded[:frameHeader]
	w.frame.put(header)
	if _, err := out.Write(header); err != nil {
		return err
	}
	_, err := out.Write(w.table)
	return err
}

func (w *bloscWriter) Write(p []byte) (int, error) {
	if w.b.level == 0 {
		return w.out.Write(p)
	}
	n := len(p)
	for len(p) > 0 {
		size := w.frame.size(w.done)
		block := p
		if len(w.block) > 0 || len(p) < size {
			part := min(size-len(w.block), len(p))
			w.block = append(w.block, p[:part]...)
			p = p[part:]
			if len(w.block) < size {
				return n, nil
			}
			block = w.block
		} else {
			p = p[size:]
		}
		putStart(w.table[4*w.done:], w.out.size)
		coded, err := w.blocks.encode(w.coded, block[:size])
		if err != nil {
			return 0, err
		}
		if _, err := w.out.Write(w.coded[:coded]); err != nil {
			return 0, err
		}
		w.done++
		w.block = w.block[:0]
	}
	return n, nil
}

func (w *bloscWriter) end() error {
	if w.b.level == 0 {
		return nil
	}
	f := w.frame
	f.cbytes = int(w.out.size)
	header := w.coded[:frameHeader]
	f.put(header)
	if err := w.out.replace(header, 0); err != nil {
		return err
	}
	return w.out.replace(w.table, frameHeader)
}
