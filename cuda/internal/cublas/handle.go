package cublas

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/dtype"
)

// Handle is a library in use on a context. Its methods are safe for concurrent use.
type Handle struct {
	*Library
	context   driver.Context
	major     int // of the compute capability
	tf32      bool
	workspace int64

	mu     sync.Mutex // held while the handle has a stream and a workspace
	handle uintptr
}

// The workspace that NVIDIA recommends, since Hopper and before, and the least that has
// room for every product.
const (
	hopperWorkspace = 32 << 20
	workspace       = 4 << 20
	leastWorkspace  = 16 << 10
)

// NewHandle starts the library on a context of a GPU of the compute capability, with a
// workspace of at most so many bytes, and holds a small product to its right result.
func (l *Library) NewHandle(c driver.Context, major int, most int64) (*Handle, error) {
	h := &Handle{Library: l, context: c, major: major, tf32: os.Getenv("GONBEXT_TF32") == "1" && major >= 8, workspace: workspace}
	if major >= 9 {
		h.workspace = hopperWorkspace
	}
	h.workspace = max(min(h.workspace, most)/256*256, leastWorkspace)
	err := h.on(func(s driver.Stream) error {
		return s.Call(func(uintptr) error {
			return failed("cublasCreate", call(l.create, uintptr(unsafe.Pointer(&h.handle))))
		})
	})
	if err != nil {
		return nil, fmt.Errorf("%s does not start: %w", l.Path, err)
	}
	if err := h.try(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// on does something on a stream of its own, and waits for it.
func (h *Handle) on(do func(driver.Stream) error) error {
	s, err := h.context.NewStream()
	if err != nil {
		return err
	}
	e, err := h.context.NewEvent()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if err = do(s); err == nil {
		err = errors.Join(s.Record(e), e.Wait())
	}
	return errors.Join(err, s.Close(), e.Close())
}

// try multiplies two small matrices.
func (h *Handle) try() error {
	const m, n, k = 2, 4, 3
	a, b, c := []float32{1, 2, 3, 4, 5, 6}, []float32{1, 0, 2, 0, 0, 1, 0, 2, 3, 0, 1, 1}, []float32{1, 2, 3, 4, 5, 6, 7, 8}
	want := []float32{11, 4, 8, 11, 27, 11, 21, 24}
	got := make([]float32, len(c))
	at, err := h.context.Alloc(3<<8 + h.workspace)
	if err != nil {
		return fmt.Errorf("%s does not start: %w", h.Path, err)
	}
	err = h.on(func(s driver.Stream) error {
		return errors.Join(s.Upload(at, dtype.Bytes(a)), s.Upload(at+1<<8, dtype.Bytes(b)), s.Upload(at+2<<8, dtype.Bytes(c)),
			h.MultiplyAdd(s, at+3<<8, dtype.Float32, m, n, k, at+2<<8, at, at+1<<8),
			s.Download(dtype.Bytes(got), at+2<<8))
	})
	if err = errors.Join(err, h.context.Free(at)); err != nil {
		return fmt.Errorf("%s does not multiply: %w", h.Path, err)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s gives wrong products: it is not NVIDIA's", h.Path)
	}
	return nil
}

// Close ends the library's use of the context.
func (h *Handle) Close() error {
	return h.on(func(s driver.Stream) error {
		return s.Call(func(uintptr) error { return failed("cublasDestroy", call(h.destroy, h.handle)) })
	})
}

// Name is the library with its version, and with TF32 where it uses that.
func (h *Handle) Name() string {
	if h.tf32 {
		return "cuBLAS " + h.Version + " with TF32"
	}
	return "cuBLAS " + h.Version
}

// Workspace is the number of bytes of the device that a product needs besides its operands.
func (h *Handle) Workspace() int64 { return h.workspace }

// The library's names of types of elements and of arithmetic.
const (
	real32, real64, real16, bfloat16 = 0, 1, 2, 14

	compute32, compute64, computeTF32 = 68, 70, 77
)

// Multiplies reports a product of matrices of elements of type in, of at most so many rows
// and columns, whose products add up in type sum.
func (h *Handle) Multiplies(in, sum dtype.Type, most int) bool {
	if most > math.MaxInt32 {
		return false
	}
	switch in {
	case dtype.Float32, dtype.Float64:
		return sum == in
	case dtype.Float16:
		return sum == dtype.Float32
	case dtype.BFloat16:
		return sum == dtype.Float32 && h.major >= 8
	}
	return false
}

var (
	one32 = float32(1)
	one64 = 1.0
)

// MultiplyAdd adds a·b to c: dense row-major matrices, a of m × k elements of type in and b
// of k × n. The library's matrices are column-major, so it is given the transposed product:
// cᵀ += bᵀ·aᵀ. Work is Workspace bytes of the device that no other product has.
func (h *Handle) MultiplyAdd(s driver.Stream, work driver.Address, in dtype.Type, m, n, k int, c, a, b driver.Address) error {
	elements, sums, arithmetic, one := uintptr(real32), uintptr(real32), uintptr(compute32), uintptr(unsafe.Pointer(&one32))
	switch {
	case in == dtype.Float64:
		elements, sums, arithmetic, one = real64, real64, compute64, uintptr(unsafe.Pointer(&one64))
	case in == dtype.Float16:
		elements = real16
	case in == dtype.BFloat16:
		elements = bfloat16
	case h.tf32:
		arithmetic = computeTF32
	}
	algorithm := -1 // the library's choice
	return s.Call(func(stream uintptr) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if err := failed("cublasSetStream", call(h.setStream, h.handle, stream)); err != nil {
			return err
		}
		// A new stream takes the workspace away.
		if err := failed("cublasSetWorkspace", call(h.setWorkspace, h.handle, uintptr(work), uintptr(h.workspace))); err != nil {
			return err
		}
		err := failed("cublasGemmEx", call(h.gemm, h.handle, 0, 0, uintptr(n), uintptr(m), uintptr(k),
			one, uintptr(b), elements, uintptr(n), uintptr(a), elements, uintptr(k),
			one, uintptr(c), sums, uintptr(n), arithmetic, uintptr(algorithm)))
		if err != nil {
			return fmt.Errorf("%s: %w: with GONBEXT_CUBLAS=none the own kernels multiply", h.Path, err)
		}
		return nil
	})
}
