package codec

import (
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/dl"
)

// The libraries in C that most machines have compress and decompress faster than those
// in Go. They are opened at the first use, without cgo, and only where their memory can
// be the caller's: they allocate none. GONBEXT_CODEC=go leaves them alone. What either
// side writes the other one reads.

// libZstd is the format's own library, of version 1.4 or later.
type libZstd struct {
	estimateDCtx, initDCtx, decompress, errorName                                 uintptr
	estimateDStream, initDStream, resetDCtx, decompressStream                     uintptr
	createParams, freeParams, initParams, setParam, estimateCCtx, estimateCStream uintptr
	initCCtx, setCCtx, compress, resetCCtx, setPledged, compressStream            uintptr
}

var loadZstd = dl.Load("libzstd", "1", func(z *libZstd) map[string]*uintptr {
	return map[string]*uintptr{
		"ZSTD_estimateDCtxSize":                    &z.estimateDCtx,
		"ZSTD_initStaticDCtx":                      &z.initDCtx,
		"ZSTD_decompressDCtx":                      &z.decompress,
		"ZSTD_getErrorName":                        &z.errorName,
		"ZSTD_estimateDStreamSize":                 &z.estimateDStream,
		"ZSTD_initStaticDStream":                   &z.initDStream,
		"ZSTD_DCtx_reset":                          &z.resetDCtx,
		"ZSTD_decompressStream":                    &z.decompressStream,
		"ZSTD_createCCtxParams":                    &z.createParams,
		"ZSTD_freeCCtxParams":                      &z.freeParams,
		"ZSTD_CCtxParams_init":                     &z.initParams,
		"ZSTD_CCtxParams_setParameter":             &z.setParam,
		"ZSTD_estimateCCtxSize_usingCCtxParams":    &z.estimateCCtx,
		"ZSTD_estimateCStreamSize_usingCCtxParams": &z.estimateCStream,
		"ZSTD_initStaticCCtx":                      &z.initCCtx,
		"ZSTD_CCtx_setParameter":                   &z.setCCtx,
		"ZSTD_compress2":                           &z.compress,
		"ZSTD_CCtx_reset":                          &z.resetCCtx,
		"ZSTD_CCtx_setPledgedSrcSize":              &z.setPledged,
		"ZSTD_compressStream2":                     &z.compressStream,
	}
})

// libLZ4 is LZ4's own library.
type libLZ4 struct {
	decompressSafe, compressFast, compressHC, sizeofState, sizeofStateHC uintptr
}

var loadLZ4 = dl.Load("liblz4", "1", func(l *libLZ4) map[string]*uintptr {
	return map[string]*uintptr{
		"LZ4_decompress_safe":        &l.decompressSafe,
		"LZ4_compress_fast_extState": &l.compressFast,
		"LZ4_compress_HC_extStateHC": &l.compressHC,
		"LZ4_sizeofState":            &l.sizeofState,
		"LZ4_sizeofStateHC":          &l.sizeofStateHC,
	}
})

// libDeflate decodes DEFLATE. What it allocates itself, 12 KB a decompressor, is counted as heap.
type libDeflate struct{ alloc, free, gzip, zlib uintptr }

var loadDeflate = dl.Load("libdeflate", "0", func(l *libDeflate) map[string]*uintptr {
	return map[string]*uintptr{
		"libdeflate_alloc_decompressor": &l.alloc,
		"libdeflate_free_decompressor":  &l.free,
		"libdeflate_gzip_decompress_ex": &l.gzip,
		"libdeflate_zlib_decompress_ex": &l.zlib,
	}
})

// caller calls functions again and again, and allocates nothing. It must lie on the
// heap. Addresses in args are of memory that is kept alive, and never on a stack.
type caller struct{ args [7]uintptr }

func (c *caller) call(function uintptr, args ...uintptr) uintptr {
	return dl.Call(function, c.args[:copy(c.args[:], args)]...)
}

// address is that of a slice's first byte, which is on the heap then, also where it is a
// short one that the compiler would lay on a stack.
func address(b []byte) uintptr {
	if never {
		b, escaped = escaped, b
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

var (
	never   bool
	escaped []byte
)
