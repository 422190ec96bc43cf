//go:build unix

package machine

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the time that cores have spent on this process, the kernel's part of
// it included; 0 where that is not known.
func CPUTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
