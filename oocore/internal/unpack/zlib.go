package unpack

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"unsafe"

	"github.com/klauspost/compress/flate"

	"github.com/gonbext/gonbext/oocore/internal/dl"
)

// libZlib is zlib, which inflates streams in half the time of package flate, and from between two blocks as that does (zlib.h; examples/zran.c).
// What it allocates itself, 40 KB a stream, takes the place of flate's tables and history.
type libZlib struct{ init, reset, inflate, end, prime, setDictionary, getDictionary uintptr }

var loadZlib = dl.Load("libz", "1", func(l *libZlib) map[string]*uintptr {
	return map[string]*uintptr{
		"inflateInit2_":        &l.init,
		"inflateReset":         &l.reset,
		"inflate":              &l.inflate,
		"inflateEnd":           &l.end,
		"inflatePrime":         &l.prime,
		"inflateSetDictionary": &l.setDictionary,
		"inflateGetDictionary": &l.getDictionary,
	}
})

// zStream is zlib's z_stream on machines of 64 bits.
type zStream struct {
	nextIn, availIn, totalIn        uint64 // avail in the lower half
	nextOut, availOut, totalOut     uint64
	msg, state, alloc, free, opaque uint64
	dataType, adler, reserved       uint64 // dataType in the lower half
}

const (
	zBlock     = 5  // return at the end of each block
	zStreamEnd = 1  // a result
	zBufError  = -5 // a result: nothing can be done without more bytes
	zLastBlock = 64 // of dataType, whose lowest bits are how many of the last byte are not used
	zBlockEnd  = 128
)

// zlibReader inflates what a cursor reads.
type zlibReader struct {
	*libZlib
	c *Cursor
	z *zStream
}

// newZlibReader returns nil where there is no zlib.
func newZlibReader(c *Cursor) *zlibReader {
	l := loadZlib()
	if l == nil {
		return nil
	}
	r, version := &zlibReader{l, c, new(zStream)}, []byte("1.2.8\x00")
	const raw = -15 & (1<<64 - 1) // the window's bits, without a header
	if r.call(l.init, uintptr(raw), uintptr(unsafe.Pointer(&version[0])), unsafe.Sizeof(*r.z)) != 0 {
		return nil
	}
	runtime.AddCleanup(r, func(z *zStream) { dl.Call(l.end, uintptr(unsafe.Pointer(z))) }, r.z)
	return r
}

func (r *zlibReader) call(function uintptr, args ...uintptr) int32 {
	return int32(dl.Call(function, append([]uintptr{uintptr(unsafe.Pointer(r.z))}, args...)...))
}

// begin begins at a place, which is the first byte of the stream or between two blocks.
func (r *zlibReader) begin(p flate.InflateCheckpoint) bool {
	ok := r.call(r.reset) == 0
	if ok && p.BitOffset > 0 {
		b, err := r.c.packed.ReadByte()
		ok = err == nil && r.call(r.prime, uintptr(8-p.BitOffset), uintptr(b>>p.BitOffset)) == 0
	}
	if n := len(p.Window); ok && n > 0 {
		ok = r.call(r.setDictionary, uintptr(unsafe.Pointer(&p.Window[0])), uintptr(n)) == 0
	}
	return ok
}

func (r *zlibReader) Read(p []byte) (n int, err error) {
	for n == 0 && len(p) > 0 {
		_, end := r.c.packed.Peek(1)
		b, _ := r.c.packed.Peek(r.c.packed.Buffered())
		r.z.nextIn, r.z.availIn = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint64(len(b))
		r.z.nextOut, r.z.availOut = uint64(uintptr(unsafe.Pointer(&p[0]))), uint64(len(p))
		code := r.call(r.inflate, zBlock)
		runtime.KeepAlive(b)
		used := len(b) - int(uint32(r.z.availIn))
		_, _ = r.c.packed.Discard(used)
		n = len(p) - int(uint32(r.z.availOut))
		switch {
		case code == zStreamEnd:
			return n, io.EOF
		case code < 0 && code != zBufError:
			return n, flate.CorruptInputError(r.c.at)
		case n == 0 && used == 0 && end != nil:
			if errors.Is(end, io.EOF) {
				end = io.ErrUnexpectedEOF
			}
			return n, end
		}
		if kind := uint32(r.z.dataType); kind&(zBlockEnd|zLastBlock) == zBlockEnd {
			r.pass(int64(n), int(kind&7))
		}
	}
	return n, nil
}

// pass keeps the place behind a block, of which n bytes more were read than the cursor knows. So many bits of the last packed byte are the
// next block's.
func (r *zlibReader) pass(n int64, bits int) {
	c := r.c
	if c.next != nil || !c.pool.wants(c.at+n) {
		return
	}
	window, length := make([]byte, 32<<10), make([]uint32, 1)
	if r.call(r.getDictionary, uintptr(unsafe.Pointer(&window[0])), uintptr(unsafe.Pointer(&length[0]))) != 0 {
		return
	}
	p := flate.InflateCheckpoint{UncompressedOffset: c.at + n, CompressedOffset: c.position(), Window: bytes.Clone(window[:length[0]])}
	if bits > 0 {
		p.CompressedOffset--
		p.BitOffset = uint8(8 - bits)
	}
	c.next = &place{InflateCheckpoint: p}
}
