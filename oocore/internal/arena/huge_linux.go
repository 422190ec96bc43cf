package arena

import "golang.org/x/sys/unix"

// wantHugePages is a hint: a kernel without huge pages ignores it.
func wantHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
