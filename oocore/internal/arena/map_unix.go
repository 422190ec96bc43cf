//go:build unix && !race

package arena

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapAnonymous takes n bytes from the system.
func mapAnonymous(n int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return m, os.NewSyscallError("mmap", err)
}

func unmap(m []byte) { _ = unix.Munmap(m) }
