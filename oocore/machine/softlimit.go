//go:build linux || darwin

package machine

import "golang.org/x/sys/unix"

// softLimit returns the process's own bound of a resource, as ulimit sets it; 0 for none.
func softLimit(resource int) int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(resource, &r); err != nil || r.Cur >= unlimited {
		return 0
	}
	return int64(r.Cur)
}
