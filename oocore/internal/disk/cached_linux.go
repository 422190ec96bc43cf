package disk

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	cachedWindow  = 1 << 20 // bytes of a file that are asked about at once
	cachedWindows = 48      // of a file, at the most, evenly spread
)

// cached counts, in windows of a file, the bytes that are looked at and those of them
// that are in the page cache.
func cached(name string) (seen, present int64) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0, 0
	}
	size := st.Size()
	step := max((size/cachedWindows+cachedWindow-1)/cachedWindow*cachedWindow, cachedWindow)
	for at := int64(0); at < size; at += step {
		length := min(cachedWindow, size-at)
		pages := make([]byte, (length+Page-1)/Page)
		window, err := unix.Mmap(int(f.Fd()), at, int(length), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return 0, 0
		}
		_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&window[0])), uintptr(length), uintptr(unsafe.Pointer(&pages[0])))
		if unix.Munmap(window); failed != 0 {
			return 0, 0
		}
		for _, p := range pages {
			if p&1 != 0 {
				present += Page
			}
		}
		seen += int64(len(pages)) * Page
	}
	return seen, present
}
