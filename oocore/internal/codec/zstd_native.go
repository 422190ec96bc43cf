package codec

import (
	"errors"
	"io"
	"runtime"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/dl"
)

// The library's numbers.
const (
	zstdResetSession = 1
	zstdLevel        = 100
	zstdMinMatch     = 105
	zstdChecksum     = 201
	zstdSizeHint     = 1004
	zstdMaxHint      = 1<<31 - 1
	zstdContinue     = 0
	zstdEnd          = 2
	zstdErrWindow    = 16
	zstdErrMemory    = 64
	zstdMaxError     = 120
)

// zstdErrors are the errors of the library's numbers; 14, 16 and 20 are parameters, windows
// and contents that are not valid.
var zstdErrors = map[int]error{10: errMagic, 14: errFrame, 16: errFrame, 20: errFrame, 22: errChecksum, 32: errDictionary, 70: errLarge, 72: ErrShort}

// code is what went wrong by a function's result; 0 for nothing.
func (*libZstd) code(r uintptr) int {
	if n := -int(r); n > 0 && n < zstdMaxError {
		return n
	}
	return 0
}

// fault is the error of a function's result.
func (l *libZstd) fault(r uintptr) error {
	n := l.code(r)
	if n == 0 {
		return nil
	}
	if err := zstdErrors[n]; err != nil {
		return err
	}
	return errors.New(dl.Text(dl.Call(l.errorName, r)))
}

func (l *libZstd) decodeMemory(*zstd, int64) memory {
	return memory{arena: room(int64(dl.Call(l.estimateDCtx)))}
}

func (l *libZstd) readMemory(z *zstd, _ int64) memory {
	return memory{arena: room(l.streamSize(z)) + room(windowSize), heap: 1 << 10}
}

func (l *libZstd) streamSize(z *zstd) int64 {
	return int64(dl.Call(l.estimateDStream, uintptr(z.window())))
}

func (l *libZstd) encodeMemory(z *zstd, n int64) memory {
	return memory{arena: room(l.contextSize(z, l.estimateCCtx, n))}
}

func (l *libZstd) writeMemory(z *zstd, n int64) memory {
	return memory{arena: room(l.contextSize(z, l.estimateCStream, n)) + room(windowSize), heap: 1 << 10}
}

// contextSize is what a context for compressing up to n bytes takes. Parameters come
// from tables by size, of which smaller sizes can take more.
func (l *libZstd) contextSize(z *zstd, estimate uintptr, n int64) (most int64) {
	params := dl.Call(l.createParams)
	defer dl.Call(l.freeParams, params)
	dl.Call(l.initParams, params, uintptr(z.level))
	dl.Call(l.setParam, params, zstdMinMatch, uintptr(z.minMatch(n)))
	for _, table := range []int64{n, 256 << 10, 128 << 10, 16 << 10} {
		dl.Call(l.setParam, params, zstdSizeHint, uintptr(min(n, table, zstdMaxHint)))
		most = max(most, int64(dl.Call(estimate, params)))
	}
	return most
}

// nativeZstd is a context in the caller's memory.
type nativeZstd struct {
	caller
	lib     *libZstd
	z       *zstd
	work    []byte
	context uintptr
}

var errContext = errors.New("the library rejects the memory that it asked for")

func (l *libZstd) decoder(z *zstd, _ int64, work []byte) (decoder, error) {
	c := cutter{work}
	d := &nativeZstd{lib: l, z: z, work: c.cut(int64(dl.Call(l.estimateDCtx)))}
	if d.context = dl.Call(l.initDCtx, address(d.work), uintptr(len(d.work))); d.context == 0 {
		return nil, errContext
	}
	return d, nil
}

func (d *nativeZstd) decode(dst, src []byte) (int, error) {
	r := d.call(d.lib.decompress, d.context, address(dst), uintptr(len(dst)), address(src), uintptr(len(src)))
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
	if err := d.lib.fault(r); err != nil {
		return 0, err
	}
	return int(r), nil
}

func (d *nativeZstd) close() {}

func (l *libZstd) encoder(z *zstd, n int64, work []byte) (encoder, error) {
	return l.newEncoder(z, l.estimateCCtx, n, &cutter{work})
}

func (l *libZstd) newEncoder(z *zstd, estimate uintptr, n int64, c *cutter) (*nativeZstd, error) {
	e := &nativeZstd{lib: l, z: z, work: c.cut(l.contextSize(z, estimate, n))}
	if e.context = dl.Call(l.initCCtx, address(e.work), uintptr(len(e.work))); e.context == 0 {
		return nil, errContext
	}
	checksum := uintptr(0)
	if z.checksum {
		checksum = 1
	}
	for _, p := range [][2]uintptr{{zstdLevel, uintptr(z.level)}, {zstdMinMatch, uintptr(z.minMatch(n))}, {zstdChecksum, checksum}, {zstdSizeHint, uintptr(min(n, zstdMaxHint))}} {
		if err := l.fault(dl.Call(l.setCCtx, e.context, p[0], p[1])); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (d *nativeZstd) encode(dst, src []byte) ([]byte, error) {
	r := d.call(d.lib.compress, d.context, address(dst), uintptr(len(dst)), address(src), uintptr(len(src)))
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
	if err := d.lib.fault(r); err != nil {
		return nil, err
	}
	return dst[:r], nil
}

// zstdBuffer is how streams are given memory.
type zstdBuffer struct{ at, size, pos uintptr }

// zstdBuffers lies on the heap, for C to change.
type zstdBuffers struct{ in, out zstdBuffer }

type nativeZstdReader struct {
	nativeZstd
	*zstdBuffers
	below   input
	window  []byte
	inFrame bool
	end     error // of what lies below
}

func (l *libZstd) reader(z *zstd, _ int64, work []byte) (reader, error) {
	c := cutter{work}
	r := &nativeZstdReader{nativeZstd: nativeZstd{lib: l, z: z, work: c.cut(l.streamSize(z))}, zstdBuffers: &zstdBuffers{}, window: c.cut(windowSize)}
	if r.context = dl.Call(l.initDStream, address(r.work), uintptr(len(r.work))); r.context == 0 {
		return nil, errContext
	}
	return r, nil
}

func (r *nativeZstdReader) reset(below input, _ int64) error {
	r.below, r.inFrame, r.end = below, false, nil
	*r.zstdBuffers = zstdBuffers{}
	return r.lib.fault(dl.Call(r.lib.resetDCtx, r.context, zstdResetSession))
}

func (r *nativeZstdReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.out = zstdBuffer{address(p), uintptr(len(p)), 0}
	for r.out.pos == 0 {
		if r.in.pos == r.in.size && r.end == nil {
			var n int
			n, r.end = r.below.Read(r.window)
			r.in = zstdBuffer{address(r.window), uintptr(n), 0}
		}
		if r.in.pos == r.in.size && r.end != nil && (r.end != io.EOF || !r.inFrame) {
			return 0, r.end
		}
		before := r.in.pos
		result := r.call(r.lib.decompressStream, r.context, uintptr(unsafe.Pointer(&r.out)), uintptr(unsafe.Pointer(&r.in)))
		runtime.KeepAlive(p)
		switch r.lib.code(result) {
		case zstdErrWindow, zstdErrMemory:
			return 0, r.z.errWindow()
		}
		if err := r.lib.fault(result); err != nil {
			return 0, err
		}
		r.inFrame = result != 0
		if r.out.pos == 0 && r.in.pos == before && r.in.pos == r.in.size && r.end == io.EOF && r.inFrame {
			return 0, ErrShort
		}
	}
	return int(r.out.pos), nil
}

func (r *nativeZstdReader) ReadByte() (byte, error) { return oneByte(r) }

type nativeZstdWriter struct {
	nativeZstd
	*zstdBuffers
	to     io.Writer
	window []byte
}

func (l *libZstd) writer(z *zstd, n int64, work []byte) (writer, error) {
	c := cutter{work}
	e, err := l.newEncoder(z, l.estimateCStream, n, &c)
	if err != nil {
		return nil, err
	}
	return &nativeZstdWriter{nativeZstd: *e, zstdBuffers: &zstdBuffers{}, window: c.cut(windowSize)}, nil
}

func (w *nativeZstdWriter) reset(to io.Writer, n int64) error {
	w.to = to
	if err := w.lib.fault(dl.Call(w.lib.resetCCtx, w.context, zstdResetSession)); err != nil || n < 0 {
		return err
	}
	return w.lib.fault(dl.Call(w.lib.setPledged, w.context, uintptr(n)))
}

func (w *nativeZstdWriter) Write(p []byte) (int, error) {
	return len(p), w.push(p, zstdContinue)
}

func (w *nativeZstdWriter) end() error { return w.push(nil, zstdEnd) }

// push compresses all of p, and at the end all that the library holds.
func (w *nativeZstdWriter) push(p []byte, directive uintptr) error {
	w.in = zstdBuffer{address(p), uintptr(len(p)), 0}
	for {
		w.out = zstdBuffer{address(w.window), uintptr(len(w.window)), 0}
		left := w.call(w.lib.compressStream, w.context, uintptr(unsafe.Pointer(&w.out)), uintptr(unsafe.Pointer(&w.in)), directive)
		runtime.KeepAlive(p)
		if err := w.lib.fault(left); err != nil {
			return err
		}
		if w.out.pos > 0 {
			if _, err := w.to.Write(w.window[:w.out.pos]); err != nil {
				return err
			}
		}
		if directive == zstdContinue && w.in.pos == w.in.size || directive == zstdEnd && left == 0 {
			return nil
		}
	}
}
