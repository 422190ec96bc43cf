package npz

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

const (
	// windowBytes is what a session has of a member at a time, where it cannot read
	// into the caller's buffer.
	windowBytes = 64 << 10
	// packedBytes is how much is read from the file at once.
	packedBytes = 64 << 10
	// pieceBytes bounds what is decoded before a cancelled read ends.
	pieceBytes = 1 << 20
	// sessionHeap is what a session takes of Go's heap: a cursor's buffer of packed
	// bytes, flate's tables and history, and places.
	sessionHeap = packedBytes + 44<<10 + sessionPlaces*placeBytes
)

// cursor reads a deflated member from front to back. To go back it resumes from an
// earlier place.
type cursor struct {
	m       *member
	file    io.ReaderAt
	pool    *pool
	packed  *bufio.Reader
	counted counter
	inflate io.Reader
	at      int64  // of the next byte in the npy file
	sum     uint32 // of all bytes before
	next    *place // ahead of at, to be kept when its checksum is known
}

// place is where the decoding of a member can continue, between two blocks.
type place struct {
	flate.InflateCheckpoint
	sum uint32 // of all bytes before
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

func newCursor(m *member, file io.ReaderAt, p *pool) *cursor {
	c := &cursor{m: m, file: file, pool: p, packed: bufio.NewReaderSize(nil, packedBytes)}
	c.resume(place{})
	return c
}

// resume goes to a place, or to the member's first byte.
func (c *cursor) resume(p place) {
	c.counted.r = io.NewSectionReader(c.file, c.m.at+p.CompressedOffset, c.m.packed-p.CompressedOffset)
	c.packed.Reset(&c.counted)
	options := []flate.ReaderOpt{flate.WithEobCallback(c.pass)}
	if p.UncompressedOffset > 0 {
		options = append(options, flate.WithResumeFrom(p.InflateCheckpoint))
	}
	c.inflate = flate.NewReaderOpts(c.packed, options...)
	c.at, c.sum, c.next = p.UncompressedOffset, p.sum, nil
}

// pass is called between blocks.
func (c *cursor) pass(p flate.InflateCheckpoint) {
	if c.next == nil && !p.Final && c.pool.wants(p.UncompressedOffset) {
		p.Window = bytes.Clone(p.Window)
		c.next = &place{InflateCheckpoint: p}
	}
}

// seek goes to an offset, from the place or by the bytes between, which pass
// through window.
func (c *cursor) seek(ctx context.Context, at int64, window []byte) error {
	if at == c.at {
		return nil
	}
	if p := c.pool.nearest(at); at < c.at || p.UncompressedOffset > c.at {
		c.resume(p)
	}
	for c.at < at {
		if err := c.read(ctx, window[:min(int64(len(window)), at-c.at)]); err != nil {
			return err
		}
	}
	return nil
}

// read fills dst with the next bytes. With the member's last byte it verifies that
// nothing follows, and the checksum.
func (c *cursor) read(ctx context.Context, dst []byte) error {
	for len(dst) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := dst[:min(len(dst), pieceBytes)]
		n, err := io.ReadFull(c.inflate, piece)
		c.add(piece[:n])
		if err != nil {
			return c.wrong(err)
		}
		dst = dst[n:]
	}
	if c.at == c.m.size {
		return c.end()
	}
	return nil
}

// add counts and sums bytes that were decoded.
func (c *cursor) add(b []byte) {
	if p := c.next; p != nil && p.UncompressedOffset <= c.at+int64(len(b)) {
		head := b[:p.UncompressedOffset-c.at]
		c.sum = crc32.Update(c.sum, crc32.IEEETable, head)
		c.at, b = p.UncompressedOffset, b[len(head):]
		p.sum, c.next = c.sum, nil
		c.pool.add(*p)
	}
	c.sum = crc32.Update(c.sum, crc32.IEEETable, b)
	c.at += int64(len(b))
}

func (c *cursor) end() error {
	var more [1]byte
	switch n, err := c.inflate.Read(more[:]); {
	case n > 0:
		return c.wrong(errors.New("more bytes follow than it claims"))
	case err != io.EOF:
		return c.wrong(err)
	}
	if c.sum != c.m.CRC32 {
		return c.wrong(fmt.Errorf("its checksum is %08x, it should be %08x", c.sum, c.m.CRC32))
	}
	return nil
}

// wrong says what is wrong with the member. The cursor cannot continue.
func (c *cursor) wrong(err error) error {
	at := c.at
	c.resume(place{})
	if _, corrupt := errors.AsType[flate.CorruptInputError](err); corrupt {
		err = errors.New("the deflated bytes are corrupt")
	} else if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the deflated bytes end too early")
	}
	return fmt.Errorf("member %.80q, byte %d of %d: %w", c.m.Name, at, c.m.size, err)
}
