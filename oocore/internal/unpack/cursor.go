package unpack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

const (
	// packedBytes is how much is read from the file at once.
	packedBytes = 64 << 10
	// pieceBytes bounds what is decoded before a cancelled read ends.
	pieceBytes = 1 << 20
)

// Cursor reads a stream from front to back. To go back it resumes from an earlier place.
type Cursor struct {
	s       *Stream
	pool    *Pool
	packed  *bufio.Reader
	counted counter
	inflate io.Reader
	zlib    *zlibReader // nil where there is no zlib
	zstd    *zstd.Decoder
	at      int64     // of the next byte of the stream
	sum     uint32    // of all bytes before; in gzip, of those of the member
	origin  flateBase // of the offsets that flate counts
	next    *place    // ahead of at, to be kept when its checksum is known
}

// flateBase is where a member of gzip begins, packed and unpacked, and by how many packed bytes flate counts too many since.
type flateBase struct{ packed, at, excess int64 }

// place is where the decoding of a stream can continue, between two blocks.
type place struct {
	flate.InflateCheckpoint
	sum uint32 // of all bytes before; in gzip, of those of the member
}

// counter counts what is read from the file.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func newCursor(s *Stream, p *Pool) *Cursor {
	c := &Cursor{s: s, pool: p, packed: bufio.NewReaderSize(nil, packedBytes)}
	c.resume(place{})
	return c
}

// Packed returns how many bytes the cursor has read from the file.
func (c *Cursor) Packed() int64 { return c.counted.n }

// resume goes to a place, or to the first byte.
func (c *Cursor) resume(p place) {
	c.counted.r = io.NewSectionReader(c.s.File, c.s.At+p.CompressedOffset, c.s.Packed-p.CompressedOffset)
	c.packed.Reset(&c.counted)
	c.at, c.sum, c.next, c.origin, c.inflate = p.UncompressedOffset, p.sum, nil, flateBase{}, nil
	switch {
	case c.s.Kind == Zstd:
		c.openZstd()
	case p.UncompressedOffset > 0:
		c.openBlocks(p.InflateCheckpoint, flate.WithResumeFrom(p.InflateCheckpoint))
	case c.s.Kind == Deflate:
		c.openDeflate(0)
	default:
		c.openMember(0)
	}
}

func (c *Cursor) openDeflate(packed int64) {
	c.origin, c.sum = flateBase{packed, c.at, 0}, 0
	c.openBlocks(flate.InflateCheckpoint{})
}

// openBlocks reads blocks of deflate from a place on: by zlib, or by package flate with options.
func (c *Cursor) openBlocks(from flate.InflateCheckpoint, opts ...flate.ReaderOpt) {
	if c.zlib == nil {
		c.zlib = newZlibReader(c)
	}
	if c.zlib != nil && c.zlib.begin(from) {
		c.inflate = c.zlib
		return
	}
	c.inflate = flate.NewReaderOpts(c.packed, append(opts, flate.WithEobCallback(c.pass))...)
}

// openMember reads the header of a member of gzip, which begins at an offset of the file (RFC 1952).
func (c *Cursor) openMember(packed int64) {
	n, err := gzipHeader(c.packed)
	if err != nil {
		c.inflate = failing{err}
		return
	}
	c.openDeflate(packed + n)
}

func (c *Cursor) openZstd() {
	var err error
	if c.zstd == nil {
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
	}
	if err == nil {
		err = c.zstd.Reset(c.packed)
	}
	c.inflate = c.zstd
	if err != nil {
		c.inflate = failing{err}
	}
}

// failing is a stream that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// pass is called between blocks. flate counts the bytes twice that it has in hand before a stored block. It has none behind that, and else
// has not used all bits that it has read: so it is never ahead but for that.
func (c *Cursor) pass(p flate.InflateCheckpoint) {
	p.UncompressedOffset += c.origin.at
	if ahead := 8*(p.CompressedOffset+c.origin.packed-c.position()) + int64(p.BitOffset); ahead > 8*c.origin.excess {
		c.origin.excess = ahead / 8
	}
	p.CompressedOffset -= c.origin.excess
	if c.next == nil && !p.Final && c.pool.wants(p.UncompressedOffset) {
		p.CompressedOffset += c.origin.packed
		p.Window = bytes.Clone(p.Window)
		c.next = &place{InflateCheckpoint: p}
	}
}

// Seek goes to an offset, from the place or by the bytes between, which pass
// through window.
func (c *Cursor) Seek(ctx context.Context, at int64, window []byte) error {
	if at == c.at {
		return nil
	}
	if p := c.pool.nearest(at); at < c.at || p.UncompressedOffset > c.at {
		c.resume(p)
	}
	for c.at < at {
		if err := c.Read(ctx, window[:min(int64(len(window)), at-c.at)]); err != nil {
			return err
		}
	}
	return nil
}

// Read fills dst with the next bytes. With the stream's last byte it verifies that
// nothing follows, and the checksum.
func (c *Cursor) Read(ctx context.Context, dst []byte) error {
	for len(dst) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := c.some(dst[:min(len(dst), pieceBytes)])
		if err != nil {
			return c.wrong(err)
		}
		dst = dst[n:]
	}
	if c.at == c.s.Size {
		var more [1]byte
		switch n, err := c.some(more[:]); {
		case n > 0:
			c.at--
			return c.wrong(errors.New("more bytes follow than it claims"))
		case err != io.EOF:
			return c.wrong(err)
		}
	}
	return nil
}

// some reads at least one byte. At the end of the stream, whose checksum it verifies then, it returns io.EOF.
func (c *Cursor) some(p []byte) (int, error) {
	for {
		n, err := c.inflate.Read(p)
		c.add(p[:n])
		if n > 0 && (err == nil || err == io.EOF) {
			return n, nil // the end comes again
		}
		if err == io.EOF {
			err = c.ended()
		}
		if err != nil {
			return 0, err
		}
	}
}

// add counts and sums bytes that were decoded.
func (c *Cursor) add(b []byte) {
	if p := c.next; p != nil && p.UncompressedOffset <= c.at+int64(len(b)) {
		head := b[:p.UncompressedOffset-c.at]
		c.sum = crc32.Update(c.sum, crc32.IEEETable, head)
		c.at, b = p.UncompressedOffset, b[len(head):]
		p.sum, c.next = c.sum, nil
		c.pool.add(*p)
	}
	if c.s.Kind != Zstd { // which has a checksum of its own
		c.sum = crc32.Update(c.sum, crc32.IEEETable, b)
	}
	c.at += int64(len(b))
}

// ended verifies the checksum of a stream, or of a member of gzip and begins the next. It returns io.EOF at the end of the last.
func (c *Cursor) ended() error {
	if c.s.Kind == Zstd {
		return io.EOF
	}
	want := c.s.CRC32
	if c.s.Kind == Gzip {
		var trailer [8]byte
		if _, err := io.ReadFull(c.packed, trailer[:]); err != nil {
			return io.ErrUnexpectedEOF
		}
		want = binary.LittleEndian.Uint32(trailer[:])
	}
	if c.sum != want {
		return fmt.Errorf("its checksum is %08x, it should be %08x", c.sum, want)
	}
	if c.s.Kind == Deflate {
		return io.EOF
	}
	for { // zeros pad blocks
		switch b, err := c.packed.Peek(1); {
		case err != nil:
			return err
		case b[0] != 0:
			c.openMember(c.position())
			return nil
		}
		c.packed.Discard(1)
	}
}

// position is that of the next packed byte.
func (c *Cursor) position() int64 {
	at, _ := c.counted.r.(*io.SectionReader).Seek(0, io.SeekCurrent)
	_, from, _ := c.counted.r.(*io.SectionReader).Outer()
	return from - c.s.At + at - int64(c.packed.Buffered())
}

// wrong says what is wrong with the stream. The cursor cannot continue.
func (c *Cursor) wrong(err error) error {
	at := c.at
	c.resume(place{})
	switch _, corrupt := errors.AsType[flate.CorruptInputError](err); {
	case corrupt:
		err = errors.New("the deflated bytes are corrupt")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = fmt.Errorf("it is compressed with a window of more than %d MiB: compress it without --long", MaxWindow>>20)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		err = errors.New("the compressed bytes end too early")
	case c.s.Kind == Zstd:
		err = fmt.Errorf("the bytes are corrupt: %w", err)
	}
	if c.s.Kind == Deflate {
		return fmt.Errorf("%s, byte %d of %d: %w", c.s.Name, at, c.s.Size, err)
	}
	return fmt.Errorf("packed by %s, byte %d of what it holds: %w", c.s.Kind, at, err)
}
