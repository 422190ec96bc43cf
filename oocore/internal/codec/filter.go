package codec

import (
	"encoding/json"
	"errors"
	"io"
	"unsafe"
)

// filter is a codec of bytes: a compressor, a checksum, a shuffle. It is immutable.
type filter interface {
	// text is the form that Parse reads, or else the filter's name.
	text() string
	// v3 is the filter in the metadata of Zarr v3.
	v3() json.RawMessage
	// bound is the most bytes that n bytes become.
	bound(n int64) int64
	// decodeMemory and encodeMemory are what a decoder and an encoder of up to n bytes,
	// decoded, take besides their input and output.
	decodeMemory(n int64) memory
	encodeMemory(n int64) memory
	decoder(n int64, work []byte) (decoder, error)
	encoder(n int64, work []byte) (encoder, error)
}

// streamer is a filter that also works from front to back, in memory that does not
// grow with the chunk.
type streamer interface {
	filter
	// alone says that streams go from the elements to the stored bytes and back by
	// themselves, as they need the chunk's size, or any of its bytes: there can be no
	// other filter.
	alone() bool
	readMemory(n int64) memory
	writeMemory(n int64) memory
	reader(n int64, work []byte) (reader, error)
	writer(n int64, work []byte) (writer, error)
}

// decoder undoes a filter. Its error says what is wrong with src, and neither the
// name of the filter nor more than a line.
type decoder interface {
	// decode fills dst from its beginning, and returns how much. More than dst has room
	// for is an error, which costs no memory.
	decode(dst, src []byte) (int, error)
	close()
}

// encoder applies a filter.
type encoder interface {
	// encode returns a beginning of dst, which has room for the bound, and capacity.
	encode(dst, src []byte) ([]byte, error)
	close()
}

// reader decodes a stream.
type reader interface {
	io.Reader
	io.ByteReader
	// reset begins with another stream, of n bytes decoded, or -1 where that is not known.
	reset(r input, n int64) error
	close()
}

// writer encodes a stream.
type writer interface {
	io.Writer
	// reset begins another stream, of n bytes, or -1 where that is not known.
	reset(w io.Writer, n int64) error
	// end completes the stream, and not what lies below.
	end() error
	close()
}

// input is what readers read from.
type input interface {
	io.Reader
	io.ByteReader
}

// stateless is the part of filters that take no memory and hold nothing.
type stateless struct{}

func (stateless) decodeMemory(int64) memory { return memory{} }
func (stateless) encodeMemory(int64) memory { return memory{} }
func (stateless) readMemory(int64) memory   { return memory{} }
func (stateless) writeMemory(int64) memory  { return memory{} }
func (stateless) alone() bool               { return false }
func (stateless) close()                    {}

// unwritten is the part of filters that are only read, of which most take no memory and hold nothing.
type unwritten struct{ stateless }

func (unwritten) encoder(int64, []byte) (encoder, error) { return nil, errNotWritten }

var errNotWritten = errors.New("it is only read: convert the array to another codec before parts of it are written")

// memory is what a codec takes, in bytes: of the caller's, and of Go's heap.
type memory struct{ arena, heap int64 }

func (m memory) add(o memory) memory { return memory{m.arena + o.arena, m.heap + o.heap} }

// alignment is that of pieces of the caller's memory: a line of the cache, which is
// also more than any codec asks for.
const alignment = 64

// room is what a piece of n bytes takes of the caller's memory, wherever it begins.
func room(n int64) int64 {
	if n == 0 {
		return 0
	}
	return (n+alignment-1)/alignment*alignment + alignment
}

// cutter cuts the caller's memory into aligned pieces.
type cutter struct{ rest []byte }

// cut returns the next n bytes. The caller has checked that there are room(n).
func (c *cutter) cut(n int64) []byte {
	if n == 0 {
		return nil
	}
	skip := -int64(uintptr(unsafe.Pointer(unsafe.SliceData(c.rest)))) & (alignment - 1)
	piece := c.rest[skip : skip+n : skip+n]
	c.rest = c.rest[skip+n:]
	return piece
}
