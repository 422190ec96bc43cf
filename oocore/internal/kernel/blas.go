package kernel

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/dl"
	"github.com/gonbext/gonbext/oocore/internal/simd"
	"github.com/gonbext/gonbext/oocore/machine"
)

// blas is a BLAS library opened at run time. Its Fortran interface passes
// everything by address, so that a call needs neither cgo nor reflection.
type blas struct {
	version string
	gemm    [4]uintptr // sgemm, dgemm, cgemm, zgemm
}

// blasLibraries are tried in turn. GONBEXT_BLAS names another one, such as the
// file in PyPI's scipy-openblas32, or "none".
func blasLibraries() []string {
	switch name := os.Getenv("GONBEXT_BLAS"); {
	case name == "none":
		return nil
	case name != "":
		return []string{name}
	case runtime.GOOS == "darwin":
		return []string{"libopenblas.dylib", "libscipy_openblas.dylib",
			"/System/Library/Frameworks/Accelerate.framework/Accelerate"}
	}
	return []string{"libopenblas.so.0", "libopenblas.so", "libscipy_openblas.so"}
}

// loadBLAS opens the first library that has what is needed; nil without one.
var loadBLAS = sync.OnceValue(func() *blas {
	for _, name := range blasLibraries() {
		lib, err := openLibrary(name)
		if err != nil {
			continue
		}
		for _, prefix := range []string{"", "scipy_"} {
			if b := bindBLAS(lib, name, prefix); b != nil {
				return b
			}
		}
	}
	return nil
})

// openLibrary opens a library with an environment of its own for the while. OpenBLAS
// starts no thread, and takes no memory, for each processor as it loads: its callers are
// parallel already. And it takes the loops that suit the processor: a release that is
// older than the processor would take those of a Pentium 4, at a fifth of the speed.
func openLibrary(name string) (uintptr, error) {
	defer setenv("OPENBLAS_NUM_THREADS", "1")()
	if _, ok := os.LookupEnv("OPENBLAS_CORETYPE"); !ok {
		defer setenv("OPENBLAS_CORETYPE", coreType())()
	}
	return dl.Open(name)
}

// coreType is OpenBLAS's name of loops with the instructions that the loops here use; ""
// leaves the choice to it.
func coreType() string {
	return map[string]string{"avx512": "SkylakeX", "avx2": "Haswell"}[simd.Level()]
}

// setenv sets a variable, until restore is called.
func setenv(name, value string) (restore func()) {
	old, ok := os.LookupEnv(name)
	os.Setenv(name, value)
	if ok {
		return func() { os.Setenv(name, old) }
	}
	return func() { os.Unsetenv(name) }
}

func bindBLAS(lib uintptr, name, prefix string) *blas {
	var b blas
	for i, f := range []string{"sgemm_", "dgemm_", "cgemm_", "zgemm_"} {
		var err error
		if b.gemm[i], err = dl.Symbol(lib, prefix+f); err != nil {
			return nil
		}
	}
	b.version = "Accelerate"
	if !strings.Contains(name, "Accelerate") {
		b.version = "BLAS " + name
	}
	if f, err := dl.Symbol(lib, prefix+"openblas_set_num_threads"); err == nil {
		dl.Call(f, 1)
	}
	if f, err := dl.Symbol(lib, prefix+"openblas_get_config"); err == nil {
		b.version = dl.Text(dl.Call(f))
	}
	return &b
}

// OpenBLAS says which BLAS library the machine has for Gemm, opening it if
// need be. The environment variable GONBEXT_BLAS names another library, or is
// "none".
func OpenBLAS() (version string, ok bool) {
	if b := loadBLAS(); b != nil {
		return b.version, true
	}
	return "", false
}

// blasArgs are what the Fortran interface takes by address.
type blasArgs struct {
	no            [8]byte // 'N': not transposed
	m, n, k       int32
	lda, ldb, ldc int32
	one           [2][2]float64 // 1, in float64 and in float32
}

var blasArgsPool = sync.Pool{New: func() any {
	a := &blasArgs{no: [8]byte{'N'}}
	a.one[0][0] = 1
	*(*float32)(unsafe.Pointer(&a.one[1])) = 1
	return a
}}

// A library keeps a buffer for each concurrent caller, up to 32 MB where it
// packs a whole operand. Slabs of rows bound what it touches to blasBuffer: the
// most seen, over all types, was 3.7 MB.
const (
	slabRows   = 1024
	blasBuffer = 6 << 20
	blasImage  = 1 << 20 // its own data
)

// BLASMemory is the bytes that a budget must count for the library's buffers
// when as many goroutines as processors call Gemm; 0 without a library.
func BLASMemory() int64 {
	if loadBLAS() == nil {
		return 0
	}
	return blasImage + blasBuffer*int64(machine.Cores())
}

// multiply adds a·b to c.
func (l *blas) multiply(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int) {
	from, to := lda*t.Size(), ldc*t.Size()
	for i := 0; i < m; i += slabRows {
		l.slab(t, min(slabRows, m-i), n, k, a[i*from:], lda, b, ldb, c[i*to:], ldc)
	}
}

// slab adds a·b to c. The library works column by column, so it is given the
// transposed product: cᵀ += bᵀ·aᵀ.
func (l *blas) slab(t dtype.Type, m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int) {
	p := blasArgsPool.Get().(*blasArgs)
	defer blasArgsPool.Put(p)
	p.m, p.n, p.k = int32(n), int32(m), int32(k)
	p.lda, p.ldb, p.ldc = int32(ldb), int32(lda), int32(ldc)
	one := unsafe.Pointer(&p.one[0])
	if t == dtype.Float32 || t == dtype.Complex64 {
		one = unsafe.Pointer(&p.one[1])
	}
	dl.Call(l.gemm[t-dtype.Float32],
		uintptr(unsafe.Pointer(&p.no)), uintptr(unsafe.Pointer(&p.no)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(one), uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&p.lda)),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.ldb)),
		uintptr(one), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.ldc)))
	runtime.KeepAlive(p)
}
