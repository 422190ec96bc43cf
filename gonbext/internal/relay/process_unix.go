//go:build unix

package relay

import "syscall"

const terminate = syscall.SIGTERM
