package cluster

import "golang.org/x/sys/unix"

// dieWithParent ends this process when the script that runs it is killed, so that no orphan goes on.
func dieWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) }
