// Package dl opens libraries in C while the program runs, without cgo.
package dl

import "errors"

var errWindows = errors.New("libraries in C are not used on Windows: Go's own code takes their place")

// Open opens a library by its file's name.
func Open(string) (lib uintptr, err error) { return 0, errWindows }

// Symbol finds a function of a library.
func Symbol(uintptr, string) (function uintptr, err error) { return 0, errWindows }
