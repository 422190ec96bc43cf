package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/gonbext/gonbext/oocore/internal/dl"
)

// deflate compresses with DEFLATE, in the frame of gzip or of zlib.
type deflate struct {
	frame string // "gzip" or "zlib"
	level int
}

const defaultDeflate = 5

func newDeflate(frame string, level int) (filter, error) {
	if level == -1 {
		level = 6
	}
	if level < 0 || level > 9 {
		return nil, fmt.Errorf("level %d is not one of 0 to 9", level)
	}
	return &deflate{frame, level}, nil
}

func (f *deflate) text() string { return fmt.Sprintf("%s:%d", f.frame, f.level) }

func (f *deflate) v3() json.RawMessage {
	name := f.frame
	if name == "zlib" {
		name = "numcodecs.zlib"
	}
	return configured(name, levelConfig{f.level})
}

type levelConfig struct {
	Level int `json:"level"`
}

// bound has room for encoders that do not fall back to stored blocks.
func (f *deflate) bound(n int64) int64 { return n + n/8 + 1024 }

// What the library keeps on the heap, as measured: see TestHeap.
const inflateHeap = 56 << 10

func (f *deflate) deflateHeap() int64 {
	if f.level == 0 {
		return 352 << 10
	}
	return 1408 << 10
}

// leastDeflate is the library's level for all below. Its levels 1 to 6 leave blocks as
// they are in which no bytes repeat, as in smooth float32, where Huffman codes alone save
// 12 %. Measured on chunks of 4 MiB, smooth and in steps, MB/s and ratio:
//
//	library's level 1    1864  1.00    497   7.7
//	library's level 6     387  1.00    181  10.7
//	library's level 7     130  1.14    186  12.3
//	compress/gzip's 1     229  1.14    214   4.6
//	zlib's own 1           37  1.14    159   4.3
//	zlib's own 6           29  1.14     72  15.4
const leastDeflate = 7

func (f *deflate) decodeMemory(int64) memory { return memory{heap: inflateHeap} }
func (f *deflate) encodeMemory(int64) memory { return memory{heap: f.deflateHeap()} }
func (f *deflate) readMemory(int64) memory   { return memory{heap: inflateHeap} }
func (f *deflate) writeMemory(int64) memory  { return memory{heap: f.deflateHeap()} }
func (f *deflate) alone() bool               { return false }

func (f *deflate) decoder(int64, []byte) (decoder, error) {
	return &inflater{frame: f.frame}, nil
}

func (f *deflate) reader(int64, []byte) (reader, error) { return &inflater{frame: f.frame}, nil }

// inflater decodes DEFLATE. What it decodes with exists from the first use on.
type inflater struct {
	frame  string
	native *nativeInflater // of whole chunks, where the machine has its library
	below  input
	mem    memoryReader
	r      io.Reader
}

func (d *inflater) reset(r input, _ int64) (err error) {
	d.below = r
	switch lib := d.r.(type) {
	case *gzip.Reader:
		err = lib.Reset(r)
	case zlib.Resetter:
		err = lib.Reset(r, nil)
	default:
		if d.frame == "gzip" {
			var made *gzip.Reader
			if made, err = gzip.NewReader(r); err == nil {
				d.r = made
			}
			break
		}
		var made io.ReadCloser
		if made, err = zlib.NewReader(r); err == nil {
			d.r = made
		}
	}
	return ended(err)
}

// Read ends a stream of zlib where that below ends: its library does not look.
func (d *inflater) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err == io.EOF && d.frame == "zlib" {
		if _, more := d.below.ReadByte(); more == nil {
			return n, errMore
		} else if more != io.EOF {
			return n, more
		}
	}
	return n, err
}

func (d *inflater) ReadByte() (byte, error) { return oneByte(d) }

func (d *inflater) decode(dst, src []byte) (int, error) {
	if d.native == nil {
		d.native = newNativeInflater()
	}
	if d.native != nil {
		if n, ok := d.native.decode(dst, src, d.frame); ok {
			return n, nil
		}
	}
	d.mem = src
	if err := d.reset(&d.mem, int64(len(dst))); err != nil {
		return 0, err
	}
	return readAll(dst, d)
}

func (d *inflater) close() {
	d.r = nil
	if d.native != nil {
		d.native.close()
		d.native = nil
	}
}

// memoryReader reads bytes that lie in memory.
type memoryReader []byte

func (m *memoryReader) Read(p []byte) (int, error) {
	if len(*m) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p, *m)
	*m = (*m)[n:]
	return n, nil
}

func (m *memoryReader) ReadByte() (byte, error) {
	if len(*m) == 0 {
		return 0, io.EOF
	}
	b := (*m)[0]
	*m = (*m)[1:]
	return b, nil
}

// deflateLib is what the writers of gzip and zlib have in common.
type deflateLib interface {
	io.WriteCloser
	Reset(io.Writer)
}

func (f *deflate) newLib() (deflateLib, error) {
	level := f.level
	if level > 0 {
		level = max(level, leastDeflate)
	}
	if f.frame == "gzip" {
		return gzip.NewWriterLevel(nil, level)
	}
	return zlib.NewWriterLevel(nil, level)
}

type deflater struct {
	lib deflateLib
	mem memoryWriter
}

func (f *deflate) encoder(int64, []byte) (encoder, error) {
	lib, err := f.newLib()
	return &deflater{lib: lib}, err
}

func (f *deflate) writer(int64, []byte) (writer, error) {
	lib, err := f.newLib()
	return &deflater{lib: lib}, err
}

func (d *deflater) encode(dst, src []byte) ([]byte, error) {
	d.mem = dst[:0]
	d.lib.Reset(&d.mem)
	if _, err := d.lib.Write(src); err != nil {
		return nil, err
	}
	return d.mem, d.lib.Close()
}

func (d *deflater) reset(w io.Writer, _ int64) error {
	d.lib.Reset(w)
	return nil
}

func (d *deflater) Write(p []byte) (int, error) { return d.lib.Write(p) }
func (d *deflater) end() error                  { return d.lib.Close() }
func (d *deflater) close()                      { d.lib = nil }

// memoryWriter appends to bytes in memory, and never makes them more.
type memoryWriter []byte

func (m *memoryWriter) Write(p []byte) (int, error) {
	if len(p) > cap(*m)-len(*m) {
		return 0, errors.New("the encoded chunk is larger than it can be")
	}
	*m = append(*m, p...)
	return len(p), nil
}

// nativeInflater decodes whole chunks by libdeflate, which takes about half the time of the
// library in Go. What it does not decode is left to that one, with its errors.
type nativeInflater struct {
	lib          *libDeflate
	decompressor uintptr
	caller       caller
	read, made   uintptr // bytes, as the library says
}

// newNativeInflater returns nil where there is no libdeflate.
func newNativeInflater() *nativeInflater {
	lib := loadDeflate()
	if lib == nil {
		return nil
	}
	d := dl.Call(lib.alloc)
	if d == 0 {
		return nil
	}
	return &nativeInflater{lib: lib, decompressor: d}
}

// decode reports whether src is whole streams, which decode to no more than dst has room for.
func (d *nativeInflater) decode(dst, src []byte, frame string) (n int, ok bool) {
	decompress := d.lib.zlib
	if frame == "gzip" {
		decompress = d.lib.gzip
	}
	for {
		status := d.caller.call(decompress, d.decompressor, address(src), uintptr(len(src)), address(dst[n:]), uintptr(len(dst)-n),
			uintptr(unsafe.Pointer(&d.read)), uintptr(unsafe.Pointer(&d.made)))
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		if int32(status) != 0 {
			return 0, false
		}
		n, src = n+int(d.made), src[d.read:]
		if len(src) == 0 {
			return n, true
		}
		if frame != "gzip" { // which alone has several streams in a row
			return 0, false
		}
	}
}

func (d *nativeInflater) close() {
	dl.Call(d.lib.free, d.decompressor)
	d.decompressor = 0
}
