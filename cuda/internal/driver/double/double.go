//go:build unix

// Package double builds and opens the double of NVIDIA's driver for tests: a library in C
// whose kernels are evaluated from their PTX.
package double

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Build compiles the double to libcuda.so.1 of a new folder, with the C compiler cc, and
// opens it.
func Build() (folder string, l *Library, err error) {
	if folder, err = os.MkdirTemp("", "gonbext-driver-"); err != nil {
		return "", nil, err
	}
	file := filepath.Join(folder, "libcuda.so.1")
	if err := compile(file, "driver.c", "ptx.c"); err != nil {
		return folder, nil, err
	}
	l, err = open(file)
	return folder, l, err
}

// compile makes a library of sources in testdata.
func compile(file string, sources ...string) error {
	_, here, _, _ := runtime.Caller(0)
	args := []string{"-O2", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", "-Wall", "-Werror", "-Wl,-soname," + filepath.Base(file), "-o", file}
	for _, s := range sources {
		args = append(args, filepath.Join(filepath.Dir(here), "..", "..", "..", "testdata", s))
	}
	if out, err := exec.Command("cc", append(args, "-lm", "-ldl")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// BuildBLAS compiles the double of cuBLAS to a file, such as libcublas.so.12 of a
// folder. It works on a double of the driver that is open.
func BuildBLAS(file string) error { return compile(file, "cublas.c") }

// Library is a double that this process has opened: what opens libcuda.so.1 later finds it.
type Library struct{ memory, fail uintptr }

func open(file string) (*Library, error) {
	lib, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l := &Library{}
	if l.memory, err = purego.Dlsym(lib, "double_memory"); err == nil {
		l.fail, err = purego.Dlsym(lib, "double_fail")
	}
	return l, err
}

// Memory sets the bytes of the first GPU that are free.
func (l *Library) Memory(bytes int64) { purego.SyscallN(l.memory, uintptr(bytes)) }

// Fail lets the n-th call of a function from now on return a status. n is 0 for none. It
// ends what an earlier failure did.
func (l *Library) Fail(function string, n, status int) {
	name := append([]byte(function), 0)
	purego.SyscallN(l.fail, uintptr(unsafe.Pointer(&name[0])), uintptr(n), uintptr(status))
}
