package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// readAhead tells the kernel that a file will be read from front to back, by
// blocks. Measured from disk, two goroutines with blocks of 4 MiB: 2.0 GB/s
// with it and 0.85 without; asking for the next blocks by WILLNEED gives 0.8.
// It is only a hint.
func readAhead(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_SEQUENTIAL) }
