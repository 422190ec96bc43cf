//go:build unix && !static

// Package dl opens libraries in C while the program runs, without cgo.
package dl

import "github.com/ebitengine/purego"

// Open opens a library by its file's name.
func Open(name string) (lib uintptr, err error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Symbol finds a function of a library.
func Symbol(lib uintptr, name string) (function uintptr, err error) { return purego.Dlsym(lib, name) }

// Call calls a function. What its arguments point to does not move meanwhile.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}
