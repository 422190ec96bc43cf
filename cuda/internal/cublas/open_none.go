//go:build !unix || static

package cublas

func load(string) (uintptr, error) { return 0, ErrAbsent }

func symbol(uintptr, string) (uintptr, error) { return 0, ErrAbsent }

func call(uintptr, ...uintptr) (status int) { return 0 }
