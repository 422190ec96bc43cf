//go:build unix

package libcuda

import "github.com/ebitengine/purego"

const file = "libcuda.so.1"

func open() (uintptr, error) { return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL) }

func symbol(lib uintptr, name string) (uintptr, error) { return purego.Dlsym(lib, name) }
