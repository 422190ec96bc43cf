// Package unpack reads files and members of archives that are compressed as a whole, from any place: by cursors that go from front to
// back, and by places between two blocks of deflate from which a cursor can continue. Both are as many as memory was given for.
package unpack

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Kind is how a stream is compressed.
type Kind string

const (
	Deflate Kind = "deflate" // without a header
	Gzip    Kind = "gzip"    // of one member or several
	Zstd    Kind = "zstd"    // of one frame or several
)

const (
	// WindowBytes is what a session has of a stream at a time, where it cannot read
	// into the caller's buffer.
	WindowBytes = 64 << 10
	// MaxWindow is the largest that is allowed of how far Zstandard looks back.
	MaxWindow = 32 << 20
	// sessionHeap is what a session takes of Go's heap: a cursor's buffer of packed
	// bytes, flate's tables and history, and places.
	sessionHeap = packedBytes + 48<<10 + sessionPlaces*placeBytes
)

// Stream is a compressed stream in a file.
type Stream struct {
	Kind       Kind
	Name       string // for errors
	File       io.ReaderAt
	At, Packed int64  // where it lies in the file
	Size       int64  // unpacked; -1 where that is not known
	CRC32      uint32 // of Deflate
}

// Heap is what a session takes of Go's heap.
func (s *Stream) Heap() int64 {
	if s.Kind != Zstd {
		return sessionHeap
	}
	h, _ := s.frame()
	window := int64(h.WindowSize)
	if h.SingleSegment {
		window = int64(h.FrameContentSize)
	}
	return packedBytes + min(window, MaxWindow) + 704<<10
}

// frame is the header of the first frame of Zstandard.
func (s *Stream) frame() (h zstd.Header, err error) {
	b := make([]byte, min(zstd.HeaderMaxSize, s.Packed))
	if _, err := s.File.ReadAt(b, s.At); err != nil {
		return h, err
	}
	return h, h.Decode(b)
}

// Hint is the size that the stream says of itself, which that of the last member of gzip and the first frame of Zstandard is, of gzip
// without the bits from the 32nd on. It is -1 where there is none.
func (s *Stream) Hint() int64 {
	if s.Kind == Zstd {
		if h, err := s.frame(); err == nil && h.HasFCS && h.FrameContentSize < 1<<62 {
			return int64(h.FrameContentSize)
		}
		return -1
	}
	var b [4]byte
	if _, err := s.File.ReadAt(b[:], s.At+max(s.Packed-4, 0)); err != nil {
		return -1
	}
	return int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 | int64(b[3])<<24
}

// Measure reads the stream to its end, and returns its size.
func (s *Stream) Measure(ctx context.Context) (int64, error) {
	all := *s
	all.Size = -1
	c := newCursor(&all, NewPool(&all))
	window := make([]byte, WindowBytes)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if _, err := c.some(window); err == io.EOF {
			return c.at, nil
		} else if err != nil {
			return 0, c.wrong(err)
		}
	}
}

// Head returns a reader of the stream, whose first bytes it keeps. One goroutine uses it.
func (p *Pool) Head() io.ReaderAt { return &head{cursor: newCursor(p.s, p)} }

type head struct {
	cursor        *Cursor
	first, window []byte
	err           error // behind first
}

// headBytes are those that a head keeps.
const headBytes = 16 << 10

func (h *head) ReadAt(p []byte, at int64) (n int, err error) {
	if h.first == nil {
		h.first, h.window = make([]byte, headBytes), make([]byte, WindowBytes)
		for h.err == nil && n < len(h.first) {
			var more int
			more, h.err = h.cursor.some(h.first[n:])
			n += more
		}
		if h.first = h.first[:n]; h.err != nil && h.err != io.EOF {
			h.err = h.cursor.wrong(h.err)
		}
	}
	want, size := p, h.cursor.s.Size
	if size >= 0 {
		want = p[:min(int64(len(p)), max(size-at, 0))]
	}
	switch end := at + int64(len(want)); {
	case end <= int64(len(h.first)) || h.err != nil:
		n = copy(want, h.first[min(at, int64(len(h.first))):])
		if err = h.err; n == len(want) {
			err = nil
		}
	default:
		n = len(want)
		if err = h.cursor.Seek(context.Background(), at, h.window); err == nil {
			err = h.cursor.Read(context.Background(), want)
		}
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

var errHeader = errors.New("the header of gzip is damaged")

// isGzip reports whether a member of gzip follows.
func isGzip(r *bufio.Reader) bool {
	b, _ := r.Peek(3)
	return string(b) == "\x1f\x8b\x08"
}

// gzipHeader skips the header of a member, and returns its length.
func gzipHeader(r *bufio.Reader) (n int64, err error) {
	if !isGzip(r) {
		return 0, errHeader
	}
	next := func() (b byte) {
		if err == nil {
			b, err = r.ReadByte()
			n++
		}
		return b
	}
	var fixed [10]byte
	for i := range fixed {
		fixed[i] = next()
	}
	flags := fixed[3]
	if flags&4 != 0 { // more fields
		for range int(next()) | int(next())<<8 {
			next()
		}
	}
	for _, text := range []byte{8, 16} { // a name, a comment
		for flags&text != 0 && next() != 0 && err == nil {
		}
	}
	if flags&2 != 0 { // a checksum of the header
		next()
		next()
	}
	if err != nil {
		return n, errHeader
	}
	return n, nil
}
