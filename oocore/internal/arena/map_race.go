//go:build race

package arena

import "unsafe"

// mapAnonymous takes n bytes of Go's heap: the race detector does not see memory that the system maps.
func mapAnonymous(n int) ([]byte, error) {
	m := make([]byte, n+PageSize)
	from := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) % PageSize)
	return m[from : from+n : from+n], nil
}

func unmap([]byte) {}
