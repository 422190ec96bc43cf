// Package cublas is NVIDIA's BLAS for GPUs, opened while the program runs and called
// without cgo. It multiplies dense row-major matrices in memory of a device, on a driver's
// stream.
//
// Float32 is multiplied as float32: TensorFloat-32, which rounds operands to 11 bits, is
// used only where the environment variable GONBEXT_TF32 is 1. The library chooses its
// kernels by the card and by the lengths of the matrices, and its sums' last bits follow.
package cublas

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// Library is a cuBLAS that is open. It stays open, as the driver does.
type Library struct {
	Path    string
	Version string

	create, destroy, getProperty, setStream, setWorkspace, gemm uintptr
}

// paths are the files of the libraries that this process has loaded.
var paths sync.Map

// open opens a file. An error that is ErrAbsent means that there is none of that name.
func open(file string) (*Library, error) {
	if folder := filepath.Dir(file); folder != "." {
		// The part that the library needs lies beside it, where its loader may not look.
		_, _ = load(filepath.Join(folder, strings.Replace(filepath.Base(file), "libcublas.", "libcublasLt.", 1)))
	}
	lib, err := load(file)
	if err != nil {
		if _, missing := os.Stat(file); missing != nil && strings.Contains(err.Error(), file+": cannot open") {
			return nil, fmt.Errorf("%w at %s", ErrAbsent, file)
		}
		return nil, fmt.Errorf("%s does not open (%w)", file, err)
	}
	// What is loaded already is found by its name alone.
	path, _ := paths.LoadOrStore(lib, file)
	l := &Library{Path: path.(string)}
	for _, f := range []struct {
		name string
		at   *uintptr
	}{
		{"cublasCreate_v2", &l.create}, {"cublasDestroy_v2", &l.destroy}, {"cublasGetProperty", &l.getProperty},
		{"cublasSetStream_v2", &l.setStream}, {"cublasSetWorkspace_v2", &l.setWorkspace}, {"cublasGemmEx", &l.gemm},
	} {
		if *f.at, err = symbol(lib, f.name); err != nil {
			return nil, fmt.Errorf("%s has no %s: it is too old, or not NVIDIA's", file, f.name)
		}
	}
	var parts [3]int32
	for i := range parts {
		if err := failed("cublasGetProperty", call(l.getProperty, uintptr(i), uintptr(unsafe.Pointer(&parts[i])))); err != nil {
			return nil, fmt.Errorf("%s does not say its version: %w", file, err)
		}
	}
	l.Version = fmt.Sprintf("%d.%d.%d", parts[0], parts[1], parts[2])
	if parts[0] < first {
		return nil, fmt.Errorf("%s is cuBLAS %s, and %d.0 or later is needed", file, l.Version, first)
	}
	return l, nil
}

// allocFailed is the status of a library that has no room on the device.
const allocFailed = 3

// statuses are the library's explanations.
var statuses = map[int]string{
	1: "not initialized", allocFailed: "no memory on the device", 7: "a wrong argument", 8: "not on this GPU", 11: "no access to the GPU's memory",
	13: "the GPU program failed", 14: "an internal error", 15: "not supported", 16: "no license",
}

// failed is the error of a status; nil for success.
func failed(name string, status int) error {
	if status == 0 {
		return nil
	}
	err := error(&driver.Error{Call: name, Status: status, Text: statuses[status]})
	if status == allocFailed {
		return fmt.Errorf("%w: %w", driver.ErrMemory, err)
	}
	return err
}
