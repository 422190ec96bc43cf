package codec

import (
	"runtime"
	"unsafe"
)

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
	d := call(lib.alloc)
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
	call(d.lib.free, d.decompressor)
	d.decompressor = 0
}
