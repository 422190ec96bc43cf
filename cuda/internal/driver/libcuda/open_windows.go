package libcuda

import (
	"github.com/ebitengine/purego"
	"golang.org/x/sys/windows"
)

const file = "nvcuda.dll"

func open() (uintptr, error) {
	lib, err := windows.LoadLibrary(file)
	return uintptr(lib), err
}

func symbol(lib uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(lib), name)
}

// call calls a function of the library. What its arguments point to does not move.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) (status int) {
	r, _, _ := purego.SyscallN(function, args...)
	return int(int32(r))
}
