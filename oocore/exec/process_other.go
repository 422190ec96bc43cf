//go:build !linux

package exec

import "syscall"

// childAttributes leaves an interrupt of the terminal to the coordinator. A worker ends
// when its standard input does.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
