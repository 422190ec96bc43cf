//go:build !linux

package remote

import "syscall"

// childAttributes are the system's defaults. A worker ends when its standard input does.
func childAttributes() *syscall.SysProcAttr { return nil }
