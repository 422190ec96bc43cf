//go:build !race

package arena

import "github.com/edsrzf/mmap-go"

// mapAnonymous takes n bytes from the system.
func mapAnonymous(n int) ([]byte, error) { return mmap.MapRegion(nil, n, mmap.RDWR, mmap.ANON, 0) }

func unmap(m []byte) {
	mapped := mmap.MMap(m)
	_ = mapped.Unmap()
}
