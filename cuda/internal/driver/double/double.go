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

// Build compiles the double to libcuda.so.1 of a new folder, with the C compiler cc.
func Build() (folder string, err error) {
	_, here, _, _ := runtime.Caller(0)
	sources := filepath.Join(filepath.Dir(here), "..", "..", "..", "testdata")
	if folder, err = os.MkdirTemp("", "gonbext-driver-"); err != nil {
		return "", err
	}
	cc := exec.Command("cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", "-Wall", "-Werror", "-Wl,-soname,libcuda.so.1",
		"-o", filepath.Join(folder, "libcuda.so.1"), filepath.Join(sources, "driver.c"), filepath.Join(sources, "ptx.c"), "-lm")
	if out, err := cc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return folder, nil
}

// Library is a double that this process has opened: what opens libcuda.so.1 later finds it.
type Library struct{ memory, fail uintptr }

// Open opens the double of a folder.
func Open(folder string) (*Library, error) {
	lib, err := purego.Dlopen(filepath.Join(folder, "libcuda.so.1"), purego.RTLD_NOW|purego.RTLD_LOCAL)
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
