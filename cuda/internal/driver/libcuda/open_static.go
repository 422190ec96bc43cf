//go:build unix && static

package libcuda

import "errors"

const file = "libcuda.so.1"

func open() (uintptr, error) {
	return 0, errors.New("a program with the build tag static opens no libraries in C")
}

func symbol(uintptr, string) (uintptr, error) { return 0, errors.New("there is no library") }

func call(uintptr, ...uintptr) (status int) { return 0 }
