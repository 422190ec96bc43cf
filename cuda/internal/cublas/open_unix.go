//go:build unix && !static

package cublas

import "github.com/ebitengine/purego"

func load(file string) (uintptr, error) {
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(lib uintptr, name string) (uintptr, error) { return purego.Dlsym(lib, name) }

// call calls a function of the library. What its arguments point to does not move.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) (status int) {
	r, _, _ := purego.SyscallN(function, args...)
	return int(int32(r))
}
