package libcuda

import "golang.org/x/sys/windows"

const file = "nvcuda.dll"

func open() (uintptr, error) {
	lib, err := windows.LoadLibrary(file)
	return uintptr(lib), err
}

func symbol(lib uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(lib), name)
}
