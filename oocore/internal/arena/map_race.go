//go:build race

package arena

import (
	"math"
	"runtime/debug"
	"unsafe"
)

// mapAnonymous takes n bytes of Go's heap, since the race detector does not see memory that the
// system maps. They are more than a run's limit of the heap allows for: the collector would
// hardly pause.
func mapAnonymous(n int) ([]byte, error) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		debug.SetMemoryLimit(math.MaxInt64)
	}
	m := make([]byte, n+PageSize)
	from := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) % PageSize)
	return m[from : from+n : from+n], nil
}

func unmap([]byte) {}
