package remote

import "syscall"

// childAttributes makes a worker end with its coordinator, and leaves an interrupt of
// the terminal to that one.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
