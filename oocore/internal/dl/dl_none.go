//go:build !unix || static

// Package dl opens libraries in C while the program runs, without cgo.
package dl

import "errors"

// errNone holds on Windows, and in a program with the build tag static: linked to no library of C, it cannot open one.
var errNone = errors.New("libraries in C are not used in this build: Go's own code takes their place")

// Open opens a library by its file's name.
func Open(string) (lib uintptr, err error) { return 0, errNone }

// Symbol finds a function of a library.
func Symbol(uintptr, string) (function uintptr, err error) { return 0, errNone }

// Call is never called: there is no function.
func Call(uintptr, ...uintptr) uintptr { return 0 }
