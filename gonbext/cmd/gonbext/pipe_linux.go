package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// widenPipe makes a pipe as large as a user may have it. What is no pipe stays as it is.
func widenPipe(f *os.File) { _, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, 1<<20) }
